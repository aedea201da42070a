#include "proc/proc_fs.h"
