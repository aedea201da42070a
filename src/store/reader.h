#pragma once

// Reads what the recorder wrote. One thread at a time. Times are wall milliseconds; ranges are [from_ms, to_ms].
//
// Each call is one short read transaction, so that a reader never delays the recorder's checkpoints: load, then think.
// What else the file knows is loaded by functions that take a Reader: store/events.h, exits.h, mappings.h, names.h,
// outside.h, samples.h, states.h.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
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
  // An answer that needs more CPU time than `within` is refused.
  static Result<std::unique_ptr<Reader>> open(const std::string& path,
                                              std::optional<std::chrono::milliseconds> within = {});
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader();

  Result<FileInfo> info();
  Result<std::vector<StoredRun>> runs();
  Result<Coverage> coverage(Range range);
  Result<std::vector<StoredTick>> ticks(Range range);

  // The tick whose wall time is the latest at or before `at_ms`; nullopt if there is none. Where the wall clock was set
  // back and a time came twice, the tick recorded last.
  Result<std::optional<StoredTick>> tick_at(std::int64_t at_ms);
  Result<Snapshot> snapshot(std::int64_t tick_id);

  // The tiers that hold something, the finest first.
  Result<std::vector<TierSpan>> tiers();

  // The intervals of all subjects asked for; those of one subject and metric come in the order of time, and those of
  // one row one after the other, in the order of the question's metrics. Where the rows of a tier end, buckets made
  // from the ticks go on; a bucket that is partly in both comes as two that adjoin. Ticks have values of processes,
  // categories, the machine, and of what the kernel counts of cgroups. A metric that the tier does not have is an
  // error.
  Status history(const HistoryQuestion& question, const VisitInterval& visit);

  // Marks of whole UTC days that touch the range, up to the last tick; without a range those of all time. Processes
  // have many.
  Result<std::vector<HighWater>> high_water(std::optional<Range> range, const std::set<SubjectKind>& kinds);

  // Of one metric of processes, one mark of each, at most `most` of them. `reached` leaves those that were reached
  // within it.
  Result<ProcessMarks> process_marks(std::optional<Range> range, std::optional<Range> reached, Metric metric,
                                     std::size_t most);

  // Runs `load`, which is from the store, in a transaction of its own: what it reads is one state of the file.
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
