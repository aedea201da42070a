#include "analysis/series.h"
