#include "proc/pressure.h"
