#pragma once

namespace memoir::query {

// What memoir's exit status says.
enum class Exit : int {
  answered = 0,
  failed = 1,  // no file, not ours, corrupt
  usage = 2,
  empty = 3,  // answered, but nothing was recorded in the range
};

}  // namespace memoir::query
