#include "proc/vmstat.h"
