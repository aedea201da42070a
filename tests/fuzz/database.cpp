#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <array>
#include <fcntl.h>
#include <fstream>
#include <limits>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/log.h"
#include "fuzz/require.h"
#include "fuzz/targets.h"
#include "query/application.h"
#include "query/history.h"
#include "support/manual_clock.h"
#include "support/slurp.h"

namespace memoir::fuzz {
namespace {

using Words = std::vector<std::string>;

// Numbers that make sums and products overflow.
constexpr std::array<std::int64_t, 14> kNumbers{0,
                                                1,
                                                -1,
                                                2,
                                                127,
                                                1'000,
                                                300'000,
                                                2'147'483'648,
                                                1'795'046'400'000,
                                                9'007'199'254'740'993,
                                                std::numeric_limits<std::int64_t>::max() / 300'000,
                                                std::numeric_limits<std::int64_t>::max() - 1,
                                                std::numeric_limits<std::int64_t>::max(),
                                                std::numeric_limits<std::int64_t>::min()};

const std::vector<Words>& questions() {
  static const std::vector<Words> all{
      {"status"},
      {"top"},
      {"top", "--group", "identity"},
      {"top", "--last", "3h"},
      {"top", "--last", "3h", "--group", "cgroup"},
      {"trend", "machine"},
      {"trend", "machine", "--tier", "5min"},
      {"trend", "category:web"},
      {"trend", "12", "--last", "2h"},
      {"peaks"},
      {"peaks", "--group", "identity"},
      {"peaks", "--last", "3h", "--group", "cgroup"},
      {"processes"},
      {"categories"},
      {"cgroups"},
      {"tree"},
      {"events"},
      {"exits"},
      {"leaks", "--all"},
      {"mappings"},
      {"shm"},
      {"tmpfs"},
      {"objects"},
      {"memory"},
      {"doctor"},
      {"incident", "--format", "markdown"},
      {"summary", "--day", "2026-11-19"},
      {"summary", "--last", "3h", "--format", "html"},
      {"diff", "2026-11-19 01:00", "2026-11-19 02:00"},
      {"export", "processes", "--format", "openmetrics"},
      {"export", "--tier", "5min", "--format", "csv"},
  };
  return all;
}

// Returns the bytes of a recording of some hours that has some data of every kind, including rollups.
std::string recorded_bytes() {
  test::History history(60'000);
  history.begin_run();
  history.tell_ends();
  history.birth(11, {"nginx", "nginx: worker", "web", "web", "/system.slice/nginx.service"}, 5'000);
  history.birth(12, {"postgres", "postgres: main", "database", "postgres"}, 9'000);
  history.cgroup({"/system.slice/nginx.service", 12'000, {}, {}, {}, {}, {}});
  history.container({"/system.slice/nginx.service", {"docker", "3f2a4b5c6d7e", "web", "nginx:1", "", ""}});
  ProcessMappings summary{.regions = 1};
  MappingRow row{{MappingKind::file, "/usr/lib/libc.so.6"}, {}};
  row.use.regions = 1;
  summary.summary.rows.push_back(row);
  history.summary(11, summary);
  history.shmem();
  for (int hour = 0; hour < 3; ++hour) {
    for (int tick = 0; tick < 12; ++tick) {
      history.hold(11, 5'000 + 100 * hour + tick);
      history.tick();
    }
    history.flashes("sh", 3, 900);
    history.oom_kills(hour);
    history.tick(48);
    history.maintain();
  }
  history.event("degraded", "something was slow");
  history.death(12);
  history.tick(3);
  history.end_run();
  // Converts the file to the format of a copy, which needs no -wal.
  SQLite::Database(history.path(), SQLite::OPEN_READWRITE).exec("PRAGMA journal_mode = DELETE");
  return test::slurp(history.path());
}

struct Column {
  std::string table;
  std::string name;
};

std::vector<Column> columns_of(SQLite::Database& database) {
  std::vector<Column> columns;
  SQLite::Statement all(database,
                        "SELECT t.name, c.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c WHERE t.type = "
                        "'table' AND t.name NOT LIKE 'sqlite%' ORDER BY t.name, c.cid");
  while (all.executeStep()) columns.push_back({all.getColumn(0).getString(), all.getColumn(1).getString()});
  return columns;
}

// Reads numbers from the input; 0 beyond its end.
class Input {
 public:
  explicit Input(std::string_view text) : text_(text) {}

  bool at_end() const { return text_.empty(); }
  std::size_t byte() { return number(1); }
  std::size_t number(int bytes) {
    std::size_t value = 0;
    for (; bytes > 0; --bytes, text_.remove_prefix(std::min<std::size_t>(1, text_.size()))) {
      value = value * 256 + (text_.empty() ? 0 : static_cast<unsigned char>(text_.front()));
    }
    return value;
  }
  std::string bytes(std::size_t most) {
    std::string taken(text_.substr(0, most));
    text_.remove_prefix(taken.size());
    return taken;
  }

 private:
  std::string_view text_;
};

// The file of a small recording, which is restored and damaged within microseconds. It is opened once for writing, and
// has neither a -wal nor a journal.
class Damaged {
 public:
  Damaged() : path_(directory_.path() + "/memoir.db") {
    std::ofstream(path_, std::ios::binary) << recorded_bytes();
    for (const char* setting : {"journal_mode = MEMORY", "synchronous = OFF", "ignore_check_constraints = ON"}) {
      writer().exec(std::string("PRAGMA ") + setting);
    }
    columns_ = columns_of(writer());
    whole_ = test::slurp(path_);
    file_ = Fd(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
    require(file_.valid(), "the file can be written");
  }

  const std::string& path() const { return path_; }

  // Damages the file as the remaining input says. First changes values in some rows, as anyone with SQLite can, and
  // then bytes.
  void damage(Input& input) {
    write(0, whole_);
    for (std::size_t updates = input.byte() % 4; updates > 0 && !input.at_end(); --updates) update(input);
    struct stat now {};
    require(::fstat(file_.get(), &now) == 0, "the file is there");
    while (!input.at_end()) {
      // The header's first 100 bytes are checked when the file is opened.
      const auto at = 100 + static_cast<std::int64_t>(input.number(3)) % (now.st_size - 100);
      write(at, input.bytes(1 + input.byte() % 8));
    }
  }

 private:
  SQLite::Database& writer() {
    if (!writer_) writer_.emplace(path_, SQLite::OPEN_READWRITE);
    return *writer_;
  }

  void write(std::int64_t at, const std::string& bytes) const {
    const bool whole = at == 0;
    require(::pwrite(file_.get(), bytes.data(), bytes.size(), at) == static_cast<ssize_t>(bytes.size()) &&
                (!whole || ::ftruncate(file_.get(), static_cast<off_t>(bytes.size())) == 0),
            "the file is written");
  }

  void update(Input& input) {
    const Column& column = columns_[input.number(2) % columns_.size()];
    const std::int64_t number = kNumbers[input.byte() % kNumbers.size()];
    const std::size_t row = input.byte();
    try {
      // Changes one row, or all rows by the same amount. Texts become digits, and blobs are truncated.
      const std::string condition = row >= 200 ? ""
                                               : " WHERE (" + column.name + ") IN (SELECT " + column.name + " FROM " +
                                                     column.table + " LIMIT 1 OFFSET " + std::to_string(row % 16) + ")";
      SQLite::Statement update(writer(), "UPDATE OR IGNORE " + column.table + " SET " + column.name +
                                             " = CASE typeof(" + column.name + ") WHEN 'blob' THEN substr(" +
                                             column.name + ", 1, abs(?1 % 16)) ELSE ?1 END" + condition);
      update.bind(1, number);
      update.exec();
    } catch (const SQLite::Exception&) {  // a constraint that is still enforced
    }
  }

  test::TemporaryDirectory directory_;
  std::string path_;
  std::optional<SQLite::Database> writer_;
  std::vector<Column> columns_;
  std::string whole_;
  Fd file_;
};

void require_answered(const Words& words, const std::string& path) {
  Words arguments = words;
  arguments.insert(arguments.end(), {"--utc", "--db", path});
  const test::ManualClock clock({test::History::kStart + 3 * test::History::kHour, 0});
  const query::Outcome outcome = query::run_query(arguments, clock);
  const bool says_why = !outcome.error.empty() || !outcome.out.empty();
  require(outcome.exit == query::Exit::answered || says_why, "a result is absent only with a message");
  std::string_view error = outcome.error;
  while (!error.empty()) {
    const std::string_view line = cut_line(error);
    require(to_printable(line) == line, "messages are printable");
  }
  if (outcome.exit != query::Exit::answered || words.back() != "json") return;
  require(nlohmann::json::accept(outcome.out), "JSON is JSON");
}

}  // namespace

// The first byte chooses the query. Then follow the number of rows to change, and these rows. The remaining bytes
// damage the file: positions, lengths and values.
void database(std::string_view text) {
  log_level(LogLevel::error);
  static Damaged damaged;
  Input input(text);
  const std::size_t which = input.byte();
  Words words = questions()[which % questions().size()];
  if (which >= 128 && std::ranges::find(words, "--format") == words.end()) {
    words.insert(words.end(), {"--format", "json"});
  }
  if (words.front() == "export" && words.back() == "json") words.resize(1);
  damaged.damage(input);
  require_answered(words, damaged.path());
}

}  // namespace memoir::fuzz
