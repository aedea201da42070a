#pragma once

// Reads what the recorder wrote. Each call is one short read transaction, so that a reader never holds up the
// recorder's checkpoints: load, then think. One thread at a time. Times are wall milliseconds; ranges are [from_ms,
// to_ms].

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/types.h"

namespace memoir {

class Reader {
 public:
  // An answer that takes more than `within` of processor time is refused.
  static Result<std::unique_ptr<Reader>> open(const std::string& path,
                                              std::optional<std::chrono::milliseconds> within = {});

  virtual ~Reader() = default;

  virtual Result<FileInfo> info() = 0;
  virtual Result<std::vector<StoredRun>> runs() = 0;
  virtual Result<std::vector<Event>> events(Range range) = 0;
  // Whom the OOM killer chose, by time, as far as the kernel told.
  virtual Result<std::vector<OomVictim>> oom_victims(Range range) = 0;
  virtual Result<std::vector<StoredTick>> ticks(Range range) = 0;
  virtual Result<std::vector<StoredZombies>> zombies(Range range) = 0;  // of the same ticks
  virtual Result<Coverage> coverage(Range range) = 0;

  // The tick whose wall time is the latest at or before `at_ms`; absent if there is none. Where the wall clock was set
  // back and a time came twice, the tick recorded last.
  virtual Result<std::optional<StoredTick>> tick_at(std::int64_t at_ms) = 0;
  virtual Result<Snapshot> snapshot(std::int64_t tick_id) = 0;

  // What seldom moves of the cgroups at a tick, sorted by path; also of some that are gone by then.
  virtual Result<std::vector<CgroupDetail>> cgroup_details(std::int64_t tick_id) = 0;
  // What is known of containers, by the paths of their cgroups, sorted by those: of all of the file.
  virtual Result<std::vector<CgroupContainer>> containers() = 0;

  // One process of it, at a fraction of its cost; absent where the process does not live at that tick.
  virtual Result<std::optional<ProcessState>> process_at(std::int64_t tick_id, std::int64_t process_id) = 0;

  // Those that hold most at a tick, by PSS, the largest first: `most` of those that `takes` takes. At a fraction of its
  // cost; none where the tick is not recorded.
  virtual Result<std::vector<Holder>> largest_at(std::int64_t tick_id, std::size_t most,
                                                 const std::function<bool(const StoredProcess&)>& takes) = 0;

  // Since when the PSS of processes has been but estimated at a tick, in wall milliseconds by their rows; as far back
  // as the keyframe before it.
  virtual Result<std::map<std::int64_t, std::int64_t>> estimated_since(std::int64_t tick_id) = 0;

  // The ledgers of mappings that hold at a tick, by process row; of all processes, or of one.
  virtual Result<std::vector<LedgerAt>> ledgers(std::int64_t tick_id,
                                                std::optional<std::int64_t> process_id = std::nullopt) = 0;
  // Whether the file has any.
  virtual Result<bool> any_ledgers() = 0;
  // Of all that ends in kDeletedMark in ledgers up to a tick, sorted by time.
  virtual Result<std::vector<FirstMapping>> first_mappings(std::int64_t tick_id) = 0;
  // What holds memory outside of processes at a tick. `since_tick`: what it held then, too; 0: not.
  virtual Result<std::vector<SegmentAt>> segments(std::int64_t tick_id) = 0;
  virtual Result<std::vector<TmpfsAt>> tmpfs(std::int64_t tick_id, std::int64_t since_tick) = 0;
  // At a fraction of the cost.
  virtual Result<Outside> outside(std::int64_t tick_id) = 0;

  // How processes ended in the range, where the kernel told: those that a tick saw and the large ones, in the order of
  // their ends; and sums of the others, which may reach beyond the range by some minutes.
  virtual Result<std::vector<StoredEnd>> ends(Range range) = 0;
  virtual Result<std::vector<EndSum>> end_sums(Range range) = 0;
  virtual Result<EndSum> sum_of_ends(Range range) = 0;  // of all of those, without names; at a fraction of the cost
  virtual Result<EndTotals> end_totals(Range range) = 0;
  // Of one process that is gone; absent where it was not told, or was told later than the first tick without it.
  virtual Result<std::optional<ProcessEnd>> end_of(std::int64_t process_id) = 0;

  // Processes that lived in the range, whoever still lives included, in the order of their rows. What is visited holds
  // until `visit` returns.
  virtual Status visit_processes(Range range, const VisitProcess& visit) = 0;
  Result<std::vector<StoredProcess>> processes(Range range);
  virtual Result<std::vector<StoredLife>> lives(Range range) = 0;

  // Those of the rows given, and those with a pid that lived in the range: at a fraction of its cost where a file knows
  // of many processes.
  virtual Result<std::vector<StoredProcess>> processes_by_id(const std::vector<std::int64_t>& ids) = 0;
  // Of each identity of the rows given the process that began last.
  virtual Result<std::vector<StoredProcess>> newest_of(const std::vector<std::int64_t>& identity_ids) = 0;
  virtual Result<std::vector<StoredProcess>> processes_of_pid(Range range, std::int32_t pid) = 0;

  // Everything that the samples of a range hold, in the order of recording, which is that of time but for a stepped
  // wall clock. The first of each subject is clipped to begin at from_ms. At a keyframe and after a gap one begins even
  // if nothing changed; one that begins at the very end of what is recorded has no length.
  virtual Status process_samples(Range range, const VisitHeld<ProcessSample>& visit) = 0;
  virtual Status machine_samples(Range range, const VisitHeld<MachineMemory>& visit) = 0;
  virtual Status category_samples(Range range, const VisitHeld<CategorySample>& visit) = 0;

  // The tiers that hold something, the finest first.
  virtual Result<std::vector<TierSpan>> tiers() = 0;

  // The intervals of all subjects asked for; those of one subject and metric come in the order of time, and those of
  // one row one after the other, in the order of the question's metrics. Where the rows of a tier end, buckets made
  // from the ticks go on; a bucket that both tell of comes as two that adjoin. Ticks tell of processes, categories,
  // the machine, and of what the kernel counts of cgroups. A metric that the tier does not have is an error.
  virtual Status history(const HistoryQuestion& question, const VisitInterval& visit) = 0;

  // What the categories, identities (unit and command) or cgroups of the file are called, by their row.
  virtual Result<std::map<std::int64_t, std::string>> group_names(SubjectKind kind) = 0;

  // Identities that were seen in the range; without one all of the file, at a fraction of the cost: last_ms is then
  // that of the last rollup.
  virtual Result<std::vector<StoredIdentity>> identities(std::optional<Range> range) = 0;

  // Marks of whole UTC days that touch the range; without a range those of all time. Up to the last tick, flushed or
  // not. Of processes there are many; those of identities and cgroups are in part those of ticks that are not rolled up
  // yet, which costs more.
  virtual Result<std::vector<HighWater>> high_water(std::optional<Range> range, const std::set<SubjectKind>& kinds) = 0;

  // Of the same days those of the cgroups' own counters (usage, usage_anon) alone, without names: at a fraction of the
  // cost.
  virtual Result<std::vector<HighWater>> cgroup_marks(std::optional<Range> range) = 0;

  // Of one metric of processes, one mark of each, at most `most` of them. `reached` leaves those that were reached
  // within it.
  virtual Result<ProcessMarks> process_marks(std::optional<Range> range, std::optional<Range> reached, Metric metric,
                                             std::size_t most) = 0;
};

}  // namespace memoir
