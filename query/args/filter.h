#pragma once

// --filter expressions: choose the processes of a query. KEY=VALUE compares, KEY~REGEX searches (RE2: linear time on
// hostile names), != and !~ negate; rss>100M compares memory. All expressions must hold.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "model/metric.h"
#include "model/process.h"
#include "store/types.h"

namespace memoir::query {

// Parses a size such as "100M", "1.5GiB" or "0" into KiB. Returns nullopt for another bare number, which could mean
// bytes or KiB.
std::optional<std::int64_t> parse_size(std::string_view text);

class Filter {
 public:
  // A bad key, regex, size or pid is malformed; the message lists the valid keys and metrics.
  static Result<Filter> parse(const std::vector<std::string>& expressions);

  Filter();  // accepts all processes
  Filter(Filter&&) noexcept;
  Filter& operator=(Filter&&) noexcept;
  ~Filter();

  bool matches(const StoredProcess& process) const;
  bool takes_all() const { return terms_.empty(); }

  // Metrics that the filter compares. Until decide() has been called for a metric, no process satisfies its comparisons
  // (query/state/filter_values.h).
  std::vector<Metric> metrics() const;
  // Sets the memory of processes, by row id. A process without a value satisfies no comparison.
  void decide(Metric metric, const std::unordered_map<std::int64_t, std::int64_t>& kib_of);

  // Returns whether one of `processes` is accepted, regardless of its memory.
  bool names_any(const std::vector<StoredProcess>& processes) const;
  // A name in the filter that no process has.
  struct Miss {
    std::string sentence;  // the error, with the most similar existing name
    std::string pid;       // the pid as given; empty if the name is not a pid

    bool operator==(const Miss&) const = default;
  };
  std::vector<Miss> misses(const std::vector<StoredProcess>& processes) const;

 private:
  struct Term;
  std::vector<Term> terms_;
};

// Valid keys of names, for help and completions.
const std::vector<std::string>& filter_keys();

// Returns whether PID@`given_ms` means a process that started at `start_ms`. Tolerates 1 s, because users write whole
// seconds.
bool is_start(std::int64_t start_ms, std::int64_t given_ms);

// Returns the value of a process for one of the keys.
std::string filter_value(const ProcessInfo& info, std::string_view key);

// Returns an error message: "no process has the category 'wbe'; did you mean 'web'?"
std::string no_process_of(std::string_view key, std::string_view value, const std::vector<StoredProcess>& processes);

}  // namespace memoir::query
