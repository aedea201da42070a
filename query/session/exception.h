#pragma once

#include <exception>
#include <string>

namespace memoir::query {

// Describes an exception that ended a query, with the remedy. No exception is expected: memory has run out, there is a
// bug in memoir, or the file has an unexpected value.
std::string exception_message(const std::exception& error);

}  // namespace memoir::query
