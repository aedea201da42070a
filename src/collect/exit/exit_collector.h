#pragma once

// Adds to a tick the exits and OOM kills reported since the previous one. Unsampled processes get user, cgroup and
// command as far as they are known.

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "collect/cgroup/cgroup_names.h"
#include "collect/collect_context.h"
#include "collect/exit/exit_fold.h"
#include "collect/oom/oom_log.h"
#include "collect/process/process_entry.h"
#include "collect/process/process_resolver.h"
#include "collect/worker/blocking_reader.h"

namespace memoir {

class ExitCollector {
 public:
  ExitCollector(CgroupFs cgroups, std::int64_t ticks_per_second)
      : names_(std::move(cgroups)), ticks_per_second_(ticks_per_second) {}

  void set_large(std::int64_t kib) { fold_.set_large(kib); }

  // Takes an event. Returns true if a process was chosen for a kill. `entries`: processes of the last pass; `exits`:
  // processes that the last pass no longer found. `scanned_ms`: time (wall clock) of the last scan of all peaks.
  bool note(const ProcessEvent& event, const Entries& entries, const std::vector<ProcessExit>& exits, const Moment& now,
            std::optional<std::int64_t> scanned_ms);

  // Takes a kill from the kernel log. The event of the same kill must have been taken before.
  void note(const OomLog::Kill& kill, const Entries& entries, const Moment& now);
  // Sets whether the log is read. If it is, victims wait for their log entry as well as for their exit.
  void expect_log(bool expected) { log_expected_ = expected; }

  // Closes the list of exits for this tick: later exits belong to the next tick. Returns jobs that look up the names of
  // their users.
  std::vector<std::shared_ptr<BlockingJob>> ask(ProcessResolver& identifier);
  void add_to(const Entries& entries, ProcessResolver& identifier, CollectContext& context);

 private:
  void introduce(const KeptExit& kept, ProcessResolver& identifier, CollectContext& context);

  struct Victim {
    OomVictim victim;
    std::uint64_t cgroup_id = 0;
    std::uint64_t memory_cgroup_id = 0;
    std::uint64_t start_ticks = 0;  // 0: unknown
    std::int64_t boot_ms = 0;       // boot clock, time of the event
    bool by_event = false;
    bool waited = false;  // has waited one tick for its exit and for the log
  };
  Victim* choose(std::int32_t pid, std::int64_t at_ms, const Moment& now);
  Victim* choose(const ProcessEvent& event, std::int64_t at_ms, const Entries& entries, const Moment& now);
  void take_choice(const ProcessEvent& event, const Entries& entries, const Moment& now);
  bool take_signal(const ProcessEvent& event, const Entries& entries, const Moment& now);
  Victim* nearest(std::int32_t pid, std::int64_t at_ms, bool by_event);
  bool was_reported(const OomReport& report, std::int64_t at_ms);
  template <typename IsSame>
  static bool is_repeated(const std::vector<Victim>& known, std::int32_t pid, std::int64_t at_ms,
                          const IsSame& is_same);
  std::string cgroup_of_victim(std::int32_t pid) const;
  void report_victims(CollectContext& context);
  void learn_cgroups(const Entries& entries);

  bool log_expected_ = false;
  std::vector<Victim> victims_;
  // Victims reported in the last five minutes, because the kernel may report them again, or late.
  std::vector<Victim> reported_;
  std::int64_t victim_block_ = 0;
  std::size_t chosen_ = 0;  // number of victims in the current block
  ExitFold fold_;
  ExitFold::Taken taken_;
  std::map<ProcessKey, ProcessInfo> heads_;  // forking process, by the key of its unsampled child
  CgroupNames names_;
  const std::int64_t ticks_per_second_;
};

}  // namespace memoir
