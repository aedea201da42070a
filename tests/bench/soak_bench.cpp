// Simulated months through the real writer with retention, on a simulated clock at full speed. Measures the size of the
// file, the cost of a tick, and the length of maintenance writes.
//
// soak_bench [--days N] [--processes N] [--short-lived N] [--flood N] [--cgroups N] [--interval MS] [--max-size MIB]
//   [-o F.db]
// With --flood, eight users start this many processes in the first hour of each day, with as many names as the recorder
// stores. With --cgroups there are this many cgroups, each a container, and also tmpfs mounts, SysV segments and
// mappings. With -o the file is kept for the query benchmarks.

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "cost.h"
#include "store/writer.h"
#include "support/simulated_holders.h"
#include "support/simulation.h"
#include "support/temporary_directory.h"

namespace memoir::test {
namespace {

using bench::need;

constexpr std::int64_t kDayMs = 86'400'000;
constexpr double kMib = 1024.0 * 1024.0;

struct Plan {
  std::int64_t days = 90;
  std::int64_t processes = 300;
  std::int64_t short_lived = 1000;  // per hour
  std::int64_t flood = 0;
  std::int64_t cgroups = 0;  // 0: also no tmpfs mounts, SysV segments and mappings
  std::int64_t interval_ms = 10'000;
  std::int64_t max_mib = 2048;
  std::string path;  // empty: the file is deleted
};

void need(const Status& status) {
  if (!status) throw std::runtime_error(status.error().message);
}

// A field of /proc/self/FILE. The field wchar of io counts the bytes passed to write calls, on any file system.
std::int64_t own(const char* file, std::string_view field) {
  std::ifstream in(std::string("/proc/self/") + file);
  std::string key;
  std::int64_t value = 0;
  std::string rest;
  while (in >> key >> value && std::getline(in, rest)) {
    if (key == field) return value;
  }
  return 0;
}

std::int64_t own_rss_kib() {
  std::ifstream in("/proc/self/status");
  std::string line;
  while (std::getline(in, line)) {
    if (line.starts_with("VmRSS:")) return std::strtoll(line.c_str() + 6, nullptr, 10);
  }
  return 0;
}

std::int64_t bytes_of(const std::string& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  return error ? 0 : static_cast<std::int64_t>(bytes);
}

double quantile(std::vector<std::int64_t>& values, double share) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return static_cast<double>(*at);
}

// Bytes of the pages in use, as another connection reads them.
class UsedBytes {
 public:
  explicit UsedBytes(const std::string& path)
      : database_(path, SQLite::OPEN_READONLY),
        all_(database_, "PRAGMA page_count"),
        free_(database_, "PRAGMA freelist_count"),
        page_bytes_(database_.execAndGet("PRAGMA page_size").getInt64()) {}

  std::int64_t now() { return (one(all_) - one(free_)) * page_bytes_; }

 private:
  static std::int64_t one(SQLite::Statement& statement) {
    statement.executeStep();
    const std::int64_t value = statement.getColumn(0).getInt64();
    statement.reset();
    return value;
  }

  SQLite::Database database_;
  SQLite::Statement all_;
  SQLite::Statement free_;
  std::int64_t page_bytes_;
};

// Cost of a range of days.
struct Costs {
  std::vector<std::int64_t> tick_us;     // CPU time of Writer::write()
  std::vector<std::int64_t> between_us;  // CPU time of all maintain() calls between two ticks
  std::int64_t pieces = 0;
  std::int64_t longest_cpu_us = 0;     // longest CPU time of a single maintain() call
  std::vector<std::int64_t> write_us;  // wall time of the write transactions of maintain()
  std::int64_t kept = 0;               // bytes of pages used by ticks and rollups, including deleted rows
  std::int64_t written = 0;            // bytes passed to write calls: -wal and file
};

struct Most {
  std::int64_t file = 0;  // size of the file with its -wal
  std::int64_t wal = 0;
  std::int64_t rss_kib = 0;
  std::int64_t write_us = 0;
  std::int64_t longest_cpu_us = 0;
  std::int64_t kept = 0;
  std::int64_t written = 0;
};

class Soak {
 public:
  Soak(const Plan& plan, std::string path)
      : plan_(plan),
        path_(std::move(path)),
        simulation_({.processes = static_cast<std::size_t>(plan.processes),
                     .skewed = true,
                     .short_lived = static_cast<double>(plan.short_lived),
                     .flood = plan.flood,
                     .interval_ms = plan.interval_ms}),
        holders_({.cgroups = static_cast<std::size_t>(plan.cgroups)}) {}

