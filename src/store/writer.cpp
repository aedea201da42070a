#include "store/writer.h"
