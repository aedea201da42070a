#include "store/reader.h"

#include <SQLiteCpp/Database.h>
#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>

#include "store/marks/mark_rows.h"
#include "store/replay/coverage.h"
#include "store/replay/coverage_rows.h"
#include "store/replay/exits.h"
#include "store/replay/ledgers.h"
#include "store/replay/outside.h"
#include "store/replay/process_reader.h"
#include "store/replay/samples.h"
#include "store/replay/snapshot.h"
#include "store/rollup/history.h"
#include "store/rollup/reader.h"
#include "store/rows/identity_rows.h"
#include "store/rows/tick_rows.h"
#include "store/rows/victim_json.h"
#include "store/schema/sql.h"
#include "store/sqlite/database.h"
#include "store/sqlite/failure.h"
#include "store/sqlite/file_system.h"
#include "store/sqlite/lock_file.h"
#include "store/sqlite/time_limit.h"
#include "store/sqlite/wal_locks.h"

namespace memoir {
namespace {

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

std::vector<StoredRun> load_runs(SQLite::Database& database) {
  auto runs = every(database, fmt::format("SELECT {} FROM run_named ORDER BY id", run_columns()), read_run);
  add_ends_of_stretches(database, runs);
  return runs;
}

std::vector<Event> load_events(SQLite::Database& database, Range range) {
  const auto read = [](const Statement& row) {
    return Event{{row.integer(0), row.integer(1)}, row.text(2), row.text(3)};
  };
  return every(database, "SELECT wall_ms, boot_ms, kind, text FROM event WHERE wall_ms BETWEEN ? AND ? ORDER BY id",
               read, range.from_ms, range.to_ms);
}

std::vector<StoredZombies> load_zombies(SQLite::Database& database, Range range) {
  const auto read = [](const Statement& row) { return StoredZombies{row.integer(0), row.integer(1)}; };
  return every(database, "SELECT wall_ms, zombies FROM tick NOT INDEXED WHERE wall_ms BETWEEN ? AND ? ORDER BY id",
               read, range.from_ms, range.to_ms);
}

std::vector<StoredTick> load_ticks(SQLite::Database& database, Range range) {
  const TickSpan span = span_of(database, range);
  const std::string select = fmt::format(
      "SELECT {} FROM tick WHERE id BETWEEN ? AND ? AND +wall_ms BETWEEN ? AND ? ORDER BY id", tick_columns());
  return every(database, select, read_tick, span.first, span.last, range.from_ms, range.to_ms);
}

Coverage load_coverage(SQLite::Database& database, Range range) {
  CoverageBuilder builder(range);
  visit_coverage(database, range, builder);
  return builder.finish();
}

std::optional<StoredTick> load_tick_at(SQLite::Database& database, std::int64_t at_ms) {
  const std::string select =
      fmt::format("SELECT {} FROM tick WHERE wall_ms <= ? ORDER BY wall_ms DESC, id DESC LIMIT 1", tick_columns());
  return Statement(database, select).first(read_tick, at_ms);
}

bool has_ledgers(SQLite::Database& database) {
  return one(database, "SELECT EXISTS (SELECT 1 FROM ledger)") == 1;
}

// Rows of the processes of a range; `columns` is a SELECT of `process` AS p.
template <typename Visit>
void visit_lived(SQLite::Database& database, const std::string& columns, Range range, const Visit& visit) {
  const TickSpan span = span_of(database, range);
  const bool in_ticks = one(database, "SELECT wall_ms <= ? FROM tick ORDER BY id LIMIT 1", range.from_ms) == 1;
  Statement row(database, columns + (in_ticks ? sql::lived_in_ticks : sql::lived_between));
  row.bind(span.first, span.last);
  if (!in_ticks) {
    row.add(range.from_ms);
    row.add(range.to_ms);
  }
  while (row.step()) visit(row);
}

void visit_lived_processes(SQLite::Database& database, Range range, const VisitProcess& visit) {
  ProcessReader reader(database);
  visit_lived(database, ProcessReader::sql(""), range, [&](const Statement& row) { visit(reader.read(row)); });
}

std::vector<StoredLife> load_lives(SQLite::Database& database, Range range) {
  std::vector<StoredLife> lives;
  visit_lived(database, sql::lives, range, [&lives](const Statement& row) {
    lives.push_back(
        {row.integer(0), row.integer(1), static_cast<std::int32_t>(row.integer(2)), row.integer(3), row.maybe(4)});
  });
  return lives;
}

std::vector<StoredProcess> load_processes_by(SQLite::Database& database, const char* where,
                                             const std::vector<std::int64_t>& ids) {
  ProcessReader reader(database);
  std::vector<StoredProcess> processes;
  processes.reserve(ids.size());
  Statement row(database, ProcessReader::sql(where));
  for (const std::int64_t id : ids) {
    if (row.bind(id).step()) processes.push_back(reader.read(row));
  }
  return processes;
}

std::vector<StoredProcess> load_processes_of_pid(SQLite::Database& database, Range range, std::int32_t pid) {
  ProcessReader reader(database);
  const auto read = [&reader](const Statement& row) { return reader.read(row); };
  return every(database, ProcessReader::sql(sql::processes_of_pid), read, pid, range.from_ms, range.to_ms);
}

class SqliteReader final : public Reader {
 public:
  SqliteReader(std::string path, std::unique_ptr<SQLite::Database> database,
               std::optional<std::chrono::milliseconds> within)
      : path_(std::move(path)), locks_(path_), database_(std::move(database)), tails_(*database_) {
    if (within) limit_.emplace(database_->getHandle(), *within);
  }

