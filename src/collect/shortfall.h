#pragma once

// Reports that a limit on user-controlled data was reached: an event at the start, and one after it has been over for
// ten minutes. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collect/cgroup/cgroup_reader.h"
#include "collect/process/text_budget.h"
#include "model/tick.h"

namespace memoir {

class Shortfall {
 public:
  static constexpr std::int64_t kOverAfterMs = 600'000;

  // `subject`: the start of both events, in the plural.
  explicit Shortfall(std::string subject) : subject_(std::move(subject)) {}

  // `problem`: predicate of the subject in this tick; empty: no problem.
  void see(const std::string& problem, const Moment& now, std::vector<Event>& events);

 private:
  const std::string subject_;
  std::optional<std::int64_t> last_ms_;  // boot clock, since the first event
};

// The shortfalls of a collector.
class Shortfalls {
 public:
  void see(const CgroupsLeft& cgroups, const TextBudget& texts, const Moment& now, std::vector<Event>& events);

 private:
  Shortfall cgroups_{"Cgroups"};
  Shortfall texts_{"Texts of processes"};
};

}  // namespace memoir
