#include "collect/categoriser.h"
