#pragma once

// Reports that a limit on user-controlled data was reached: one event at the start, and one when it has not been
// reached for ten minutes. Pure.

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

  // `subject` is the start of both events, in the plural.
  explicit Shortfall(std::string subject) : subject_(std::move(subject)) {}

  // `problem` continues the sentence that `subject` starts; empty if there is no problem at this tick.
  void see(const std::string& problem, const Moment& now, std::vector<Event>& events);

 private:
  const std::string subject_;
  std::optional<std::int64_t> last_ms_;  // boot clock, last problem; nullopt unless an event was reported
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
