#include "proc/cmdline.h"
