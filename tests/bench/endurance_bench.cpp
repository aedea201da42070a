// Runs the recorder with every feature, over the processes of the peers benchmark and many short-lived ones. Prints the
// values that must stay flat (memory, descriptors), late ticks, warnings, and the exit status.
//
// endurance_bench [SECONDS [INTERVAL [PROCESSES [STARTS [MEMOIRD]]]]]: by default two hours, an interval of 1 s, 300
// processes and 10 starts a second. Each started process uses up to 8 MiB for up to two seconds. MEMOIRD is by default
// the memoird of this build.

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "base/file.h"
#include "cost.h"
#include "peers/herd.h"
#include "proc/proc_fs.h"
#include "proc/status.h"
#include "support/child.h"
#include "support/temporary_directory.h"

using namespace memoir;
using namespace memoir::bench;
using Steady = std::chrono::steady_clock;
namespace fs = std::filesystem;

namespace {

constexpr int kLines = 24;

struct Plan {
  int seconds = 7200;
  std::string interval = "1s";
  std::size_t processes = 300;
  int births = 10;
  std::string memoird = MEMOIRD;
};

// A process that starts this many short-lived processes a second until it is killed.
class Births {
 public:
  explicit Births(int per_second) : pid_(::fork()) {
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::signal(SIGCHLD, SIG_IGN);
    std::mt19937 random(7);
    while (per_second == 0) ::pause();
    const auto pause = std::chrono::microseconds(1'000'000 / per_second);
    for (auto next = Steady::now();; std::this_thread::sleep_until(next += pause)) {
      const std::size_t bytes = std::uniform_int_distribution<std::size_t>(1, 2048)(random) * 4096;
      const std::chrono::milliseconds life(std::uniform_int_distribution<int>(1, 2000)(random));
      if (::fork() == 0) live(bytes, life);
    }
  }
  ~Births() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Births(const Births&) = delete;
  Births& operator=(const Births&) = delete;

 private:
  [[noreturn]] static void live(std::size_t bytes, std::chrono::milliseconds life) {
    ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    std::this_thread::sleep_for(life);
    ::_exit(0);
  }
  pid_t pid_;
};

class Endurance {
 public:
  explicit Endurance(Plan plan) : plan_(std::move(plan)) {
    std::ofstream(folder_.path() + "/memoir.toml") << "[recorder]\ndb = \"" << db_ << "\"\ninterval = \""
                                                   << plan_.interval << "\"\n[mappings]\ninterval = \"1m\"\n"
                                                   << "[tmpfs]\ninterval = \"1m\"\n[alert]\nexec = [\"/bin/true\"]\n";
  }

  int run() {
    const Herd herd(plan_.processes, 2048);
    const Births births(plan_.births);
    test::Child recorder({.path = plan_.memoird, .arguments = {"--config", folder_.path() + "/memoir.toml"}});
    fmt::print("memoird over {} processes and {} births a second, ticks at {}, {} s\n\n", plan_.processes, plan_.births,
               plan_.interval, plan_.seconds);
    fmt::print("{:>8}{:>12}{:>12}{:>14}{:>12}{:>14}\n", "after s", "VmRSS KiB", "RssAnon", "descriptors", "CPU %",
               "database KiB");
    const auto begin = Steady::now();
    double before_ms = 0;
    for (int line = 1; line <= kLines; ++line) {
      std::this_thread::sleep_until(begin + std::chrono::seconds(plan_.seconds) * line / kLines);
      if (!recorder.running()) throw std::runtime_error("memoird ended: " + recorder.errors());
      const double used_ms = cpu_ms_of(recorder.pid());
      print_line(recorder.pid(), plan_.seconds * line / kLines, (used_ms - before_ms) / plan_.seconds * kLines / 10);
      before_ms = used_ms;
    }
    recorder.signal(SIGTERM);
    const int status = recorder.wait();
    format_wait_status(recorder, status);
    return status;
  }

 private:
  void print_line(pid_t pid, int seconds, double cpu) const {
    Buffer buffer;
    ProcessMemory memory;
    const auto text = read_file(ProcFs().path(pid, PidFile::status), buffer);
    if (text) static_cast<void>(parse_status(*text, memory));
    std::error_code ignored;
    const auto descriptors = std::ranges::distance(fs::directory_iterator(fmt::format("/proc/{}/fd", pid), ignored));
    fmt::print("{:>8}{:>12}{:>12}{:>14}{:>12.2f}{:>14}\n", seconds, memory.or_zero(ProcessField::vm_rss),
               memory.or_zero(ProcessField::rss_anon), descriptors, cpu, fs::file_size(db_, ignored) / 1024);
    std::fflush(stdout);
  }

  std::int64_t number(const char* sql) const {
    return SQLite::Database(db_, SQLite::OPEN_READONLY).execAndGet(sql).getInt64();
  }

  void format_wait_status(const test::Child& recorder, int status) const {
    const std::int64_t ticks = number("SELECT COUNT(*) FROM tick");
    const std::int64_t late = number("SELECT COALESCE(SUM(skipped), 0) FROM tick");
    const std::int64_t slots = std::max<std::int64_t>(ticks + late, 1);
    fmt::print("\n{} ticks stored, {} slots missed ({:.2f} %); exits reported {}, lost events {}\n", ticks, late,
               100.0 * static_cast<double>(late) / static_cast<double>(slots),
               number("SELECT COUNT(*) + (SELECT COALESCE(SUM(count), 0) FROM exit_sum) FROM process_exit"),
               number("SELECT COALESCE(SUM(lost_events), 0) FROM tick"));
    const std::string log = recorder.errors();
    int warnings = 0;
    std::size_t at = 0;
    for (std::size_t end = 0; (end = log.find('\n', at)) != std::string::npos; at = end + 1) {
      const std::string line = log.substr(at, end - at);
      if (line.find(" warning: ") == std::string::npos && line.find(" error: ") == std::string::npos) continue;
      if (++warnings <= 20) fmt::print("{}\n", line);
    }
    fmt::print("{} warnings and errors; exit status {}\n", warnings, status);
  }

  Plan plan_;
  test::TemporaryDirectory folder_;
  std::string db_ = folder_.path() + "/memoir.db";
};

}  // namespace

int main(int argc, char** argv) try {
  Plan plan;
  if (argc > 1) plan.seconds = std::atoi(argv[1]);
  if (argc > 2) plan.interval = argv[2];
  if (argc > 3) plan.processes = std::strtoul(argv[3], nullptr, 10);
  if (argc > 4) plan.births = std::atoi(argv[4]);
  if (argc > 5) plan.memoird = argv[5];
  return Endurance(std::move(plan)).run();
} catch (const std::exception& error) {
  fmt::print(stderr, "endurance_bench: {}\n", error.what());
  return 1;
}
