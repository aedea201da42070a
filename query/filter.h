#pragma once

// --filter expressions: which processes an answer is about. KEY=VALUE compares, KEY~REGEX searches (RE2: linear time on
// hostile names); several are all to hold.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/process.h"
#include "store/reader.h"

namespace memoir::query {

class Filter {
 public:
  // A bad key, regex or pid is malformed; the message names what is valid.
  static Result<Filter> parse(const std::vector<std::string>& expressions);

  Filter();  // takes all
  Filter(Filter&&) noexcept;
  Filter& operator=(Filter&&) noexcept;
  ~Filter();

  bool matches(const ProcessInfo& info) const;
  bool takes_all() const { return terms_.empty(); }

  // A sentence for each name that none of `processes` has, with the nearest that one has.
  std::vector<std::string> misses(const std::vector<StoredProcess>& processes) const;

 private:
  struct Term;
  std::vector<Term> terms_;
};

// Valid keys, for help and completions.
const std::vector<std::string>& filter_keys();

// What a process has for one of the keys.
std::string filter_value(const ProcessInfo& info, std::string_view key);

// "no process is of the category 'wbe'; did you mean 'web'?"
std::string no_process_of(std::string_view key, std::string_view value, const std::vector<StoredProcess>& processes);

}  // namespace memoir::query
