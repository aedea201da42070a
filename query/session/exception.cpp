#include "query/session/exception.h"

#include <cstdlib>
#include <cxxabi.h>
#include <fmt/format.h>
#include <memory>
#include <new>
#include <system_error>
#include <typeinfo>

#include "base/text.h"

namespace memoir::query {
namespace {

std::string type_of(const std::exception& error) {
  const char* mangled = typeid(error).name();
  const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(mangled, nullptr, nullptr, nullptr),
                                                         &std::free);
  return name ? name.get() : mangled;
}

}  // namespace

std::string exception_message(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    return "there is not enough memory for this answer: use a shorter range, --limit or --filter";
  }
  std::string what = to_printable(error.what());
  if (dynamic_cast<const std::system_error*>(&error) != nullptr) return what;
  return fmt::format(
      "unexpected error ({}: {}). memoir doctor checks the file for damage; if it finds none, please report a bug in "
      "memoir",
      type_of(error), what);
}

}  // namespace memoir::query
