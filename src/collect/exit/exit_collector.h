#pragma once

// Puts the ends that the kernel told of since the tick before into a tick: who they were, as far as that can be known
// of those that no tick saw.

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "collect/cgroup/cgroup_names.h"
#include "collect/exit/exit_fold.h"
#include "collect/oom/oom_log.h"
#include "collect/pass.h"
#include "collect/process/identifier.h"
#include "collect/process/process_entry.h"
#include "collect/worker/blocking_reader.h"

namespace memoir {

class EndReader {
 public:
  EndReader(CgroupFs cgroups, std::int64_t ticks_per_second)
      : names_(std::move(cgroups)), ticks_per_second_(ticks_per_second) {}

  void set_large(std::int64_t kib) { ends_.set_large(kib); }

  // True: an OOM killer chose somebody. `entries`: of the last pass that found them; `exits`: whom that did not find
  // any more. `looked_ms`: when a look saw the peaks of all (wall clock).
  bool note(const ProcessEvent& event, const Entries& entries, const std::vector<ProcessExit>& exits, const Moment& now,
            std::optional<std::int64_t> looked_ms);

  // What the kernel's log tells of a kill; after what was told of it by an event, which comes first.
  void note(const OomLog::Kill& kill, const Entries& entries, const Moment& now);
  // Whether it is read: victims wait for it as for their ends.
  void expect_log(bool expected) { log_expected_ = expected; }

  // Those since the tick before are told with this one. Jobs for the names of their users.
  std::vector<std::shared_ptr<BlockingJob>> ask(Identifier& identifier);
  void tell(const Entries& entries, Identifier& identifier, Pass& pass);

 private:
  void introduce(const KeptEnd& kept, Identifier& identifier, Pass& pass);

  struct Victim {
    OomVictim victim;
    std::uint64_t cgroup_id = 0;
    std::uint64_t memory_cgroup_id = 0;
    std::uint64_t start_ticks = 0;  // 0: not known
    std::int64_t boot_ms = 0;       // of the event
    bool by_event = false;
    bool waited = false;  // for its end and for the log, for a tick
  };
  Victim* choose(std::int32_t pid, std::int64_t at_ms, const Moment& now);
  Victim* choose(const ProcessEvent& event, std::int64_t at_ms, const Entries& entries, const Moment& now);
  void take_choice(const ProcessEvent& event, const Entries& entries, const Moment& now);
  bool take_signal(const ProcessEvent& event, const Entries& entries, const Moment& now);
  Victim* nearest(std::int32_t pid, std::int64_t at_ms, bool by_event);
  bool was_told(const OomReport& report, std::int64_t at_ms);
  template <typename IsSame>
  static bool is_repeated(const std::vector<Victim>& known, std::int32_t pid, std::int64_t at_ms,
                          const IsSame& is_same);
  std::string cgroup_of_victim(std::int32_t pid) const;
  void tell_victims(Pass& pass);
  void learn_cgroups(const Entries& entries);

  bool log_expected_ = false;
  std::vector<Victim> victims_;
  std::vector<Victim> told_;  // in the last minutes: they may be told of again, or by the log only now
  std::int64_t victim_block_ = 0;
  std::size_t chosen_ = 0;  // in it
  Ends ends_;
  Ends::Taken taken_;
  std::map<ProcessKey, ProcessInfo> heads_;  // of kept ones that no tick saw: who forked them, and whose image they ran
  CgroupNames names_;
  const std::int64_t ticks_per_second_;
};

}  // namespace memoir
