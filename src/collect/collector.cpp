#include "collect/collector.h"
