// How completely memoird records processes that run between two ticks, and the cost of a flood of exits. Real
// processes, with the default configuration.
//
// exits_bench [SECONDS [STORM_SECONDS [PER_SECOND]]]: by default a minute of 20 children a second, and then 10 s of
// 5,000 exits a second. Each child uses 50 to 300 MiB and runs for 20 to 80 ms.

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "cost.h"
#include "support/child.h"
#include "support/temporary_directory.h"

using namespace memoir::test;
using Clock = std::chrono::steady_clock;

namespace {

class Recorded {
 public:
  explicit Recorded(const std::string& folder) : path_(folder + "/memoir.db"), recorder_(program(folder)) {
    wait_until("the first tick", [&] { return number("SELECT COUNT(*) FROM tick") > 0; });
  }
  double cpu() const { return memoir::bench::cpu_ms_of(recorder_.pid()); }
  void stop() {
    recorder_.signal(SIGTERM);
    recorder_.wait();
  }
  std::int64_t number(const std::string& sql) const {
    try {
      SQLite::Database database(path_, SQLite::OPEN_READONLY);
      database.setBusyTimeout(5'000);
      return database.execAndGet(sql).getInt64();
    } catch (const SQLite::Exception&) {
      return 0;  // no tick stored yet
    }
  }
  const std::string& path() const { return path_; }

 private:
  static Program program(const std::string& folder) {
    std::ofstream(folder + "/memoir.toml") << "[recorder]\ndb = \"" << folder << "/memoir.db\"\n";
    return {MEMOIRD, {"--config", folder + "/memoir.toml"}};
  }
  std::string path_;
  Child recorder_;
};

[[noreturn]] void take_and_end(std::size_t mib, std::chrono::milliseconds life) {
  const auto end = Clock::now() + life;
  void* const memory =
      ::mmap(nullptr, mib << 20U, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) ::_exit(1);
  std::this_thread::sleep_until(end);
  ::_exit(0);
}

// Peaks by pid, as wait4() returns them to the parent.
std::map<pid_t, std::int64_t> run_children(int seconds) {
  std::mt19937 random(7);
  std::map<pid_t, std::int64_t> peaks;
  std::size_t begun = 0;
  const auto reap = [&](int flags) {
    rusage used{};
    const pid_t pid = ::wait4(-1, nullptr, flags, &used);
    if (pid > 0) peaks[pid] = used.ru_maxrss;
    return pid > 0;
  };
  for (int i = 0; i < seconds * 20; ++i) {
    const auto mib = std::uniform_int_distribution<std::size_t>(50, 300)(random);
    const std::chrono::milliseconds life(std::uniform_int_distribution<int>(20, 80)(random));
    const auto next = Clock::now() + std::chrono::milliseconds(50);
    const pid_t pid = ::fork();
    if (pid == 0) take_and_end(mib, life);
    begun += pid > 0 ? 1U : 0U;
    std::this_thread::sleep_until(next);
    while (reap(WNOHANG)) continue;
  }
  while (peaks.size() < begun && reap(0)) continue;
  return peaks;
}

void compare(const Recorded& recorded, const std::map<pid_t, std::int64_t>& peaks) {
  SQLite::Database database(recorded.path(), SQLite::OPEN_READONLY);
  SQLite::Statement rows(database,
                         "SELECT p.pid, e.peak_kib FROM process_exit AS e JOIN process AS p ON p.id = e.process_id "
                         "WHERE p.parent_pid = ? AND e.peak_kib IS NOT NULL");
  rows.bind(1, static_cast<int>(::getpid()));
  std::size_t kept = 0;
  std::size_t near = 0;
  double worst = 0;
  while (rows.executeStep()) {
    const auto truth = peaks.find(rows.getColumn(0).getInt());
    if (truth == peaks.end()) continue;
    ++kept;
    const std::int64_t off_kib = std::abs(rows.getColumn(1).getInt64() - truth->second);
    near += off_kib <= std::max<std::int64_t>(truth->second / 20, 1024) ? 1U : 0U;
    worst = std::max(worst, 100.0 * static_cast<double>(off_kib) / static_cast<double>(truth->second));
  }
  const std::int64_t summed = recorded.number("SELECT COALESCE(SUM(count), 0) FROM exit_sum WHERE peak_kib > 16384");
  fmt::print(
      "children {}, with a row of their own {}, in sums {}; peaks within 5 % or 1 MiB {}, worst error {:.2f} %\n",
      peaks.size(), kept, summed, near, worst);
}

void storm(const Recorded& recorded, int seconds, int per_second) {
  const double before = recorded.cpu();
  const auto begin = Clock::now();
  std::int64_t ended = 0;
  while (Clock::now() - begin < std::chrono::seconds(seconds)) {
    const auto due = std::chrono::duration<double>(Clock::now() - begin).count() * per_second;
    for (; static_cast<double>(ended) < due; ++ended) {
      const pid_t pid = ::fork();
      if (pid == 0) ::_exit(0);
      ::waitpid(pid, nullptr, 0);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const double took = std::chrono::duration<double>(Clock::now() - begin).count();
  const double used = recorded.cpu() - before;
  fmt::print("storm: {} exits in {:.1f} s ({:.0f} a second); the recorder used {:.0f} ms of CPU, {:.2f} % of a core\n",
             ended, took, static_cast<double>(ended) / took, used, used / took / 10);
}

int run(int seconds, int storm_seconds, int per_second) {
  const TemporaryDirectory folder;
  Recorded recorded(folder.path());
  const std::int64_t ticks = recorded.number("SELECT COUNT(ends) FROM tick");
  if (ticks == 0) {
    fmt::print("Exits are not reported here: BPF is not permitted (memoir status shows the reason).\n");
    return EXIT_FAILURE;
  }
  const auto peaks = run_children(seconds);
  storm(recorded, storm_seconds, per_second);
  recorded.stop();
  compare(recorded, peaks);
  fmt::print("reported: {} exits; lost: {} events; rows: {} exits, {} sums\n",
             recorded.number("SELECT SUM(ends) FROM tick"), recorded.number("SELECT SUM(lost_events) FROM tick"),
             recorded.number("SELECT COUNT(*) FROM process_exit"), recorded.number("SELECT COUNT(*) FROM exit_sum"));
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int index, int otherwise) { return argc > index ? std::atoi(argv[index]) : otherwise; };
  return run(number(1, 60), number(2, 10), number(3, 5'000));
}
