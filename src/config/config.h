#pragma once

// The configuration: the struct, its defaults, and how it is read from TOML and checked.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/rules.h"

namespace memoir {

struct Config {
  // [recorder]
  std::string db;                                // parse_config puts default_database_path() where none is given
  std::chrono::milliseconds interval{10'000};    // 100 ms … 1 h
  std::chrono::milliseconds look{1'000};         // between ticks, 50 ms … 1 h; 0: off
  std::string burst = "on";                      // more of both while memory is short or moves fast: on, off
  std::chrono::milliseconds read_deadline{250};  // for one read that may block on its target: 1 ms … 10 s
  std::int64_t queue_ticks = 360;         // ticks that wait for the disk before the oldest is dropped: 1 … 100000
  std::int64_t queue_mib = 32;            // MiB that they may take up: 1 … 4096
  std::int64_t max_command_bytes = 4096;  // 64 … 131072
  bool container_names = true;            // asked of container managers' own files
  std::string log_level = "info";         // debug, info, warning, error
  std::string source = "proc";            // where ticks come from: proc, vmmap
  // [vmmap]
  std::string vmmap = "/usr/bin/vmmap";
  std::string ps = "/bin/ps";
  std::chrono::milliseconds vmmap_deadline{10'000};  // for one run of either: 10 ms … 10 min
  std::string vmmap_group = "process";               // whose number divides RSS into PSS: process, pgid
  // [store]
  std::string durability = "full";  // full: synced at each tick; normal: at checkpoints
  // How long each tier is kept, 1 h … 10000 d; 0: forever.
  std::chrono::milliseconds raw = std::chrono::hours(7 * 24);
  std::chrono::milliseconds five_minutes = std::chrono::hours(60 * 24);
  std::chrono::milliseconds hours = std::chrono::hours(400 * 24);
  std::chrono::milliseconds days{0};
  std::int64_t max_size = 2LL << 30;  // bytes of the database with its -wal, 16 MiB …; 0: no limit
  // [budget]: what reading may cost, in millionths of a core, 100 …; 0: no limit, each process is read in each tick
  std::int64_t budget_cpu_ppm = 5'000;
  // [exits]: from what peak on (bytes, 1 MiB …) the end of a process that no tick saw is kept by itself
  std::int64_t exits_large = 16LL << 20;
  // [mappings]: whose smaps are read
  std::chrono::milliseconds mappings_interval{900'000};  // of each process, 1 s … 1 d; 0: off
  std::int64_t mappings_processes = 20;                  // 1 … 80
  std::int64_t mappings_labels = 24;                     // of a process, 1 … 500
  std::chrono::milliseconds mappings_budget{300};        // of CPU in an hour: 1 ms … 10 m
  // [tmpfs]: what lies in the mounts
  std::chrono::milliseconds tmpfs_interval{1'800'000};  // of the walks of each, 1 s … 1 d; 0: off
  // [alert]: what is run, with `memoir incident` as JSON on its standard input
  std::vector<std::string> alert_exec;        // the program's path and its arguments; empty: nothing
  std::int64_t alert_pressure_ppm = 200'000;  // of a minute some process waited for memory; 0: off
  std::chrono::milliseconds alert_leak = std::chrono::hours(24);  // so long before a limit is reached, 1 m …; 0: off
  std::chrono::milliseconds alert_every{900'000};                 // at least, between two for one reason: 1 s … 7 d
  std::chrono::milliseconds alert_timeout{30'000};                // 100 ms … 10 min
  // [leaks], read by memoir; memoird looks for leaks to alert of that often
  std::chrono::milliseconds leaks_hour{3'600'000};  // what the analysis takes for an hour: 10 ms … 1 d
  // [[category]]: name and any of command, exe, comm, user, cgroup. None given: the built-in list.
  std::vector<CategoryRule> categories;
  bool default_categories = true;  // [categories] defaults: the built-in list comes after those given
  // [redaction] defaults, drop_arguments; [[redaction.rule]] pattern, program, next, unless
  RedactionOptions redaction;

  bool operator==(const Config&) const = default;
};

// What `source` may say.
std::vector<std::string> source_names();

// What others ask for as well.
inline constexpr std::chrono::milliseconds kLeastInterval{100};
inline constexpr std::chrono::milliseconds kMostInterval{3'600'000};
inline constexpr std::chrono::milliseconds kLeastLeaksHour{10};

// Unknown keys, wrong types and values out of range are errors: "F:12: unknown key 'intervall' in [recorder]; did you
// mean 'interval'?"
Result<Config> parse_config(std::string_view toml, const std::string& file_name);
Result<Config> load_config(const std::string& path);

// Every key that parse_config knows, with its table: "recorder.interval", "category.name", "redaction.rule.pattern".
std::vector<std::string> config_keys();

// As TOML that parse_config reads back to the same struct (but for the lines of its rules).
std::string print_config(const Config& config);

// "10s", "500ms", "1.5m", "1h30m": numbers with units (ms, s, m, h, d, w), the largest first. Anything else is
// malformed, and the message shows the forms.
Result<std::chrono::milliseconds> parse_duration(std::string_view text);
std::string print_duration(std::chrono::milliseconds duration);

// How long something is kept: a duration, or "forever", which is 0.
Result<std::chrono::milliseconds> parse_age(std::string_view text);
std::string print_age(std::chrono::milliseconds age);

// Bytes: "64MiB", "2GiB", "1.5TiB": a number and a unit (KiB, MiB, GiB, TiB), or "unlimited", which is 0.
Result<std::int64_t> parse_bytes(std::string_view text);
std::string print_bytes(std::int64_t bytes);

// A part of one core: "0.5%", or "unlimited", which is 0. In millionths.
Result<std::int64_t> parse_share(std::string_view text);
std::string print_share(std::int64_t ppm);

// Where things are. As root: /etc/memoir/memoir.toml, /var/lib/memoir/memoir.db; else
// $XDG_CONFIG_HOME/memoir/memoir.toml (if /etc/memoir/memoir.toml is not readable), $XDG_DATA_HOME/memoir/memoir.db.
// STATE_DIRECTORY (systemd.exec(5)) comes first for the database.
std::string default_config_path();
std::string default_database_path();

}  // namespace memoir
