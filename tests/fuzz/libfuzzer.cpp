// The entry that libFuzzer calls; MEMOIR_FUZZ_TARGET is the target of this program.

#include <cstddef>
#include <cstdint>

#include "fuzz/targets.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer gives the name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Kernel texts are bytes; char may look at any object.
  memoir::fuzz::MEMOIR_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  return 0;
}
