#pragma once

// The configuration: its struct and defaults, and functions that read it from TOML and check it.

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/rules.h"

namespace memoir {

struct Config {
  // [recorder]
  std::string db;                                  // parse_config substitutes default_database_path()
  std::chrono::milliseconds interval{10'000};      // 100 ms … 1 h
  std::chrono::milliseconds scan_interval{1'000};  // interval of scans between ticks, 50 ms … 1 h; 0: off
  std::string burst = "on";                        // faster sampling while memory is short or changes fast: on, off
  std::chrono::milliseconds read_deadline{250};    // limit of one read that may block on its target: 1 ms … 10 s
  std::int64_t queue_ticks = 360;         // ticks waiting for the disk before the oldest is dropped: 1 … 100000
  std::int64_t queue_mib = 32;            // memory of waiting ticks in MiB: 1 … 4096
  std::int64_t max_command_bytes = 4096;  // stored length of a command line: 64 … 131072
  bool container_names = true;            // reads the names from container managers' own files
  std::string log_level = "info";         // debug, info, warning, error
  std::string source = "proc";            // source of ticks: proc, vmmap
  // [vmmap]
  std::string vmmap = "/usr/bin/vmmap";
  std::string ps = "/bin/ps";
  std::chrono::milliseconds vmmap_deadline{10'000};  // limit of one run of vmmap or ps: 10 ms … 10 min
  std::string vmmap_group = "process";  // PSS is RSS divided by the number of processes in a group: process, pgid
  // [store]
  std::string durability = "full";  // full: synced at each tick; normal: at checkpoints
  // Retention of each tier, 1 h … 10000 d; 0: forever.
  std::chrono::milliseconds raw = std::chrono::hours(7 * 24);
  std::chrono::milliseconds five_minutes = std::chrono::hours(60 * 24);
  std::chrono::milliseconds hours = std::chrono::hours(400 * 24);
  std::chrono::milliseconds days{0};
  std::int64_t max_size = 2LL << 30;  // bytes of the database with its -wal, 16 MiB …; 0: no limit
  // [budget]: CPU time for reading processes, in millionths of a core, 100 …; 0: no limit, each process is read in each
  // tick
  std::int64_t budget_cpu_ppm = 5'000;
  // [exits]: minimum peak (bytes, 1 MiB …) at which the exit of an unsampled process is stored individually
  std::int64_t exits_min_peak = 16LL << 20;
  // [mappings]: reading of smaps
  std::chrono::milliseconds mappings_interval{900'000};  // interval of reads of one process, 1 s … 1 d; 0: off
  std::int64_t mappings_processes = 20;            // maximum number of processes whose smaps are read in turn: 1 … 80
  std::int64_t mappings_labels = 24;               // rows stored per process: 1 … 500
  std::chrono::milliseconds mappings_budget{300};  // CPU time per hour: 1 ms … 10 m
  // [tmpfs]: walks of the mounts
  std::chrono::milliseconds tmpfs_interval{1'800'000};  // interval of walks of one mount, 1 s … 1 d; 0: off
  // [alert]: command that gets `memoir incident` as JSON on its standard input
  std::vector<std::string> alert_exec;        // the program's path and its arguments; empty: none
  std::int64_t alert_pressure_ppm = 200'000;  // share of a minute in which some process waited for memory; 0: off
  std::chrono::milliseconds alert_leak = std::chrono::hours(24);  // alert if a limit is nearer, 1 m …; 0: off
  bool alert_confirmed = true;                                    // alert for each newly confirmed leak
  // Levels at which an alert is due, in millionths of the limit; 0: off.
  std::int64_t alert_limit_ppm = 950'000;  // usage of a cgroup, without page cache
  std::int64_t alert_tmpfs_ppm = 950'000;
  std::int64_t alert_swap_ppm = 950'000;
  std::chrono::milliseconds alert_every{900'000};   // minimum time between two alerts for one reason: 1 s … 7 d
  std::chrono::milliseconds alert_timeout{30'000};  // time limit of the command: 100 ms … 10 min
  // [leaks]: settings of memoir. memoird also checks for leak alerts at this interval.
  std::chrono::milliseconds leaks_hour{3'600'000};  // length of an hour in the analysis (shorter in tests): 10 ms … 1 d
  // [[category]]: name, and at least one of command, exe, comm, user, cgroup. Without any category: the built-in list.
  std::vector<CategoryRule> categories;
  bool default_categories = true;  // [categories] defaults: the built-in list follows the given ones
  // [redaction] defaults, drop_arguments; [[redaction.rule]] pattern, program, next, unless
  RedactionOptions redaction;

  bool operator==(const Config&) const = default;
};

// Returns the values that `source` may have.
std::vector<std::string> source_names();

// Limits that other code uses as well.
inline constexpr std::chrono::milliseconds kMinInterval{100};
inline constexpr std::chrono::milliseconds kMaxInterval{3'600'000};
inline constexpr std::chrono::milliseconds kMinLeaksHour{10};

// Reads a configuration. Unknown keys, wrong types and values out of range are errors: "F:12: unknown key 'intervall'
// in [recorder]; did you mean 'interval'?" The message has one line for each error, in the order of the file. `check`
// returns whether a program named in the file can run; without it, programs are not checked.
using ProgramCheck = std::function<Status(const std::string& path)>;
Result<Config> parse_config(std::string_view toml, const std::string& file_name, const ProgramCheck& check = {});
Result<Config> load_config(const std::string& path, const ProgramCheck& check = {});

// Returns every key that parse_config knows, with its table: "recorder.interval", "category.name",
// "redaction.rule.pattern".
std::vector<std::string> config_keys();

// Prints TOML that parse_config reads back to the same struct (except the line numbers of its rules).
std::string format_config(const Config& config);

// Parses "10s", "500ms", "1.5m", "1h30m": numbers with units (ms, s, m, h, d, w), the largest first. Anything else is
// malformed, and the message shows the forms.
Result<std::chrono::milliseconds> parse_duration(std::string_view text);
std::string format_duration(std::chrono::milliseconds duration);

// Parses a retention: a duration, or "forever", which is 0.
Result<std::chrono::milliseconds> parse_age(std::string_view text);
std::string format_age(std::chrono::milliseconds age);

// Parses bytes: "64MiB", "2GiB", "1.5TiB", a number and a unit (KiB, MiB, GiB, TiB), or "unlimited", which is 0.
Result<std::int64_t> parse_bytes(std::string_view text);
std::string format_bytes(std::int64_t bytes);

// Parses a share of one core, in millionths: "0.5%", or "unlimited", which is 0.
Result<std::int64_t> parse_share(std::string_view text);
std::string format_share(std::int64_t ppm);

// Default paths. As root: /etc/memoir/memoir.toml and /var/lib/memoir/memoir.db. Otherwise:
// $XDG_CONFIG_HOME/memoir/memoir.toml (only if /etc/memoir/memoir.toml is unreadable) and
// $XDG_DATA_HOME/memoir/memoir.db. For the database, STATE_DIRECTORY (systemd.exec(5)) has precedence.
std::string default_config_path();
std::string default_database_path();

}  // namespace memoir