  void run() {
    print_head();
    begin();
    UsedBytes used(path_);
    const std::int64_t ticks = plan_.days * kDayMs / plan_.interval_ms;
    const std::int64_t report = std::max<std::int64_t>(ticks / 9, 1);
    const std::int64_t restart = 7 * kDayMs / plan_.interval_ms;
    for (std::int64_t i = 1; i <= ticks; ++i) {
      Tick tick = simulation_.next(i == ticks || i % restart == 0);
      if (plan_.cgroups > 0) holders_.add_to(tick);
      measure_tick(tick, used);
      if (i % report == 0) print_line(i);
      if (i % restart == 0 && i != ticks) restart_recorder(i % (4 * restart) == 0);
    }
    need(writer_->end_run(simulation_.now(), "stopped"));
    writer_.reset();
    print_most();
  }

 private:
  void begin() {
    Retention retention;
    retention.max_bytes = plan_.max_mib << 20;
    writer_ = need(Writer::open(path_, Durability::normal));
    need(writer_->begin_run({simulation_.boot(), 1, "soak", plan_.interval_ms, simulation_.now(), retention}));
  }

  // Restarts the recorder, once a week, as after an update. Every fourth time the machine reboots as well.
  void restart_recorder(bool reboot) {
    need(writer_->end_run(simulation_.now(), "stopped"));
    writer_.reset();
    if (reboot) {
      simulation_.reboot();
    } else {
      simulation_.pause(30'000);
    }
    begin();
  }

  void measure_tick(const Tick& tick, UsedBytes& used) {
    const std::int64_t written = own("io", "wchar:");
    std::int64_t before = used_;
    const auto keep = [&] {
      used_ = used.now();
      costs_.kept += std::max<std::int64_t>(used_ - before, 0);
      before = used_;
    };
    std::int64_t begin = thread_cpu_us();
    need(writer_->write(tick));
    costs_.tick_us.push_back(thread_cpu_us() - begin);
    keep();
    std::int64_t between = 0;
    while (true) {
      begin = thread_cpu_us();
      const Maintenance done = need(writer_->maintain());
      const std::int64_t cpu = thread_cpu_us() - begin;
      between += cpu;
      costs_.longest_cpu_us = std::max(costs_.longest_cpu_us, cpu);
      if (done.write_us > 0) {
        ++costs_.pieces;
        costs_.write_us.push_back(done.write_us);
        keep();
      }
      if (!done.more) break;
    }
    costs_.between_us.push_back(between);
    costs_.written += own("io", "wchar:") - written;
    most_.wal = std::max(most_.wal, bytes_of(path_ + "-wal"));
    most_.file = std::max(most_.file, bytes_of(path_) + bytes_of(path_ + "-wal"));
  }

  void print_head() const {
    fmt::print(
        "{} days of {} processes at {} ms, {} short-lived per hour, cap {} MiB; the recorder restarts weekly, the "
        "machine\n"
        "every four weeks. File, used and -wal in MiB, RSS in MiB. CPU in us: of a tick's own write, and of a call of\n"
        "maintain(). write ms: wall time of maintenance's write transactions. kept: bytes of the pages that ticks and\n"
        "rollups took up, new or freed by retention; written: bytes passed to write calls, per byte kept.\n\n",
        plan_.days, plan_.processes, plan_.interval_ms, plan_.short_lived, plan_.max_mib);
    fmt::print("{:>5}{:>8}{:>8}{:>7}{:>7}{:>8}{:>8}{:>11}{:>10}{:>9}{:>9}{:>9}{:>9}{:>8}\n", "day", "file", "used",
               "-wal", "RSS", "tick50", "tick99", "maintain/t", "longest", "write99", "longest", "pieces", "kept",
               "written");
  }

  void print_line(std::int64_t ticks) {
    const std::int64_t rss = own_rss_kib();
    const std::int64_t longest_write =
        costs_.write_us.empty() ? 0 : *std::max_element(costs_.write_us.begin(), costs_.write_us.end());
    double between = 0;
    for (const std::int64_t us : costs_.between_us) between += static_cast<double>(us);
    fmt::print(
        "{:>5}{:>8.1f}{:>8.1f}{:>7.1f}{:>7.1f}{:>8.0f}{:>8.0f}{:>11.0f}{:>10}{:>9.1f}{:>9.1f}{:>9}{:>9.1f}{:>8.1f}\n",
        ticks * plan_.interval_ms / kDayMs, static_cast<double>(bytes_of(path_)) / kMib,
        static_cast<double>(used_) / kMib, static_cast<double>(bytes_of(path_ + "-wal")) / kMib,
        static_cast<double>(rss) / 1024.0, quantile(costs_.tick_us, 0.5), quantile(costs_.tick_us, 0.99),
        between / static_cast<double>(costs_.between_us.size()), costs_.longest_cpu_us,
        quantile(costs_.write_us, 0.99) / 1000.0, static_cast<double>(longest_write) / 1000.0, costs_.pieces,
        static_cast<double>(costs_.kept) / kMib,
        static_cast<double>(costs_.written) / static_cast<double>(std::max<std::int64_t>(costs_.kept, 1)));
    std::fflush(stdout);
    most_.rss_kib = std::max(most_.rss_kib, rss);
    most_.write_us = std::max(most_.write_us, longest_write);
    most_.longest_cpu_us = std::max(most_.longest_cpu_us, costs_.longest_cpu_us);
    most_.kept += costs_.kept;
    most_.written += costs_.written;
    // clear() keeps the capacity, so that the program's own memory stays flat.
    costs_.tick_us.clear();
    costs_.between_us.clear();
    costs_.write_us.clear();
    costs_.pieces = costs_.longest_cpu_us = costs_.kept = costs_.written = 0;
  }

  void print_most() const {
    fmt::print(
        "\nmost: file with -wal {:.1f} MiB, -wal {:.1f} MiB, RSS {:.1f} MiB, maintenance's write transaction {:.1f} ms "
        "(CPU of one call {:.1f} ms)\nwritten: {:.1f} times what was kept\n",
        static_cast<double>(most_.file) / kMib, static_cast<double>(most_.wal) / kMib,
        static_cast<double>(most_.rss_kib) / 1024.0, static_cast<double>(most_.write_us) / 1000.0,
        static_cast<double>(most_.longest_cpu_us) / 1000.0,
        static_cast<double>(most_.written) / static_cast<double>(std::max<std::int64_t>(most_.kept, 1)));
  }

  const Plan& plan_;
  const std::string path_;
  Simulation simulation_;
  SimulatedHolders holders_;
  std::unique_ptr<Writer> writer_;
  std::int64_t used_ = 0;
  Costs costs_;
  Most most_;
};

std::int64_t number(std::string_view text, std::int64_t least = 1) {
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || stop != text.data() + text.size() || value < least)
    throw std::runtime_error(fmt::format("'{}' is not a number from {} on", text, least));
  return value;
}

Plan parse(int argc, char** argv) {
  Plan plan;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    if (i + 1 == argc) throw std::runtime_error(fmt::format("{} needs a value", name));
    const std::string_view value = argv[i + 1];
    if (name == "--days") {
      plan.days = number(value);
    } else if (name == "--processes") {
      plan.processes = number(value);
    } else if (name == "--short-lived") {
      plan.short_lived = number(value, 0);
    } else if (name == "--flood") {
      plan.flood = number(value, 0);
    } else if (name == "--cgroups") {
      plan.cgroups = number(value, 0);
    } else if (name == "--interval") {
      plan.interval_ms = number(value);
    } else if (name == "--max-size") {
      plan.max_mib = number(value);
    } else if (name == "-o") {
      plan.path = value;
    } else {
      throw std::runtime_error(fmt::format("unknown option {}", name));
    }
  }
  return plan;
}

}  // namespace
}  // namespace memoir::test

int main(int argc, char** argv) try {
  using namespace memoir::test;
  const Plan plan = parse(argc, argv);
  const TemporaryDirectory directory;
  Soak(plan, plan.path.empty() ? directory.path() + "/memoir.db" : plan.path).run();
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "soak_bench: {}\n", error.what());
  return 1;
}
