#pragma once

// Reads the recorder's database. One thread at a time. Times are wall milliseconds; ranges are [from_ms, to_ms].
//
// Each call is one short read transaction, so that a reader never delays the recorder's checkpoints: load first,
// compute afterwards. Functions that take a Reader load the other data: store/events.h, exits.h, mappings.h, names.h,
// samples.h, shmem_state.h, states.h.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/types.h"

namespace SQLite {
class Database;
}

namespace memoir {

class Reader {
 public:
  static Result<std::unique_ptr<Reader>> open(const std::string& path);
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader();

  // Starts an answer, to which all queries up to the next call belong. Once the answer has used `within` of CPU time,
  // its queries fail. After a request to stop, from any thread, they fail with ErrorKind::blocked.
  void start_answer(std::optional<std::chrono::milliseconds> within, std::stop_token stop = {});

  // Returns a number that changes when another connection commits.
  Result<std::int64_t> data_version();
  // Returns whether the path still leads to the file that was opened.
  bool has_current_file() const;

  Result<FileInfo> info();
  Result<std::vector<StoredRun>> runs();
  Result<Coverage> coverage(Range range);
  Result<std::vector<StoredTick>> ticks(Range range);

  // Returns the tick with the latest wall time at or before `at_ms`; nullopt if there is none. If the wall clock was
  // set back and that time occurred twice, returns the tick that was recorded last.
  Result<std::optional<StoredTick>> tick_at(std::int64_t at_ms);
  // Returns the tick with the earliest wall time after `at_ms`; if that time occurred twice, the tick that was recorded
  // last.
  Result<std::optional<StoredTick>> tick_after(std::int64_t at_ms);
  Result<Snapshot> snapshot(std::int64_t tick_id);
  // Caches up to this many bytes of snapshots from now on, to make steps from tick to tick cheap. A step forward then
  // reads only the rows of the next tick; a step back reads several previous ticks at once.
  void keep_snapshots(std::size_t bytes);

  // Returns the non-empty tiers, the finest first.
  Result<std::vector<TierSpan>> tiers();

  // Visits the intervals of all requested subjects. The intervals of one subject and metric are in time order; the
  // intervals of one row are consecutive, in the order of the query's metrics. Buckets computed from ticks follow the
  // stored rows of a tier; a bucket that is partly stored and partly computed comes as two adjacent ones. Ticks have
  // values of processes, categories, the machine, and cgroups' own counters. A metric that the tier lacks is an error.
  Status history(const HistoryQuery& question, const VisitInterval& visit);

  // Returns the marks of whole UTC days that touch the range, up to the last tick; without a range, those of all time.
  // Processes have very many marks.
  Result<std::vector<HighWater>> high_water(std::optional<Range> range, const std::set<SubjectKind>& kinds);

  // Returns the highest marks of one process metric, one per process, at most `most` of them. With `reached`, only
  // marks that were reached in that range count.
  Result<ProcessMarks> process_marks(std::optional<Range> range, std::optional<Range> reached, Metric metric,
                                     std::size_t most);

  // Returns the marks of all time of one process.
  Result<std::vector<HighWater>> marks_of_process(std::int64_t process_id);

  // Runs `load`, a function of the store, in a transaction of its own, so that it reads one state of the file.
  template <typename Load>
  auto read(const Load& load) -> Result<std::invoke_result_t<const Load&, SQLite::Database&>> {
    std::optional<std::invoke_result_t<const Load&, SQLite::Database&>> value;
    TRY(visit([&](SQLite::Database& database) { value.emplace(load(database)); }));
    return *std::move(value);
  }
  Status visit(const std::function<void(SQLite::Database&)>& load);

 private:
  struct Parts;
  explicit Reader(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace memoir
