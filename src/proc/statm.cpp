#include "proc/statm.h"
