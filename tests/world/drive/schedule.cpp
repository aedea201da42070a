#include "world/drive/schedule.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <random>
#include <utility>

#include "world/drive/step.h"

namespace memoir::world {
namespace {

constexpr std::size_t kMinProcesses = 20;
constexpr std::size_t kMaxProcesses = 40;
constexpr int kObjects = 8;

class Draw {
 public:
  Draw(std::uint64_t seed, int ticks) : engine_(seed), ticks_(ticks) {}

  std::vector<std::string> steps() {
    interval_ms_ = chance(50) ? 10'000 : 60'000;
    const std::int64_t share = chance(30) ? 0 : chance(70) ? 20'000 : 500;
    emit(fmt::format("profile {} {} {}", interval_ms_, share, chance(75) ? 0 : 16 * 1024));
    for (Kind& kind : kinds_) kind.on = kind.always || chance(50);
    recorder_stops_ = chance(50);
    reads_odd_lines_ = chance(30);
    for (int id = 1; id <= kObjects; ++id) {
      emit(fmt::format("object {} {} {}", id, id % 2 == 0 ? "shmem" : "file", between(1, 8)));
    }
    for (int i = 0; i < 12; ++i) start();
    emit("wait 601000");
    emit("record");
    emit("tick");
    for (int i = 1; i < ticks_; ++i) interval(i + 20 < ticks_);
    emit("wait 3000");
    emit("stop");
    return std::move(steps_);
  }

 private:
  struct Kind {
    int weight = 0;
    bool always = false;
    void (Draw::*draw)() = nullptr;
    bool on = false;
  };

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }

  bool emit(const std::string& line) {
    steps_.push_back(line);
    const Step step(line);
    if (step.verb() == "wait") now_ms_ += step.number(0);
    return apply(world_, step, now_ms_);
  }

  // Returns the serial of any process except init; 0, which no process has, if there is none.
  int some() {
    if (world_.processes().size() < 2) return 0;
    const std::int64_t at = between(1, static_cast<std::int64_t>(world_.processes().size()) - 1);
    return std::next(world_.processes().begin(), at)->first;
  }

  void start() {
    if (world_.processes().size() >= kMaxProcesses) return;
    constexpr std::array<const char*, 5> kNames{"nginx", "postgres", "java", "sh", "python3"};
    const std::string comm = kNames.at(static_cast<std::size_t>(between(0, 4)));
    constexpr std::array<int, 3> kUsers{0, 33, 1000};
    const int parent = chance(70) ? 1 : std::max(1, some());
    emit(fmt::format("start {} {} {} {} {} /system.slice/{}.service", ++serial_, parent, comm, between(1, 30),
                     kUsers.at(static_cast<std::size_t>(between(0, 2))), comm));
    for (int id = 1; id <= kObjects; ++id) {
      if (chance(25)) emit(fmt::format("map {} {}", serial_, id));
    }
  }
  void fork() {
    const int parent = some();
    if (parent != 0 && world_.processes().size() < kMaxProcesses) emit(fmt::format("fork {} {}", parent, ++serial_));
  }
  void exit() { emit(fmt::format("exit {} {}", some(), chance(80) ? 0 : 256)); }
  void flash() {  // a process that starts and exits between two ticks
    const int before = serial_;
    start();
    if (serial_ == before) return;
    pass(between(1, 900));
    emit(fmt::format("exit {} 0", serial_));
  }
  void exec_flash() {  // a process that forks, execs and exits between two ticks
    const int parent = some();
    if (parent == 0 || world_.processes().size() >= kMaxProcesses) return;
    emit(fmt::format("fork {} {}", parent, ++serial_));
    pass(between(1, 20));
    emit(fmt::format("exec {} image{} {}", serial_, ++images_, between(1, 20)));
    pass(between(1, 900));
    if (chance(50)) emit(fmt::format("exit {} 0", serial_));
  }
  void exec() { emit(fmt::format("exec {} image{} {}", some(), ++images_, between(1, 20))); }
  void oom() { emit(fmt::format("oom {}", some())); }
  void resize() { emit(fmt::format("resize {} {}", some(), between(-6, 8))); }
  void spike() {  // a peak between two ticks, which only high-water marks show
    const int serial = some();
    const std::int64_t units = between(5, 40);
    emit(fmt::format("resize {} {}", serial, units));
    pass(between(1, 500));
    if (chance(40)) emit("scan");
    emit(fmt::format("resize {} {}", serial, -units));
  }
  void write() { emit(fmt::format("write {}", some())); }
  void map() { emit(fmt::format("map {} {}", some(), between(1, kObjects))); }
  void unmap() { emit(fmt::format("unmap {} {}", some(), between(1, kObjects))); }
  void swap_out() { emit(fmt::format("swap-out {} {}", some(), between(1, 4))); }
  void swap_in() { emit(fmt::format("swap-in {}", some())); }
  void swap_object() { emit(fmt::format("swap-object {} {}", between(1, kObjects / 2) * 2, between(0, 3))); }
  void scan() { emit("scan"); }

