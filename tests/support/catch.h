#pragma once

// Catch2 in the version the system has: 2 (one header) or 3.

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
