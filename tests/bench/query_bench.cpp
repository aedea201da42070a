// Cost of each command of memoir on a large file, measured on the whole program. Also the cost of each query of
// docs/sql.md, and of each view of a tick over 60 ticks.
//
// query_bench F.db [--runs N]
// To make a file like a month's recording of a busy server: soak_bench --days 30 --processes 500 -o F.db

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "cost.h"
#include "store/mappings.h"
#include "store/reader.h"
#include "store/shmem_state.h"
#include "support/slurp.h"
#include "support/temporary_directory.h"

namespace memoir::test {
namespace {

using bench::need;

constexpr double kMaxMs = 300;
constexpr double kMaxSqlMs = 2000;
constexpr double kMaxMib = 100;

using Words = std::vector<std::string>;

struct Cost {
  double wall_ms = 0;
  double cpu_ms = 0;
  double mib = 0;
};

double ms_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) * 1000 + static_cast<double>(time.tv_usec) / 1000;
}

// Discards the output.
Cost run_once(Words words, const std::string& db) {
  words.insert(words.begin(), MEMOIR);
  words.insert(words.end(), {"--db", db});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions{};
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  const auto begin = std::chrono::steady_clock::now();
  pid_t pid = 0;
  const int failed = posix_spawn(&pid, MEMOIR, &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error(MEMOIR " cannot be run");
  int status = 0;
  rusage usage{};
  if (wait4(pid, &status, 0, &usage) != pid) throw std::runtime_error("a child was lost");
  const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - begin;
  words.pop_back();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw std::runtime_error(fmt::format("failed: {}", fmt::join(words, " ")));
  }
  return {wall.count(), ms_of(usage.ru_utime) + ms_of(usage.ru_stime), static_cast<double>(usage.ru_maxrss) / 1024};
}

