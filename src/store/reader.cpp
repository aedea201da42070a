#include "store/reader.h"

#include <SQLiteCpp/Database.h>
#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>

#include "store/marks/table.h"
#include "store/replay/coverage.h"
#include "store/replay/coverage_rows.h"
#include "store/replay/samples.h"
#include "store/replay/snapshot.h"
#include "store/replay/snapshot_cache.h"
#include "store/retention/pass.h"
#include "store/rollup/history.h"
#include "store/rollup/reader.h"
#include "store/rows/tick_rows.h"
#include "store/rows/victim_json.h"
#include "store/sqlite/database.h"
#include "store/sqlite/failure.h"
#include "store/sqlite/file_system.h"
#include "store/sqlite/lock_file.h"
#include "store/sqlite/pages.h"
#include "store/sqlite/pragma.h"
#include "store/sqlite/time_limit.h"
#include "store/sqlite/wal_locks.h"

namespace memoir {
namespace {

MarkDays mark_days(std::optional<Range> range) {
  return range ? MarkDays{day_of(range->from_ms), day_of(range->to_ms)} : MarkDays{};
}

// Times and ids of the first and last tick. The stretches have those of expired ticks; in a copy of an old range, all
// ticks have expired.
constexpr const char* kEnds =
    "SELECT COALESCE((SELECT from_ms FROM stretch ORDER BY id LIMIT 1), (SELECT wall_ms FROM tick ORDER BY id LIMIT "
    "1)), "
    "COALESCE((SELECT wall_ms FROM tick ORDER BY id DESC LIMIT 1), "
    "(SELECT to_ms FROM stretch ORDER BY id DESC LIMIT 1)), "
    "COALESCE((SELECT first_tick_id FROM stretch ORDER BY id LIMIT 1), (SELECT id FROM tick ORDER BY id LIMIT 1)), "
    "COALESCE((SELECT id FROM tick ORDER BY id DESC LIMIT 1), "
    "(SELECT last_tick_id FROM stretch ORDER BY id DESC LIMIT 1))";

// Adds the times of the first and last tick to runs without any remaining tick.
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

std::optional<StoredTick> load_tick_after(SQLite::Database& database, std::int64_t at_ms) {
  const std::string select =
      fmt::format("SELECT {} FROM tick WHERE wall_ms > ? ORDER BY wall_ms, id DESC LIMIT 1", tick_columns());
  return Statement(database, select).first(read_tick, at_ms);
}

FileInfo load_info(SQLite::Database& database, const std::string& path, WalLocks& locks) {
  FileInfo info;
  info.path = path;
  info.bytes = file_bytes(path) + file_bytes(path + "-wal");
  info.schema = schema_version(database);
  // Ids of ticks have no holes, because only the oldest ticks are ever deleted.
  Statement ends(database, kEnds);
  if (ends.step() && ends.maybe(0)) {
    info.first_tick_ms = ends.integer(0);
    info.last_tick_ms = ends.integer(1);
    info.ticks = ends.integer(3) - ends.integer(2) + 1;
  }
  Statement kept(database, "SELECT max_bytes, raw_ms FROM retention WHERE id = 1");
  if (kept.step()) {
    info.max_bytes = kept.integer(0);
    info.raw_ms = kept.integer(1);
  }
  Statement sizes(database, "SELECT recorded_day, used_bytes FROM store_size ORDER BY recorded_day");
  while (sizes.step()) info.sizes.push_back({sizes.integer(0), sizes.integer(1)});
  const LockState lock = read_lock_state(path);
  info.recorder_pid = lock.owner;
  info.lock_visible = lock.visible;
  // In the recorder's own process, closing the -shm again would release the recorder's locks.
  if (lock.owner && *lock.owner != getpid()) {
    const std::int64_t max_frames = max_wal_bytes({.max_bytes = info.max_bytes}) / wal_frame_bytes(database);
    info.held_by = locks.reader_sees_writer_held_by(*lock.owner, max_frames);
  }
  return info;
}

}  // namespace

struct Reader::Parts {
  Parts(std::string file_path, FileIdentity identity, std::unique_ptr<SQLite::Database> opened)
      : path(std::move(file_path)), file(identity), locks(path), database(std::move(opened)), tails(*database) {}

