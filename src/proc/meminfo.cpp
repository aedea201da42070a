#include "proc/meminfo.h"