// Evicts the file from the page cache, so that the next run reads it from disk.
void evict(const std::string& db) {
  const int file = open(db.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw std::runtime_error(db + " cannot be read");
  fdatasync(file);
  posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  close(file);
}

double median(const std::vector<Cost>& costs, double Cost::*part) {
  std::vector<double> values;
  values.reserve(costs.size());
  for (const Cost& cost : costs) values.push_back(cost.*part);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::string at(std::int64_t ms) {
  return fmt::format("@{}", ms);
}

// Queries about the details of memory, of all processes and of one, if the file has details.
Result<std::vector<Words>> holder_questions(Reader& reader, const Snapshot& now) {
  std::vector<Words> all;
  const auto ask = [&all](Words words) { all.push_back(std::move(words)); };
  for (const char* command : {"memory", "tree"}) ask({command});
  for (const char* format : {"smaps-rollup", "category-metrics"}) ask({"export", "--format", format});
  const auto summaries = TRY(load_summaries(reader, now.tick.id));
  if (!summaries.empty()) {
    ask({"objects"});
    ask({"objects", "--ownerless"});
    ask({"mappings", std::to_string(summaries.front().summary.process.pid)});
  }
  const auto mounts = TRY(load_tmpfs(reader, now.tick.id, 0));
  if (!mounts.empty()) {
    ask({"tmpfs"});
    ask({"tmpfs", mounts.front().sample.mount_point});
  }
  const auto segments = TRY(load_segments(reader, now.tick.id));
  if (!segments.empty()) ask({"shm"});
  if (now.cgroups.empty()) return all;
  ask({"cgroups"});
  ask({"cgroups", "cgroup:" + now.cgroups.back().path});
  ask({"top", "--group", "container"});
  return all;
}

// Every command, for recent and for old times.
std::vector<Words> questions(const std::string& db, const std::string& folder) {
  constexpr std::int64_t hour_ms = 3'600'000;
  constexpr std::int64_t day_ms = 24 * hour_ms;
  const auto reader = need(Reader::open(db));
  const FileInfo info = need(reader->info());
  const std::int64_t last = info.last_tick_ms;
  const Snapshot now = need(reader->snapshot(need(reader->tick_at(last)).value().id));
  const ProcessInfo& process = now.processes.back().process.info;
  const std::string category = "category:" + process.category;
  const std::string yesterday =
      fmt::format("{:%Y-%m-%d}", fmt::gmtime(static_cast<std::time_t>((last - day_ms) / 1000)));
  const std::string copy = folder + "/copy.db";
  std::vector<Words> all{
      {"status"},
      {"top"},
      {"top", "--at", at(last - 3 * day_ms)},
      {"top", "--group", "identity"},
      {"top", "--last", "1h"},
      {"top", "--last", "2h"},
      {"top", "--last", "1d"},
      {"top", "--last", "7d"},
      {"top", "--last", "30d"},
      {"trend", "machine"},
      {"trend", "machine", "--last", "30d"},
      {"trend", category, "--last", "7d"},
      {"trend", category, "--last", "30d"},
      {"trend", std::to_string(process.key.pid)},
      {"trend", std::to_string(process.key.pid), "--last", "7d"},
      {"trend", "user:" + process.user},
      {"peaks"},
      {"peaks", "--last", "2h"},
      {"peaks", "--last", "1d"},
      {"peaks", "--last", "7d", "--group", "category"},
      {"peaks", "--group", "user", "--last", "2h"},
      {"peaks", "--group", "user"},
      {"leaks"},
      {"diff", at(last - hour_ms), at(last)},
      {"diff", at(last - 6 * day_ms), at(last), "--group", "category"},
      {"summary", "--utc", "--day", yesterday},
      {"summary", "--utc", "--day", yesterday, "--format", "html"},
      {"processes"},
      {"processes", "--last", "1d"},
      {"categories"},
      {"categories", "--last", "7d"},
      {"events"},
      {"incident"},
      {"incident", "--at", at(last - 3 * day_ms)},
      {"incidents"},
      {"export", "--last", "1d"},
      {"export", "processes", "--last", "1h", "--format", "openmetrics"},
      {"export", "--format", "openmetrics", "--at", at(last), "--textfile", folder + "/memoir.prom"},
      {"extract", "--last", "1h", "--force", "-o", copy},
      {"doctor"},
  };
  const std::vector<Words> holders = need(holder_questions(*reader, now));
  all.insert(all.end(), holders.begin(), holders.end());
  return all;
}

// Returns false for commands that write or check much of the file. Their work is proportional to its size, so they have
// no latency target.
bool is_answer(const Words& words) {
  return words[0] != "export" && words[0] != "extract" && words[0] != "doctor";
}

double max_ms_of(const Words& words) {
  if (words[0] == "incident") return 200;
  if (words[0] == "summary") return 400;
  return words[0] == "leaks" ? 1000 : kMaxMs;
}

struct Query {
  std::string name;
  std::string sql;
};

std::vector<Query> queries(SQLite::Database& database) {
  std::vector<Query> all;
  // The queries on the page use this time; it is replaced by one three days ago.
  const std::string written = "2026-11-20 03:14";
  const std::string asked =
      database.execAndGet("SELECT datetime(MAX(wall_ms) / 1000 - 3 * 86400, 'unixepoch', 'localtime') FROM tick")
          .getString();
  const std::string page = slurp(MEMOIR_SOURCE "/docs/sql.md");
  const std::string begin = "```sql\n";
  for (std::size_t at = page.find(begin); at != std::string::npos; at = page.find(begin, at)) {
    at += begin.size();
    Query& query = all.emplace_back(
        Query{fmt::format("docs/sql.md {}", all.size() + 1), page.substr(at, page.find("```", at) - at)});
    if (const auto time = query.sql.find(written); time != std::string::npos)
      query.sql.replace(time, written.size(), asked);
  }
  for (const char* view : {"process_at", "category_at", "cgroup_at", "machine_at"}) {
    all.push_back({fmt::format("60 ticks of {}", view),
                   fmt::format("SELECT * FROM {} WHERE tick_id BETWEEN (SELECT MAX(id) - 89 FROM tick) AND "
                               "(SELECT MAX(id) - 30 FROM tick)",
                               view)});
  }
  return all;
}

void measure_sql(const std::string& db, int runs) {
  SQLite::Database database(db, SQLite::OPEN_READONLY);
  fmt::print("\n{:>8} {:>8}  SQL; + is beyond {} ms\n", "wall ms", "rows", kMaxSqlMs);
  for (const Query& query : queries(database)) {
    std::vector<Cost> costs;
    int rows = 0;
    for (int i = 0; i < runs; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      SQLite::Statement statement(database, query.sql);
      for (rows = 0; statement.executeStep(); ++rows) continue;
      const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - begin;
      costs.push_back({.wall_ms = wall.count()});
    }
    const double wall_ms = median(costs, &Cost::wall_ms);
    fmt::print("{:>8.0f}{}{:>8}  {}\n", wall_ms, wall_ms > kMaxSqlMs ? "+" : " ", rows, query.name);
    std::fflush(stdout);
  }
}

void measure(const std::string& db, int runs) {
  const TemporaryDirectory folder;
  fmt::print(
      "{}, {} MiB; the median of {} runs of the whole program. Cold: the file was evicted from the page cache before\n"
      "each. + is beyond the target of a warm one: {} ms an answer, 200 ms incident, 400 ms summary, 1000 ms leaks;\n"
      "{} MiB.\n\n",
      db, std::filesystem::file_size(db) >> 20, runs, kMaxMs, kMaxMib);
  fmt::print("{:>8} {:>8} {:>8} {:>7}  {}\n", "wall ms", "CPU ms", "cold ms", "MiB", "memoir");
  for (const Words& words : questions(db, folder.path())) {
    run_once(words, db);
    std::vector<Cost> costs;
    for (int i = 0; i < runs; ++i) costs.push_back(run_once(words, db));
    const Cost cost{median(costs, &Cost::wall_ms), median(costs, &Cost::cpu_ms), median(costs, &Cost::mib)};
    std::vector<Cost> cold;
    for (int i = 0; i < runs; ++i) {
      evict(db);
      cold.push_back(run_once(words, db));
    }
    fmt::print("{:>8.0f}{}{:>8.0f} {:>8.0f} {:>7.1f}{} {}\n", cost.wall_ms,
               is_answer(words) && cost.wall_ms > max_ms_of(words) ? "+" : " ", cost.cpu_ms,
               median(cold, &Cost::wall_ms), cost.mib, cost.mib > kMaxMib ? "+" : " ", fmt::join(words, " "));
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace memoir::test

int main(int argc, char** argv) try {
  const bool counted = argc == 4 && std::string_view(argv[2]) == "--runs";
  int runs = 5;
  if (counted) std::from_chars(argv[3], argv[3] + std::string_view(argv[3]).size(), runs);
  if ((argc != 2 && !counted) || runs < 1) throw std::runtime_error("query_bench F.db [--runs N]");
  memoir::test::measure(argv[1], runs);
  memoir::test::measure_sql(argv[1], runs);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "query_bench: {}\n", error.what());
  return 1;
}
