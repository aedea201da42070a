#include "collect/cadence.h"
