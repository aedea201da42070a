// Attacks on the recorder by an unprivileged user: runs memoird and twenty idle processes while tests/e2e/attacker.cpp
// attacks. Prints the recorder's cost, whether the PSS of the idle processes stayed right, how many of all ticks since
// the start are kept, and how long after the attack the ticks cost as little as before.
//
// attack_bench [PROCESSES [INTERVAL [SECONDS [ATTACK]]]]: by default 60 attacking processes, an interval of 10 s and
// two minutes of each attack. The attacks "short", "folders" and "cgroups" create 250, 300 and 75 objects a second;
// "nested" has seven processes, "pipes" 16 and "texts" 10,000. The benchmark needs root, because the attacker is
// another user. The attack "cap" is "names" with max_size = 16 MiB and ticks of 200 ms. It runs until the file is full,
// and then half as long again.

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <optional>
#include <signal.h>
#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/file.h"
#include "e2e/holder.h"
#include "population.h"
#include "proc/proc_fs.h"
#include "proc/status.h"
#include "support/child.h"
#include "support/temporary_directory.h"

using namespace memoir;
using namespace memoir::bench;

namespace {

constexpr std::size_t kBystanders = 20;
constexpr std::int64_t kCapBytes = 16 * 1024 * 1024;

struct Plan {
  std::string processes = "60";
  std::string interval = "10s";
  std::chrono::seconds lasts{120};
};

struct Seen {
  std::int64_t rss_kib = 0;
  std::int64_t cpu_ms = 0;
};

Seen look(pid_t pid) {
  Buffer buffer;
  const ProcFs proc;
  ProcessMemory memory;
  const auto status = read_file(proc.path(pid, PidFile::status), buffer);
  if (!status || !parse_status(*status, memory)) throw std::runtime_error("memoird ended");
  timespec time{};
  clockid_t clock{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) throw std::runtime_error("no clock");
  return {memory.or_zero(ProcessField::vm_hwm), time.tv_sec * 1000 + time.tv_nsec / 1'000'000};
}

std::int64_t file_bytes(const std::string& db) {
  std::int64_t bytes = 0;
  for (const char* suffix : {"", "-wal"}) {
    std::error_code error;
    const auto size = std::filesystem::file_size(db + suffix, error);
    if (!error) bytes += static_cast<std::int64_t>(size);
  }
  return bytes;
}

std::int64_t number(const std::string& db, const std::string& sql) {
  const SQLite::Database database(db, SQLite::OPEN_READONLY, 5000);
  SQLite::Statement statement(database, sql);
  return statement.executeStep() ? statement.getColumn(0).getInt64() : 0;
}

// PSS of our idle processes, as recorded at a tick.
std::map<std::int64_t, std::int64_t> pss_of_ours(const std::string& db, std::int64_t tick) {
  const SQLite::Database database(db, SQLite::OPEN_READONLY, 5000);
  SQLite::Statement rows(database,
                         "SELECT pid, pss_kib FROM process_at WHERE tick_id = ? AND comm = 'attack_bench' AND pid <> ? "
                         "AND pss_kib IS NOT NULL");
  rows.bind(1, tick);
  rows.bind(2, getpid());
  std::map<std::int64_t, std::int64_t> pss;
  while (rows.executeStep()) pss[rows.getColumn(0).getInt64()] = rows.getColumn(1).getInt64();
  return pss;
}

// Returns how many of our processes had the same PSS at that tick as before, within 5 %. Others who map the same
// libraries change it a little.
std::int64_t count_right(const std::map<std::int64_t, std::int64_t>& before, const std::string& db, std::int64_t tick) {
  const auto now = pss_of_ours(db, tick);
  return std::ranges::count_if(before, [&](const auto& process) {
    const auto found = now.find(process.first);
    return found != now.end() && std::abs(found->second - process.second) * 20 <= process.second;
  });
}

class Attack {
 public:
  Attack(const std::string& name, const Plan& plan, uid_t user, const std::string& folder) {
    if (name == "arguments") {
      holder_.emplace(folder, std::vector<std::string>{}, user);
      denied_ = holder_->ask("arguments 24576") == "denied\n";
      for (int i = 1; i < std::stoi(plan.processes); ++i) holder_->run("fork");
    } else {
      attacker_.emplace(
          test::Program{.path = MEMOIR_ATTACKER, .arguments = {name, count_of(name, plan), std::to_string(user)}});
      test::wait_until("the attack", [&] { return attacker_->output().ends_with('\n'); });
      denied_ = attacker_->output() == "denied\n";
    }
  }

