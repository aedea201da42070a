#include "analysis/ranking.h"
