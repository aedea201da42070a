#pragma once

#include <exception>
#include <string>

namespace memoir::query {

// What an exception that ended an answer was, as a sentence for a person with what to do about it. None of ours is
// meant to: memory has run out, or there is a fault in memoir or a value in the file that it did not expect.
std::string exception_message(const std::exception& error);

}  // namespace memoir::query
