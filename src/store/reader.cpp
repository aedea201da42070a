#include "store/reader.h"
