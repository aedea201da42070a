#include "store/reader.h"

#include <SQLiteCpp/Database.h>
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <unistd.h>

#include "store/replay/coverage.h"
#include "store/replay/coverage_rows.h"
#include "store/replay/ends.h"
#include "store/replay/ledgers.h"
#include "store/replay/outside.h"
#include "store/replay/process_reader.h"
#include "store/replay/process_values.h"
#include "store/replay/samples.h"
#include "store/replay/snapshot.h"
#include "store/rollup/history.h"
#include "store/rollup/mark_rows.h"
#include "store/rollup/pass.h"
#include "store/rollup/reader.h"
#include "store/rollup/rows.h"
#include "store/rows/identity_rows.h"
#include "store/rows/tick_rows.h"
#include "store/rows/victim_json.h"
#include "store/sqlite/database.h"
#include "store/sqlite/failure.h"
#include "store/sqlite/file_system.h"
#include "store/sqlite/lock_file.h"
#include "store/sqlite/sql.h"
#include "store/sqlite/time_limit.h"
#include "store/sqlite/wal_locks.h"

namespace memoir {
namespace {

class SqliteReader final : public Reader {
 public:
  SqliteReader(std::string path, std::unique_ptr<SQLite::Database> database,
               std::optional<std::chrono::milliseconds> within)
      : path_(std::move(path)), locks_(path_), database_(std::move(database)), tails_(*database_) {
    if (within) limit_.emplace(database_->getHandle(), *within);
  }

  Result<FileInfo> info() override;
  Result<std::vector<StoredRun>> runs() override;
  Result<std::vector<Event>> events(Range range) override;
  Result<std::vector<OomVictim>> oom_victims(Range range) override { return loading(load_oom_victims, range); }
  Result<std::vector<StoredTick>> ticks(Range range) override;
  Result<std::vector<StoredZombies>> zombies(Range range) override;
  Result<Coverage> coverage(Range range) override;
  Result<std::optional<StoredTick>> tick_at(std::int64_t at_ms) override;
  Result<Snapshot> snapshot(std::int64_t tick_id) override;
  Result<std::vector<CgroupDetail>> cgroup_details(std::int64_t tick_id) override {
    return loading(load_cgroup_details, tick_id);
  }
  Result<std::vector<CgroupContainer>> containers() override { return loading(load_containers); }
  Result<std::optional<ProcessState>> process_at(std::int64_t tick_id, std::int64_t process_id) override {
    return loading(load_process, tick_id, process_id);
  }
  Result<std::vector<Holder>> largest_at(std::int64_t tick_id, std::size_t most,
                                         const std::function<bool(const StoredProcess&)>& takes) override;
  Result<std::map<std::int64_t, std::int64_t>> estimated_since(std::int64_t tick_id) override {
    return loading(load_estimated_since, tick_id);
  }
  Result<std::vector<LedgerAt>> ledgers(std::int64_t tick_id, std::optional<std::int64_t> process_id) override;
  Result<bool> any_ledgers() override;
  Result<std::vector<FirstMapping>> first_mappings(std::int64_t tick_id) override {
    return loading(load_first_mappings, tick_id);
  }
  Result<std::vector<SegmentAt>> segments(std::int64_t tick_id) override { return loading(load_segments, tick_id); }
  Result<std::vector<TmpfsAt>> tmpfs(std::int64_t tick_id, std::int64_t since_tick) override {
    return loading(load_tmpfs, tick_id, since_tick);
  }
  Result<Outside> outside(std::int64_t tick_id) override { return loading(load_outside, tick_id); }
  Result<std::vector<StoredEnd>> ends(Range range) override { return loading(load_ends, range); }
  Result<std::vector<EndSum>> end_sums(Range range) override { return loading(load_end_sums, range); }
  Result<EndSum> sum_of_ends(Range range) override { return loading(load_sum_of_ends, range); }
  Result<EndTotals> end_totals(Range range) override { return loading(load_end_totals, range); }
  Result<std::optional<ProcessEnd>> end_of(std::int64_t process_id) override {
    return loading(load_end_of, process_id);
  }
  Result<std::vector<StoredProcess>> processes(Range range) override;
  Result<std::vector<StoredProcess>> processes_by_id(const std::vector<std::int64_t>& ids) override;
  Result<std::vector<StoredProcess>> newest_of(const std::vector<std::int64_t>& identity_ids) override;
  Result<std::vector<StoredProcess>> processes_of_pid(Range range, std::int32_t pid) override;
  Result<std::vector<StoredLife>> lives(Range range) override;
  Status process_samples(Range range, const std::function<void(const HeldSample<ProcessSample>&)>& visit) override;
  Status machine_samples(Range range, const std::function<void(const HeldSample<MachineMemory>&)>& visit) override;
  Status category_samples(Range range, const std::function<void(const HeldSample<CategorySample>&)>& visit) override;
  Result<std::vector<TierSpan>> tiers() override;
  Status history(const HistoryQuestion& question, const std::function<void(const SubjectInterval&)>& visit) override;
  Result<std::map<std::int64_t, std::string>> group_names(SubjectKind kind) override;
  Result<std::vector<StoredIdentity>> identities(std::optional<Range> range) override;
  Result<std::vector<HighWater>> high_water(std::optional<Range> range, const std::set<SubjectKind>& kinds) override;
  Result<std::vector<HighWater>> cgroup_marks(std::optional<Range> range) override;
  Result<ProcessMarks> process_marks(std::optional<Range> range, std::optional<Range> reached, Metric metric,
                                     std::size_t most) override;

