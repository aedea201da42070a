#include "proc/cgroup.h"
