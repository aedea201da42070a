#pragma once

// One fuzz target per parser, and one for the query tool on a damaged database. Each accepts any bytes and aborts if a
// result is impossible. `cmake --preset asan` makes each a libFuzzer program, whose corpus is tests/fixtures and
// seeds/NAME. Without clang, replay_test.cpp runs all targets on the same files.

#include <array>
#include <string_view>

namespace memoir::fuzz {

void amounts(std::string_view text);
void asked_times(std::string_view text);
void categories(std::string_view text);
void census_record(std::string_view text);
void command_line(std::string_view text);
void config(std::string_view text);
void containers(std::string_view text);
void csv(std::string_view text);
void database(std::string_view text);
void database_start(std::string_view text);
void filter(std::string_view text);
void forecasts(std::string_view text);
void identity(std::string_view text);
void redaction(std::string_view text);
void pid_stat(std::string_view text);
void statm(std::string_view text);
void status(std::string_view text);
void smaps_rollup(std::string_view text);
void smaps(std::string_view text);
void cmdline(std::string_view text);
void cgroup(std::string_view text);
void meminfo(std::string_view text);
void vmstat(std::string_view text);
void zoneinfo(std::string_view text);
void pressure(std::string_view text);
void kernel(std::string_view text);
void cgroup_memory(std::string_view text);
void mountinfo(std::string_view text);
void sysvipc_shm(std::string_view text);
void textfile(std::string_view text);
void vmmap(std::string_view text);
void ps(std::string_view text);
void kernel_log(std::string_view text);
void view(std::string_view text);

struct Target {
  const char* name;
  void (*run)(std::string_view text);
  int mutations = 4000;  // number of mutations in each test run; fewer for slow targets
};

inline constexpr std::array<Target, 34> kTargets{{
    {"amounts", amounts, 1000},
    {"asked_times", asked_times, 1000},
    {"categories", categories, 400},
    {"census_record", census_record},
    {"command_line", command_line, 400},
    {"config", config, 1000},
    {"containers", containers, 400},
    {"csv", csv, 2000},
    {"database", database, 100},
    {"database_start", database_start},
    {"filter", filter, 2000},
    {"forecasts", forecasts},
    {"identity", identity},
    {"redaction", redaction, 1000},
    {"pid_stat", pid_stat},
    {"statm", statm},
    {"status", status},
    {"smaps_rollup", smaps_rollup},
    {"smaps", smaps},
    {"cmdline", cmdline},
    {"cgroup", cgroup},
    {"meminfo", meminfo},
    {"vmstat", vmstat},
    {"zoneinfo", zoneinfo},
    {"pressure", pressure},
    {"kernel", kernel},
    {"cgroup_memory", cgroup_memory},
    {"mountinfo", mountinfo},
    {"sysvipc_shm", sysvipc_shm},
    {"textfile", textfile},
    {"vmmap", vmmap},
    {"ps", ps, 1000},
    {"kernel_log", kernel_log, 2000},
    {"view", view, 200},
}};

}  // namespace memoir::fuzz