  // Waits, at most up to the end of the interval.
  void pass(std::int64_t ms) { emit(fmt::format("wait {}", std::clamp<std::int64_t>(ms, 1, (end_ms_ - now_ms_) / 2))); }

  void change() {
    if (world_.processes().size() < kMinProcesses && chance(50)) return start();
    int all = 0;
    for (const Kind& kind : kinds_) all += kind.on ? kind.weight : 0;
    std::int64_t at = between(1, all);
    for (const Kind& kind : kinds_) {
      if (!kind.on) continue;
      at -= kind.weight;
      if (at <= 0) return (this->*kind.draw)();
    }
  }

  void changes() {
    end_ms_ = now_ms_ + interval_ms_;
    for (std::int64_t left = between(0, 4); left > 0; --left) {
      pass(between(1, (end_ms_ - now_ms_) / (left + 1)));
      change();
    }
    emit(fmt::format("wait {}", end_ms_ - now_ms_));
  }

  void interval(bool may_stop) {
    changes();
    if (may_stop && recorder_stops_ && chance(1)) {
      emit(chance(40) ? "stop" : "crash");
      for (std::int64_t left = between(1, 9); left > 0; --left) changes();
      emit("record");
    }
    if (reads_odd_lines_ && chance(10)) odd();
    emit("tick");
  }

  void odd() {
    constexpr std::array<const char*, 5> kValues{"18446744073709551615", "-4", "99999999999999999999999", "12pages",
                                                 "."};
    struct Line {
      const char* file;
      const char* key;
    };
    constexpr std::array<Line, 8> kLines{{{"meminfo", "Cached"},
                                          {"meminfo", "Mapped"},
                                          {"meminfo", "Slab"},
                                          {"vmstat", "pgmajfault"},
                                          {"status", "VmData"},
                                          {"status", "RssFile"},
                                          {"smaps_rollup", "Referenced"},
                                          {"smaps_rollup", "Shared_Clean"}}};
    const Line line = kLines.at(static_cast<std::size_t>(between(0, kLines.size() - 1)));
    const bool machine = line.file == kLines.front().file || std::string(line.file) == "vmstat";
    emit(fmt::format("odd {} {} {} {}", line.file, machine ? 0 : some(), line.key,
                     kValues.at(static_cast<std::size_t>(between(0, kValues.size() - 1)))));
  }

  std::mt19937_64 engine_;
  const int ticks_;
  World world_;
  std::vector<std::string> steps_;
  std::int64_t interval_ms_ = 0;
  std::int64_t now_ms_ = 5'000'000;
  std::int64_t end_ms_ = 0;
  int serial_ = 1;  // init has serial 1
  int images_ = 0;
  bool recorder_stops_ = false;
  bool reads_odd_lines_ = false;
  std::array<Kind, 16> kinds_{{{12, true, &Draw::start},
                               {12, true, &Draw::exit},
                               {24, true, &Draw::resize},
                               {8, true, &Draw::map},
                               {6, true, &Draw::unmap},
                               {10, false, &Draw::fork},
                               {8, false, &Draw::flash},
                               {4, false, &Draw::exec_flash},
                               {6, false, &Draw::exec},
                               {4, false, &Draw::oom},
                               {8, false, &Draw::spike},
                               {6, false, &Draw::write},
                               {6, false, &Draw::swap_out},
                               {3, false, &Draw::swap_in},
                               {4, false, &Draw::swap_object},
                               {6, false, &Draw::scan}}};
};

}  // namespace

std::vector<std::string> schedule(std::uint64_t seed, int ticks) {
  return Draw(seed, ticks).steps();
}

}  // namespace memoir::world