  Result<FileInfo> info() override;
  Result<std::vector<StoredRun>> runs() override { return loading(load_runs); }
  Result<std::vector<Event>> events(Range range) override { return loading(load_events, range); }
  Result<std::vector<OomVictim>> oom_victims(Range range) override { return loading(load_oom_victims, range); }
  Result<std::vector<StoredTick>> ticks(Range range) override { return loading(load_ticks, range); }
  Result<std::vector<StoredZombies>> zombies(Range range) override { return loading(load_zombies, range); }
  Result<Coverage> coverage(Range range) override { return loading(load_coverage, range); }
  Result<std::optional<StoredTick>> tick_at(std::int64_t at_ms) override { return loading(load_tick_at, at_ms); }
  Result<Snapshot> snapshot(std::int64_t tick_id) override;
  Result<std::vector<CgroupDetail>> cgroup_details(std::int64_t tick_id) override {
    return loading(load_cgroup_details, tick_id);
  }
  Result<std::vector<CgroupContainer>> containers() override { return loading(load_containers); }
  Result<std::optional<ProcessState>> process_at(std::int64_t tick_id, std::int64_t process_id) override {
    return loading(load_process, tick_id, process_id);
  }
  Result<std::vector<Holder>> largest_at(std::int64_t tick_id, std::size_t most,
                                         const std::function<bool(const StoredProcess&)>& takes) override {
    return loading(load_largest, tick_id, most, takes);
  }
  Result<std::map<std::int64_t, std::int64_t>> estimated_since(std::int64_t tick_id) override {
    return loading(load_estimated_since, tick_id);
  }
  Result<std::vector<LedgerAt>> ledgers(std::int64_t tick_id, std::optional<std::int64_t> process_id) override {
    return loading(load_ledgers, tick_id, process_id);
  }
  Result<bool> any_ledgers() override { return loading(has_ledgers); }
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
  Status visit_processes(Range range, const VisitProcess& visit) override {
    return visiting(visit_lived_processes, range, visit);
  }
  Result<std::vector<StoredProcess>> processes_by_id(const std::vector<std::int64_t>& ids) override {
    return loading(load_processes_by, "WHERE p.id = ?", ids);
  }
  Result<std::vector<StoredProcess>> newest_of(const std::vector<std::int64_t>& identity_ids) override {
    return loading(load_processes_by, "WHERE p.id = (SELECT MAX(q.id) FROM process AS q WHERE q.identity_id = ?)",
                   identity_ids);
  }
  Result<std::vector<StoredProcess>> processes_of_pid(Range range, std::int32_t pid) override {
    return loading(load_processes_of_pid, range, pid);
  }
  Result<std::vector<StoredLife>> lives(Range range) override { return loading(load_lives, range); }
  Status process_samples(Range range, const VisitHeld<ProcessSample>& visit) override {
    return visiting(visit_process_samples, range, visit);
  }
  Status machine_samples(Range range, const VisitHeld<MachineMemory>& visit) override {
    return visiting(visit_machine_samples, range, visit);
  }
  Status category_samples(Range range, const VisitHeld<CategorySample>& visit) override {
    return visiting(visit_category_samples, range, visit);
  }
  Result<std::vector<TierSpan>> tiers() override { return loading(load_tiers); }
  Status history(const HistoryQuestion& question, const VisitInterval& visit) override {
    if (auto error = error_in(question)) return *std::move(error);
    return visiting(visit_history, tails_, question, visit);
  }
  Result<std::map<std::int64_t, std::string>> group_names(SubjectKind kind) override {
    return loading(load_group_names, kind);
  }
  Result<std::vector<StoredIdentity>> identities(std::optional<Range> range) override {
    return loading(load_identities, range);
  }
  Result<std::vector<HighWater>> high_water(std::optional<Range> range, const std::set<SubjectKind>& kinds) override {
    return loading(load_marks, tails_, mark_days(range), kinds);
  }
  Result<std::vector<HighWater>> cgroup_marks(std::optional<Range> range) override {
    return loading(load_cgroup_marks, mark_days(range));
  }
  Result<ProcessMarks> process_marks(std::optional<Range> range, std::optional<Range> reached, Metric metric,
                                     std::size_t most) override {
    return loading(load_process_marks, mark_days(range), reached, metric, most);
  }

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
  Result<Value> loading(Value (*load)(SQLite::Database&, Parameters...), Arguments&&... arguments) {
    return reading([&]() -> Result<Value> { return load(*database_, arguments...); });
  }
  template <typename... Parameters, typename... Arguments>
  Status visiting(void (*visit)(SQLite::Database&, Parameters...), Arguments&&... arguments) {
    return reading([&]() -> Status {
      visit(*database_, arguments...);
      return Done{};
    });
  }

  std::string path_;
  WalLocks locks_;  // outlives the database
  std::unique_ptr<SQLite::Database> database_;
  RollupTails tails_;
  std::optional<CpuLimit> limit_;
};

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

Result<Snapshot> SqliteReader::snapshot(std::int64_t tick_id) {
  return reading([&] {
    auto snapshot = load_snapshot(*database_, tick_id);
    if (snapshot) return snapshot;
    return Result<Snapshot>(Error{snapshot.error().kind, path_ + ": " + snapshot.error().message});
  });
}

}  // namespace

Result<std::vector<StoredProcess>> Reader::processes(Range range) {
  std::vector<StoredProcess> all;
  TRY(visit_processes(range, [&all](const StoredProcess& process) { all.push_back(process); }));
  return all;
}

Result<std::unique_ptr<Reader>> Reader::open(const std::string& path, std::optional<std::chrono::milliseconds> within) {
  auto database = TRY(open_for_reading(path));
  return std::unique_ptr<Reader>(std::make_unique<SqliteReader>(path, std::move(database), within));
}

}  // namespace memoir
