#include "proc/cgroup_memory.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>

#include "proc/key_lines.h"
#include "proc/pressure.h"

namespace memoir {
namespace {

constexpr std::int64_t kBytesPerKib = 1024;
// v1 represents "no limit" by LONG_MAX rounded down to whole pages, which have at most 64 KiB.
constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max() - 64 * kBytesPerKib;

constexpr std::array<std::string_view, 16> kStatNames{
    "anon",        "kernel",     "kernel_stack",        "pagetables",       "percpu", "rss",
    "shmem",       "swap",       "inactive_file",       "active_file",      "slab",   "total_rss",
    "total_shmem", "total_swap", "total_inactive_file", "total_active_file"};
constexpr KeyTable kStatKeys(kStatNames);

// Returns the index of a name, found at compile time.
consteval std::size_t stat_place(std::string_view name) {
  std::size_t place = 0;
  while (kStatNames.at(place) != name) ++place;
  return place;
}

class StatValues {
 public:
  StatValues(std::string_view text, OddLines* odd) : lines_("memory.stat", odd) {
    KeyCursor cursor(kStatKeys);
    KeyLine line;
    while (next_line(text, ' ', line)) {
      if (const auto key = cursor.find(line.key)) bytes_.at(*key) = lines_.take(*key, line, line.count());
    }
  }

  bool any() const { return lines_.any(); }
  bool has(std::size_t place) const { return lines_.seen(place); }
  // Returns the value of the first of `places` that has a line, in KiB.
  std::optional<std::int64_t> first(std::initializer_list<std::size_t> places) const {
    for (const std::size_t place : places) {
      if (lines_.seen(place)) return kib(place);
    }
    return std::nullopt;
  }
  // Returns the sum of the values of all `places` that have a line, in KiB.
  std::optional<std::int64_t> sum(std::initializer_list<std::size_t> places) const {
    std::optional<std::int64_t> sum;
    for (const std::size_t place : places) {
      if (!lines_.seen(place)) continue;
      if (!kib(place)) return std::nullopt;
      sum = sum.value_or(0) + *kib(place);
    }
    return sum;
  }

 private:
  std::optional<std::int64_t> kib(std::size_t place) const {
    const auto bytes = bytes_.at(place);
    return bytes ? std::optional(*bytes / kBytesPerKib) : std::nullopt;
  }

  std::array<std::optional<std::int64_t>, kStatNames.size()> bytes_;
  LineValues<kStatNames.size()> lines_;
};

// Returns the line of a file that has a single value; nullopt if it is torn or not the only one.
std::optional<std::string_view> only_line(std::string_view text) {
  KeyLine line;
  if (!next_line(text, '\n', line) || line.torn || !text.empty()) return std::nullopt;
  return line.text;
}

Error gone() {
  return {ErrorKind::not_found, "cgroup: empty, the cgroup was deleted"};
}

}  // namespace

Result<std::optional<std::int64_t>> parse_cgroup_limit(std::string_view text) {
  if (text.empty()) return gone();
  if (only_line(text) == "max") return std::optional<std::int64_t>();
  const auto kib = TRY(parse_cgroup_usage(text));
  return kib >= kNoLimit / kBytesPerKib ? std::optional<std::int64_t>() : std::optional(kib);
}

Result<std::int64_t> parse_cgroup_usage(std::string_view text) {
  return TRY(parse_cgroup_count(text)) / kBytesPerKib;
}

Result<CgroupStat> parse_cgroup_stat(std::string_view text, OddLines* odd) {
  if (text.empty()) return gone();
  const StatValues values(text, odd);
  if (!values.any()) return nothing_known("memory.stat");
  const auto active = values.first({stat_place("total_active_file"), stat_place("active_file")});
  const auto inactive = values.first({stat_place("total_inactive_file"), stat_place("inactive_file")});
  CgroupStat stat;
  stat.anon = values.first({stat_place("anon"), stat_place("total_rss"), stat_place("rss")});
  if (active && inactive) stat.file = *active + *inactive;
  stat.shmem = values.first({stat_place("total_shmem"), stat_place("shmem")});
  stat.kernel = values.first({stat_place("kernel")});
  if (!values.has(stat_place("kernel")))
    stat.kernel =
        values.sum({stat_place("kernel_stack"), stat_place("pagetables"), stat_place("percpu"), stat_place("slab")});
  stat.swap = values.first({stat_place("total_swap"), stat_place("swap")});
  return stat;
}

Result<CgroupEvents> parse_cgroup_events(std::string_view text, OddLines* odd) {
  if (text.empty()) return gone();
  struct Counter {
    std::string_view key;
    std::optional<std::int64_t> CgroupEvents::*count;
  };
  constexpr std::array counters{
      Counter{"low", &CgroupEvents::low},           Counter{"high", &CgroupEvents::high},
      Counter{"max", &CgroupEvents::max},           Counter{"oom", &CgroupEvents::oom},
      Counter{"oom_kill", &CgroupEvents::oom_kill}, Counter{"oom_group_kill", &CgroupEvents::oom_group_kill}};
  CgroupEvents events;
  LineValues<counters.size()> values("memory.events", odd);
  KeyLine line;
  while (next_line(text, ' ', line)) {
    const auto* const counter = std::ranges::find(counters, line.key, &Counter::key);
    if (counter == counters.end()) continue;
    events.*counter->count = values.take(static_cast<std::size_t>(counter - counters.begin()), line, line.count());
  }
  return events;
}

Result<std::int64_t> parse_cgroup_count(std::string_view text) {
  if (text.empty()) return gone();
  const auto line = only_line(text);
  const auto count = line ? parse_natural(*line) : std::nullopt;
  if (!count) return bad_line("a cgroup's counter", text.substr(0, text.find('\n')));
  return *count;
}

Result<CgroupPressure> parse_cgroup_pressure(std::string_view text, OddLines* odd) {
  if (text.empty()) return gone();
  MachineMemory fields;
  TRY(parse_pressure(text, fields, odd));
  return CgroupPressure{fields.get(MachineField::psi_some_total), fields.get(MachineField::psi_full_total)};
}

}  // namespace memoir
