#pragma once

// --filter expressions: which processes an answer is about. KEY=VALUE compares, KEY~REGEX searches (RE2: linear time on
// hostile names), != and !~ take the others; rss>100M compares memory. Several are all to hold.

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "model/metric.h"
#include "model/process.h"
#include "store/types.h"

namespace memoir::query {

class Filter {
 public:
  // A bad key, regex, size or pid is malformed; the message names what is valid.
  static Result<Filter> parse(const std::vector<std::string>& expressions);

  Filter();  // takes all
  Filter(Filter&&) noexcept;
  Filter& operator=(Filter&&) noexcept;
  ~Filter();

  bool matches(const StoredProcess& process) const;
  bool takes_all() const { return terms_.empty(); }

  // The metrics that it compares. Which processes hold that much is for decide() to say (query/state/filter_values.h);
  // until then none does.
  std::vector<Metric> metrics() const;
  // What each process held, by its row; of others it is not known, and no comparison holds.
  void decide(Metric metric, const std::unordered_map<std::int64_t, std::int64_t>& kib_of);

  // Whether one of `processes` is taken, whatever it holds.
  bool names_any(const std::vector<StoredProcess>& processes) const;
  // A sentence for each name that none of `processes` has, with the nearest that one has.
  std::vector<std::string> misses(const std::vector<StoredProcess>& processes) const;

 private:
  struct Term;
  std::vector<Term> terms_;
};

// Valid keys of names, for help and completions.
const std::vector<std::string>& filter_keys();

// What a process has for one of the keys.
std::string filter_value(const ProcessInfo& info, std::string_view key);

// "no process is of the category 'wbe'; did you mean 'web'?"
std::string no_process_of(std::string_view key, std::string_view value, const std::vector<StoredProcess>& processes);

}  // namespace memoir::query