  std::string path;
  FileIdentity file;
  WalLocks locks;  // outlives the database
  std::unique_ptr<SQLite::Database> database;
  PendingRollups tails;
  std::stop_token stop;
  std::optional<AnswerLimit> limit;
  std::size_t max_snapshot_bytes = 0;
  std::optional<SnapshotCache> snapshots;
};

Reader::Reader(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Reader::~Reader() = default;

Result<std::unique_ptr<Reader>> Reader::open(const std::string& path) {
  // The identity is read first, so that a file that is replaced while it is opened counts as another one.
  const FileIdentity file = identity_of(path);
  // A TRY that returns from inside a `new` expression would leak the memory.
  auto parts = std::make_unique<Parts>(path, file, TRY(open_for_reading(path)));
  return std::unique_ptr<Reader>(new Reader(std::move(parts)));
}

void Reader::start_answer(std::optional<std::chrono::milliseconds> within, std::stop_token stop) {
  parts_->stop = std::move(stop);
  parts_->limit.emplace(parts_->database->getHandle(), within, parts_->stop);
}

Status Reader::visit(const std::function<void(SQLite::Database&)>& load) {
  const auto interrupted = [this] { return Error{ErrorKind::blocked, parts_->path + ": the answer was stopped"}; };
  if (parts_->stop.stop_requested()) return interrupted();
  Status status = guarded(parts_->path, [&]() -> Status {
    const Transaction transaction(*parts_->database, Transaction::Kind::read);
    load(*parts_->database);
    return Done{};
  });
  return !status && parts_->stop.stop_requested() ? interrupted() : status;
}

Result<std::int64_t> Reader::data_version() {
  return read([](SQLite::Database& database) { return number(database, kDataVersion); });
}

bool Reader::has_current_file() const {
  return identity_of(parts_->path) == parts_->file;
}

Result<FileInfo> Reader::info() {
  return read([this](SQLite::Database& database) { return load_info(database, parts_->path, parts_->locks); });
}

Result<std::vector<StoredRun>> Reader::runs() {
  return read(load_runs);
}

Result<Coverage> Reader::coverage(Range range) {
  return read([range](SQLite::Database& database) { return load_coverage(database, range); });
}

Result<std::vector<StoredTick>> Reader::ticks(Range range) {
  return read([range](SQLite::Database& database) { return load_ticks(database, range); });
}

Result<std::optional<StoredTick>> Reader::tick_at(std::int64_t at_ms) {
  return read([at_ms](SQLite::Database& database) { return load_tick_at(database, at_ms); });
}

Result<std::optional<StoredTick>> Reader::tick_after(std::int64_t at_ms) {
  return read([at_ms](SQLite::Database& database) { return load_tick_after(database, at_ms); });
}

Result<Snapshot> Reader::snapshot(std::int64_t tick_id) {
  Result<std::optional<Snapshot>> snapshot = read([&](SQLite::Database& database) {
    if (parts_->max_snapshot_bytes == 0) return load_snapshot(database, tick_id);
    if (!parts_->snapshots) parts_->snapshots.emplace(database, parts_->max_snapshot_bytes);
    return parts_->snapshots->load(tick_id);
  });
  // A statement that was interrupted between its rows would keep its read transaction.
  if (!snapshot) parts_->snapshots.reset();
  if (!snapshot) return snapshot.error();
  if (*snapshot) return **std::move(snapshot);
  return Error{ErrorKind::not_found, fmt::format("{}: tick {} is not recorded", parts_->path, tick_id)};
}

void Reader::keep_snapshots(std::size_t bytes) {
  parts_->max_snapshot_bytes = bytes;
  parts_->snapshots.reset();
}

Result<std::vector<TierSpan>> Reader::tiers() {
  return read(load_tiers);
}

Status Reader::history(const HistoryQuery& question, const VisitInterval& visit_interval) {
  if (auto error = error_in(question)) return *std::move(error);
  return visit([&](SQLite::Database& database) { visit_history(database, parts_->tails, question, visit_interval); });
}

Result<std::vector<HighWater>> Reader::high_water(std::optional<Range> range, const std::set<SubjectKind>& kinds) {
  return read([&](SQLite::Database& database) { return load_marks(database, mark_days(range), kinds); });
}

Result<std::vector<HighWater>> Reader::marks_of_process(std::int64_t process_id) {
  return read([&](SQLite::Database& database) { return load_marks_of_process(database, process_id); });
}

Result<ProcessMarks> Reader::process_marks(std::optional<Range> range, std::optional<Range> reached, Metric metric,
                                           std::size_t most) {
  return read([&](SQLite::Database& database) {
    return load_process_marks(database, mark_days(range), reached, metric, most);
  });
}

}  // namespace memoir
