#include "proc/smaps_rollup.h"
