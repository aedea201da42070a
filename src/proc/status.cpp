#include "proc/status.h"