  ~Attack() {
    attacker_.reset();
    try {
      test::Child({.path = MEMOIR_ATTACKER, .arguments = {"remove", "0"}}).wait();
    } catch (const std::exception& error) {
      fmt::print(stderr, "attack_bench: folders and cgroups are left: {}\n", error.what());
    }
  }
  Attack(const Attack&) = delete;
  Attack& operator=(const Attack&) = delete;

  bool denied() const { return denied_; }
  // A new name makes the recorder read the command line again.
  void stir() {
    if (holder_) holder_->run(++stirred_ % 2 == 0 ? "comm 6161" : "comm 6262");
  }

 private:
  static std::string count_of(const std::string& name, const Plan& plan) {
    for (const auto& [of, count] : {std::pair("short", "250"),
                                    {"folders", "300"},
                                    {"cgroups", "75"},
                                    {"nested", "7"},
                                    {"pipes", "16"},
                                    {"texts", "10000"}}) {
      if (name == of) return count;
    }
    return plan.processes;
  }

  std::optional<test::Holder> holder_;
  std::optional<test::Child> attacker_;
  bool denied_ = false;
  int stirred_ = 0;
};

// Mean cost of the last ticks.
struct TickCostMs {
  double wall = 0;
  double cpu = 0;
};

TickCostMs last_ticks(const std::string& db, int count) {
  const std::string last = fmt::format(" FROM (SELECT * FROM tick ORDER BY id DESC LIMIT {})", count);
  return {static_cast<double>(number(db, "SELECT avg(duration_ms)" + last)),
          static_cast<double>(number(db, "SELECT avg(cpu_us)" + last)) / 1000.0};
}

// Seconds until two ticks in a row cost at most twice as much as before the attack, or 20 ms more. -1: not within five
// minutes.
double wait_for_normal(const std::string& db, const TickCostMs& before) {
  const auto begin = std::chrono::steady_clock::now();
  const std::int64_t end_tick = number(db, "SELECT max(id) FROM tick");
  while (true) {
    const std::chrono::duration<double> past = std::chrono::steady_clock::now() - begin;
    const TickCostMs now = last_ticks(db, 2);
    const bool two = number(db, "SELECT max(id) FROM tick") >= end_tick + 2;
    if (two && now.cpu <= std::max(2 * before.cpu, before.cpu + 20)) return past.count();
    if (past > std::chrono::minutes(5)) return -1;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

void watch(const std::string& name, const Plan& plan, uid_t user) {
  const bool fills = name == "cap";
  const std::string interval = fills ? "200ms" : plan.interval;
  const Population bystanders(kBystanders, 2048);
  const test::TemporaryDirectory folder;
  chmod(folder.path().c_str(), 0777);
  const std::string db = folder.path() + "/memoir.db";
  const std::string config = folder.path() + "/memoir.toml";
  std::ofstream(config) << (fills ? "[store]\nmax_size = \"16MiB\"\n" : "");
  test::Child recorder({.path = MEMOIRD, .arguments = {"--db", db, "--interval", interval, "--config", config}});
  // The usual cost is measured from the second tick on, because the first one reads everything.
  test::wait_until("three ticks", [&] {
    if (!recorder.running()) throw std::runtime_error("memoird: " + recorder.errors());
    try {
      return file_bytes(db) > 0 && number(db, "SELECT count(*) FROM tick") >= 3;
    } catch (const SQLite::Exception&) {
      return false;  // it is being created
    }
  });
  const TickCostMs before_ms = last_ticks(db, 2);
  const auto pss_before = pss_of_ours(db, number(db, "SELECT max(id) FROM tick"));

  std::optional<Attack> attack(std::in_place, fills ? "names" : name, plan, user, folder.path());
  if (attack->denied()) {
    fmt::print("{:<10} this machine does not let it be done\n", name);
    return;
  }
  const Seen before = look(recorder.pid());
  const std::int64_t first_tick = number(db, "SELECT max(id) FROM tick") + 1;
  const auto begin = std::chrono::steady_clock::now();
  std::int64_t max_bytes = 0;
  std::int64_t longest_ms = 0;
  std::chrono::steady_clock::duration to_cap{};
  while (true) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    if (!recorder.running()) throw std::runtime_error("memoird ended: " + recorder.errors());
    attack->stir();
    max_bytes = std::max(max_bytes, file_bytes(db));
    longest_ms =
        std::max(longest_ms, number(db, fmt::format("SELECT max(duration_ms) FROM tick WHERE id >= {}", first_tick)));
    const auto past = std::chrono::steady_clock::now() - begin;
    if (!fills && past >= plan.lasts) break;
    // The oldest ticks are deleted when the file is full.
    if (fills && to_cap.count() == 0 && number(db, "SELECT min(id) FROM tick") > 1) to_cap = past;
    if (fills && ((to_cap.count() > 0 && past >= to_cap * 3 / 2) || past > std::chrono::minutes(30))) break;
  }
  const auto past = std::chrono::steady_clock::now() - begin;
  const Seen after = look(recorder.pid());
  const std::int64_t kept = number(db, "SELECT count(*) FROM tick");
  const std::int64_t taken = number(db, "SELECT max(id) FROM tick");
  const std::string ticks =
      fmt::format(" FROM tick WHERE id BETWEEN max({}, (SELECT min(id) FROM tick) + 1) AND ", first_tick) +
      "(SELECT max(id) FROM tick) - 1";
  const std::int64_t last_tick = number(db, "SELECT max(id)" + ticks);
  auto worst_right = static_cast<std::int64_t>(last_tick == 0 ? 0 : pss_before.size());
  for (std::int64_t tick = std::max(number(db, "SELECT min(id)" + ticks), last_tick - 19); tick <= last_tick; ++tick)
    worst_right = std::min(worst_right, count_right(pss_before, db, tick));
  attack.reset();
  const double normal_s = wait_for_normal(db, before_ms);
  fmt::print("{:<10}{:>9}{:>7}{:>12}{:>10.1f}{:>9.1f}{:>11}/{}{:>10}/{}{:>8.1f}{:>11.0f}", name, interval,
             number(db, "SELECT count(*)" + ticks), longest_ms, static_cast<double>(after.rss_kib) / 1024.0,
             static_cast<double>(after.cpu_ms - before.cpu_ms) * 100.0 /
                 static_cast<double>(std::chrono::duration_cast<std::chrono::milliseconds>(past).count()),
             worst_right, kBystanders, kept, taken, static_cast<double>(max_bytes) / 1048576.0, normal_s);
  if (fills) {
    fmt::print("   file at most {:.1f} MiB ({:.0f} % of max_size), {:.0f} s to it",
               static_cast<double>(max_bytes) / 1048576.0, static_cast<double>(max_bytes) * 100.0 / kCapBytes,
               std::chrono::duration<double>(to_cap).count());
  }
  fmt::print("\n");
  std::fflush(stdout);
  recorder.signal(SIGTERM);
  if (recorder.wait() != 0) throw std::runtime_error("memoird: " + recorder.errors());
}

}  // namespace

int main(int argc, char** argv) try {
  Plan plan;
  if (argc > 1) plan.processes = argv[1];
  if (argc > 2) plan.interval = argv[2];
  if (argc > 3) plan.lasts = std::chrono::seconds(std::atoi(argv[3]));
  const auto user = test::other_user();
  if (!user) throw std::runtime_error("needs root, to run the attack as another user");
  fmt::print("{} processes of uid {}; targets: 2000 ms, 64 MiB, 10 %, all, all, max_size, 300 s\n\n", plan.processes,
             *user);
  fmt::print("{:<10}{:>9}{:>7}{:>12}{:>10}{:>9}{:>14}{:>13}{:>8}{:>11}\n", "attack", "interval", "ticks", "longest ms",
             "HWM, MiB", "CPU, %", "ours right", "ticks kept", "file", "normal, s");
  std::vector<std::string> attacks{"arguments", "locked", "tables", "names", "short", "folders",
                                   "cgroups",   "nested", "pipes",  "texts", "cap"};
  if (argc > 4) attacks = {argv[4]};
  int status = 0;
  for (const std::string& attack : attacks) {
    try {
      watch(attack, plan, *user);
    } catch (const std::exception& error) {
      fmt::print("{:<10} {}\n", attack, error.what());
      status = 1;
    }
  }
  return status;
} catch (const std::exception& error) {
  fmt::print(stderr, "attack_bench: {}\n", error.what());
  return 1;
}