 private:
  // One short read transaction: what it sees is one state of the file.
  template <typename Load>
  auto reading(Load&& load) -> decltype(load()) {
    return guarded(path_, [&]() -> decltype(load()) {
      const Transaction transaction(*database_, Transaction::Kind::read);
      return load();
    });
  }
  template <typename Value, typename... Parameters, typename... Arguments>
  Result<Value> loading(Value (*load)(SQLite::Database&, Parameters...), const Arguments&... arguments) {
    return reading([&]() -> Result<Value> { return load(*database_, arguments...); });
  }
  Result<std::vector<StoredProcess>> processes_by(const char* where, const std::vector<std::int64_t>& ids);

  // Processes of a range; `columns` is a SELECT of `process` AS p.
  template <typename Visit>
  void visit_lived(const std::string& columns, Range range, const Visit& visit);

  std::string path_;
  WalLocks locks_;  // outlives the database
  std::unique_ptr<SQLite::Database> database_;
  RollupTails tails_;
  std::optional<CpuLimit> limit_;
};

MarkDays mark_days(std::optional<Range> range) {
  return range ? MarkDays{day_of(range->from_ms), day_of(range->to_ms)} : MarkDays{};
}

// The stretches know of the oldest ticks, which are gone; in a copy of an old range they know of all.
constexpr const char* kEnds =
    "SELECT COALESCE((SELECT from_ms FROM stretch ORDER BY id LIMIT 1), (SELECT wall_ms FROM tick ORDER BY id LIMIT "
    "1)), "
    "COALESCE((SELECT wall_ms FROM tick ORDER BY id DESC LIMIT 1), "
    "(SELECT to_ms FROM stretch ORDER BY id DESC LIMIT 1)), "
    "COALESCE((SELECT first_tick_id FROM stretch ORDER BY id LIMIT 1), (SELECT id FROM tick ORDER BY id LIMIT 1)), "
    "COALESCE((SELECT id FROM tick ORDER BY id DESC LIMIT 1), "
    "(SELECT last_tick_id FROM stretch ORDER BY id DESC LIMIT 1))";

// Of runs whose ticks are all gone.
void add_ends_of_stretches(SQLite::Database& database, std::vector<StoredRun>& runs) {
  Statement rows(database, "SELECT run_id, MIN(from_ms), MAX(to_ms) FROM stretch GROUP BY run_id ORDER BY run_id");
  while (rows.step()) {
    const auto run = std::ranges::find(runs, rows.integer(0), &StoredRun::id);
    if (run == runs.end()) continue;
    if (!run->first_tick_ms) run->first_tick_ms = rows.integer(1);
    if (!run->last_tick_ms) run->last_tick_ms = rows.integer(2);
  }
}

Result<FileInfo> SqliteReader::info() {
  return reading([&]() -> Result<FileInfo> {
    FileInfo info;
    info.path = path_;
    info.bytes = file_bytes(path_) + file_bytes(path_ + "-wal");
    info.schema = schema_version(*database_);
    // Numbers without holes: only the oldest ticks are ever deleted.
    Statement ends(*database_, kEnds);
    if (ends.step() && ends.maybe(0)) {
      info.first_tick_ms = ends.integer(0);
      info.last_tick_ms = ends.integer(1);
      info.ticks = ends.integer(3) - ends.integer(2) + 1;
    }
    Statement kept(*database_, "SELECT max_bytes, raw_ms FROM retention WHERE id = 1");
    if (kept.step()) {
      info.max_bytes = kept.integer(0);
      info.raw_ms = kept.integer(1);
    }
    Statement sizes(*database_, "SELECT recorded_day, used_bytes FROM store_size ORDER BY recorded_day");
    while (sizes.step()) info.sizes.push_back({sizes.integer(0), sizes.integer(1)});
    const LockState lock = look_at_lock(path_);
    info.recorder_pid = lock.owner;
    info.lock_visible = lock.visible;
    // In the recorder itself this would cost it its own locks.
    if (lock.owner && *lock.owner != getpid()) info.held_by = locks_.reader_sees_writer_held_by();
    return info;
  });
}

Result<std::vector<StoredRun>> SqliteReader::runs() {
  return reading([&]() -> Result<std::vector<StoredRun>> {
    Statement rows(*database_, fmt::format("SELECT {} FROM run_named ORDER BY id", run_columns()));
    std::vector<StoredRun> runs;
    while (rows.step()) runs.push_back(read_run(rows));
    add_ends_of_stretches(*database_, runs);
    return runs;
  });
}

Result<std::vector<Event>> SqliteReader::events(Range range) {
  return reading([&]() -> Result<std::vector<Event>> {
    Statement rows(*database_,
                   "SELECT wall_ms, boot_ms, kind, text FROM event WHERE wall_ms BETWEEN ? AND ? ORDER BY id");
    rows.bind(range.from_ms, range.to_ms);
    std::vector<Event> events;
    while (rows.step()) events.push_back({{rows.integer(0), rows.integer(1)}, rows.text(2), rows.text(3)});
    return events;
  });
}

Result<std::vector<StoredZombies>> SqliteReader::zombies(Range range) {
  return reading([&]() -> Result<std::vector<StoredZombies>> {
    Statement rows(*database_,
                   "SELECT wall_ms, zombies FROM tick NOT INDEXED WHERE wall_ms BETWEEN ? AND ? ORDER BY id");
    rows.bind(range.from_ms, range.to_ms);
    std::vector<StoredZombies> zombies;
    while (rows.step()) zombies.push_back({rows.integer(0), rows.integer(1)});
    return zombies;
  });
}

Result<std::vector<StoredTick>> SqliteReader::ticks(Range range) {
  return reading([&]() -> Result<std::vector<StoredTick>> {
    const TickSpan span = span_of(*database_, range);
    Statement rows(*database_,
                   fmt::format("SELECT {} FROM tick WHERE id BETWEEN ? AND ? AND +wall_ms BETWEEN ? AND ? ORDER BY id",
                               tick_columns()));
    rows.bind(span.first, span.last, range.from_ms, range.to_ms);
    std::vector<StoredTick> ticks;
    while (rows.step()) ticks.push_back(read_tick(rows));
    return ticks;
  });
}

Result<Coverage> SqliteReader::coverage(Range range) {
  return reading([&]() -> Result<Coverage> {
    CoverageBuilder builder(range);
    visit_coverage(*database_, range, builder);
    return builder.finish();
  });
}

Result<std::optional<StoredTick>> SqliteReader::tick_at(std::int64_t at_ms) {
  return reading([&]() -> Result<std::optional<StoredTick>> {
    Statement row(
        *database_,
        fmt::format("SELECT {} FROM tick WHERE wall_ms <= ? ORDER BY wall_ms DESC, id DESC LIMIT 1", tick_columns()));
    if (!row.bind(at_ms).step()) return std::optional<StoredTick>();
    return std::optional(read_tick(row));
  });
}

Result<Snapshot> SqliteReader::snapshot(std::int64_t tick_id) {
  return reading([&] {
    auto snapshot = load_snapshot(*database_, tick_id);
    if (snapshot) return snapshot;
    return Result<Snapshot>(Error{snapshot.error().kind, path_ + ": " + snapshot.error().message});
  });
}

Result<std::vector<Holder>> SqliteReader::largest_at(std::int64_t tick_id, std::size_t most,
                                                     const std::function<bool(const StoredProcess&)>& takes) {
  return reading([&]() -> Result<std::vector<Holder>> { return load_largest(*database_, tick_id, most, takes); });
}

template <typename Visit>
void SqliteReader::visit_lived(const std::string& columns, Range range, const Visit& visit) {
  const TickSpan span = span_of(*database_, range);
  const bool in_ticks = one(*database_, "SELECT wall_ms <= ? FROM tick ORDER BY id LIMIT 1", range.from_ms) == 1;
  Statement rows(*database_, columns + (in_ticks ? sql::lived_in_ticks : sql::lived_between));
  if (in_ticks) {
    rows.bind(span.first, span.last);
  } else {
    rows.bind(span.first, span.last, range.from_ms, range.to_ms);
  }
  while (rows.step()) visit(rows);
}

Result<std::vector<LedgerAt>> SqliteReader::ledgers(std::int64_t tick_id, std::optional<std::int64_t> process_id) {
  return reading([&]() -> Result<std::vector<LedgerAt>> { return load_ledgers(*database_, tick_id, process_id); });
}

Result<bool> SqliteReader::any_ledgers() {
  return reading([&]() -> Result<bool> {
    // A file of an older schema has no such table.
    if (!one(*database_, "SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = 'ledger'")) return false;
    return one(*database_, "SELECT EXISTS (SELECT 1 FROM ledger)") == 1;
  });
}

Result<std::vector<StoredProcess>> SqliteReader::processes(Range range) {
  return reading([&]() -> Result<std::vector<StoredProcess>> {
    ProcessReader reader(*database_);
    std::vector<StoredProcess> processes;
    visit_lived(ProcessReader::sql(""), range, [&](const Statement& row) { processes.push_back(reader.read(row)); });
    return processes;
  });
}

Result<std::vector<StoredProcess>> SqliteReader::processes_by(const char* where, const std::vector<std::int64_t>& ids) {
  return reading([&]() -> Result<std::vector<StoredProcess>> {
    ProcessReader reader(*database_);
    std::vector<StoredProcess> processes;
    processes.reserve(ids.size());
    Statement row(*database_, ProcessReader::sql(where));
    for (const std::int64_t id : ids) {
      if (row.bind(id).step()) processes.push_back(reader.read(row));
    }
    return processes;
  });
}

Result<std::vector<StoredProcess>> SqliteReader::processes_by_id(const std::vector<std::int64_t>& ids) {
  return processes_by("WHERE p.id = ?", ids);
}

Result<std::vector<StoredProcess>> SqliteReader::newest_of(const std::vector<std::int64_t>& identity_ids) {
  return processes_by("WHERE p.id = (SELECT MAX(q.id) FROM process AS q WHERE q.identity_id = ?)", identity_ids);
}

Result<std::vector<StoredProcess>> SqliteReader::processes_of_pid(Range range, std::int32_t pid) {
  return reading([&]() -> Result<std::vector<StoredProcess>> {
    Statement rows(*database_, ProcessReader::sql(sql::processes_of_pid));
    rows.bind(pid, range.from_ms, range.to_ms);
    ProcessReader reader(*database_);
    std::vector<StoredProcess> processes;
    while (rows.step()) processes.push_back(reader.read(rows));
    return processes;
  });
}

Result<std::vector<StoredLife>> SqliteReader::lives(Range range) {
  return reading([&]() -> Result<std::vector<StoredLife>> {
    std::vector<StoredLife> lives;
    visit_lived(sql::lives, range, [&lives](const Statement& row) {
      lives.push_back(
          {row.integer(0), row.integer(1), static_cast<std::int32_t>(row.integer(2)), row.integer(3), row.maybe(4)});
    });
    return lives;
  });
}

Status SqliteReader::process_samples(Range range, const std::function<void(const HeldSample<ProcessSample>&)>& visit) {
  return reading([&]() -> Status {
    visit_process_samples(*database_, range, visit);
    return Done{};
  });
}

Status SqliteReader::machine_samples(Range range, const std::function<void(const HeldSample<MachineMemory>&)>& visit) {
  return reading([&]() -> Status {
    visit_machine_samples(*database_, range, visit);
    return Done{};
  });
}

Status SqliteReader::category_samples(Range range,
                                      const std::function<void(const HeldSample<CategorySample>&)>& visit) {
  return reading([&]() -> Status {
    visit_category_samples(*database_, range, visit);
    return Done{};
  });
}

Result<std::vector<TierSpan>> SqliteReader::tiers() {
  return reading([&]() -> Result<std::vector<TierSpan>> { return load_tiers(*database_); });
}

Status SqliteReader::history(const HistoryQuestion& question,
                             const std::function<void(const SubjectInterval&)>& visit) {
  if (auto error = error_in(question)) return *std::move(error);
  return reading([&]() -> Status {
    visit_history(*database_, tails_, question, visit);
    return Done{};
  });
}

Result<std::map<std::int64_t, std::string>> SqliteReader::group_names(SubjectKind kind) {
  return reading([&]() -> Result<std::map<std::int64_t, std::string>> { return load_group_names(*database_, kind); });
}

Result<std::vector<StoredIdentity>> SqliteReader::identities(std::optional<Range> range) {
  return reading([&]() -> Result<std::vector<StoredIdentity>> { return load_identities(*database_, range); });
}

Result<std::vector<HighWater>> SqliteReader::high_water(std::optional<Range> range,
                                                        const std::set<SubjectKind>& kinds) {
  return reading(
      [&]() -> Result<std::vector<HighWater>> { return load_marks(*database_, tails_, mark_days(range), kinds); });
}

Result<std::vector<HighWater>> SqliteReader::cgroup_marks(std::optional<Range> range) {
  return reading([&]() -> Result<std::vector<HighWater>> { return load_cgroup_marks(*database_, mark_days(range)); });
}

Result<ProcessMarks> SqliteReader::process_marks(std::optional<Range> range, std::optional<Range> reached,
                                                 Metric metric, std::size_t most) {
  return reading([&]() -> Result<ProcessMarks> {
    return load_process_marks(*database_, mark_days(range), reached, metric, most);
  });
}

}  // namespace

Result<std::unique_ptr<Reader>> Reader::open(const std::string& path, std::optional<std::chrono::milliseconds> within) {
  auto database = TRY(open_for_reading(path));
  return std::unique_ptr<Reader>(std::make_unique<SqliteReader>(path, std::move(database), within));
}

}  // namespace memoir
