#include "proc/pid_stat.h"
