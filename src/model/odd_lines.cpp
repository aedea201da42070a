#include "model/odd_lines.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace memoir {
namespace {

constexpr std::size_t kMaxKeyBytes = 32;

}  // namespace

void OddLines::note(std::string_view file, std::string_view key, std::string_view line) {
  add({std::string(file), to_printable(key.substr(0, kMaxKeyBytes)), not_understood(line), 1});
}

void OddLines::note_problem(std::string_view file, std::string_view key, std::string_view problem) {
  add({std::string(file), std::string(key), std::string(problem), 1});
}

void OddLines::note(const Error& error) {
  std::string_view problem = error.message;
  const std::string_view file = cut(problem, ':');
  add({std::string(file), "", std::string(trim(problem)), 1});
}

void OddLines::add(const OddLines& other) {
  const std::int64_t total = count_ + other.count_;
  for (const OddLine& odd : other.kinds_) add(odd);
  count_ = total;
}

void OddLines::add(OddLine odd) {
  count_ += odd.count;
  const auto known =
      std::ranges::find_if(kinds_, [&](const OddLine& kind) { return kind.file == odd.file && kind.key == odd.key; });
  if (known != kinds_.end()) {
    known->count += odd.count;
  } else if (kinds_.size() < kMaxKinds) {
    kinds_.push_back(std::move(odd));
  }
}

}  // namespace memoir
