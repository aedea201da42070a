// The functions that libFuzzer calls. The name of the program, fuzz_NAME, selects the target.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "fuzz/targets.h"

namespace {

void (*run_target)(std::string_view) = nullptr;

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): libFuzzer gives the names
extern "C" int LLVMFuzzerInitialize(const int* /*argc*/, char*** argv) {
  std::string_view name = (*argv)[0];
  if (const std::size_t prefix = name.rfind("fuzz_"); prefix != std::string_view::npos) name.remove_prefix(prefix + 5);
  const auto* const target =
      std::ranges::find_if(memoir::fuzz::kTargets, [&](const auto& of) { return name == of.name; });
  if (target == memoir::fuzz::kTargets.end()) {
    std::fputs("run this program by the name of a target: fuzz_NAME\n", stderr);
    std::exit(2);
  }
  run_target = target->run;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // The kernel's texts are bytes; char may alias any object.
  run_target({reinterpret_cast<const char*>(data), size});
  return 0;
}
// NOLINTEND(readability-identifier-naming)
