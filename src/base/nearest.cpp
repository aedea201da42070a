#include "base/nearest.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

#include "base/text.h"

namespace memoir {
namespace {

// Returns the number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b` (optimal
// string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, above);
    std::swap(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

// Returns the only candidate that starts with `word`, if `word` has at least two letters.
std::optional<std::string> completed(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr std::size_t enough = 2;
  const auto begins = [word](const std::string& candidate) { return candidate.starts_with(word); };
  if (word.size() < enough || std::count_if(candidates.begin(), candidates.end(), begins) != 1) return std::nullopt;
  return *std::find_if(candidates.begin(), candidates.end(), begins);
}

}  // namespace

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::optional<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(word.size() / 3, 1) + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.empty()) continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best ? best : completed(word, candidates);
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const auto near = nearest(word, candidates);
  return near ? fmt::format("; did you mean '{}'?", to_printable(*near)) : std::string();
}

}  // namespace memoir
