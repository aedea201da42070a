#include "proc/kernel.h"
