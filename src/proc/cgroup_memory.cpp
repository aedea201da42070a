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
// v1 says "no limit" by LONG_MAX rounded down to whole pages, which have at most 64 KiB.
constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max() - 64 * kBytesPerKib;

constexpr std::array<std::string_view, 16> kStatNames{
    "anon",        "kernel",     "kernel_stack",        "pagetables",       "percpu", "rss",
    "shmem",       "swap",       "inactive_file",       "active_file",      "slab",   "total_rss",
    "total_shmem", "total_swap", "total_inactive_file", "total_active_file"};
constexpr KeyTable kStatKeys(kStatNames);

// The place of one of the names, found at compile time.
consteval std::size_t stat_place(std::string_view name) {
  std::size_t place = 0;
  while (kStatNames.at(place) != name) ++place;
  return place;
}

using StatBytes = std::array<std::optional<std::int64_t>, kStatNames.size()>;

class StatValues {
 public:
  explicit StatValues(const StatBytes& bytes) : bytes_(bytes) {}

  // The first that there is, in KiB.
  std::optional<std::int64_t> first(std::initializer_list<std::size_t> places) const {
    for (const std::size_t place : places) {
      if (const auto bytes = bytes_.at(place)) return *bytes / kBytesPerKib;
    }
    return std::nullopt;
  }
  // Of those that there are.
  std::optional<std::int64_t> sum(std::initializer_list<std::size_t> places) const {
    std::optional<std::int64_t> kib;
    for (const std::size_t place : places) {
      if (const auto part = first({place})) kib = kib.value_or(0) + *part;
    }
    return kib;
  }

 private:
  const StatBytes& bytes_;
};

// The line of a file that holds one value; nothing where it is torn.
std::optional<std::string_view> only_line(std::string_view text) {
  KeyLine line;
  if (!next_line(text, '\n', line) || line.torn || !text.empty()) return std::nullopt;
  return line.text;
}

Error gone() {
  return {ErrorKind::gone, "cgroup: empty, the cgroup is gone"};
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

Result<CgroupStat> parse_cgroup_stat(std::string_view text) {
  if (text.empty()) return gone();
  StatBytes bytes;
  KeyCursor cursor(kStatKeys);
  KeyLine line;
  while (next_line(text, ' ', line)) {
    const auto key = cursor.find(line.key);
    if (!key) continue;
    bytes.at(*key) = line.count();
    if (!bytes.at(*key)) return bad_line("memory.stat", line.text);
  }
  const StatValues values(bytes);
  const auto active = values.first({stat_place("total_active_file"), stat_place("active_file")});
  const auto inactive = values.first({stat_place("total_inactive_file"), stat_place("inactive_file")});
  if (!active || !inactive) return nothing_known("memory.stat");
  CgroupStat stat;
  stat.anon = values.first({stat_place("anon"), stat_place("total_rss"), stat_place("rss")});
  stat.file = *active + *inactive;
  stat.shmem = values.first({stat_place("total_shmem"), stat_place("shmem")});
  stat.kernel = values.first({stat_place("kernel")});
  if (!stat.kernel)
    stat.kernel =
        values.sum({stat_place("kernel_stack"), stat_place("pagetables"), stat_place("percpu"), stat_place("slab")});
  stat.swap = values.first({stat_place("total_swap"), stat_place("swap")});
  return stat;
}

Result<CgroupEvents> parse_cgroup_events(std::string_view text) {
  if (text.empty()) return gone();
  struct Counter {
    std::string_view key;
    std::optional<std::int64_t> CgroupEvents::*count;
  };
  constexpr std::array counters{Counter{"low", &CgroupEvents::low}, Counter{"high", &CgroupEvents::high},
                                Counter{"max", &CgroupEvents::max}, Counter{"oom", &CgroupEvents::oom},
                                Counter{"oom_kill", &CgroupEvents::oom_kill}};
  CgroupEvents events;
  KeyLine line;
  while (next_line(text, ' ', line)) {
    const auto* const counter = std::ranges::find(counters, line.key, &Counter::key);
    if (counter == counters.end()) continue;
    events.*counter->count = line.count();
    if (!(events.*counter->count)) return bad_line("a cgroup's events", line.text);
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

Result<CgroupPressure> parse_cgroup_pressure(std::string_view text) {
  if (text.empty()) return gone();
  MachineMemory fields;
  TRY(parse_pressure(text, fields));
  return CgroupPressure{fields.get(MachineField::psi_some_total), fields.get(MachineField::psi_full_total)};
}

}  // namespace memoir
