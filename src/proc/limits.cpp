#include "proc/limits.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "base/text.h"
#include "proc/key_lines.h"

namespace memoir {
namespace {

struct Limit {
  std::string_view key;
  std::string_view name;
};
constexpr std::array kLimits{Limit{"Max data size", "DATA"},    Limit{"Max stack size", "STACK"},
                             Limit{"Max resident set", "RSS"},  Limit{"Max processes", "NPROC"},
                             Limit{"Max open files", "NOFILE"}, Limit{"Max locked memory", "MEMLOCK"},
                             Limit{"Max address space", "AS"}};

// Returns whether the word is "unlimited" or a number.
bool is_limit(std::string_view word) {
  return word == "unlimited" || parse_number<std::uint64_t>(word).has_value();
}

}  // namespace

Result<std::string> parse_limits(std::string_view text, OddLines* odd) {
  std::string limits;
  KeyLine line;
  while (next_line(text, '\n', line)) {
    const auto* const limit =
        std::ranges::find_if(kLimits, [&](const Limit& known) { return line.text.starts_with(known.key); });
    if (limit == kLimits.end()) continue;
    std::string_view values = line.text.substr(limit->key.size());
    const std::string_view soft = cut_word(values);
    const std::string_view hard = cut_word(values);
    if (is_limit(soft) && is_limit(hard) && !line.torn) {
      limits += fmt::format("{}{}={}:{}", limits.empty() ? "" : " ", limit->name, soft, hard);
    } else if (odd != nullptr) {
      odd->note("limits", limit->key, line.text);
    }
  }
  if (limits.empty()) return nothing_known("limits");
  return limits;
}

Result<std::int64_t> parse_oom_score_adj(std::string_view text) {
  constexpr std::int64_t most = 1000;
  const auto value = parse_number<std::int64_t>(trim(text));
  if (!value || *value < -most || *value > most) return bad_line("oom_score_adj", trim(text));
  return *value;
}

}  // namespace memoir
