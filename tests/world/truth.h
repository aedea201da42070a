#pragma once

// The true history of a world during the recording, with marks for the parts that the recorder could know. Append-only.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/process.h"

namespace memoir::world {

// A program image of a process.
struct Image {
  std::string comm;
  std::string command;
  std::int64_t start_ms = 0;
  std::optional<std::int64_t> end_ms = {};
  int samples = 0;             // number of ticks with a sample of this image
  std::int64_t known_kib = 0;  // the highest VmHWM at ticks and at the reported exit
  std::int64_t peak_kib = 0;
};

struct Life {
  int serial = 0;
  std::int32_t pid = 0;
  std::int64_t start_ms = 0;  // wall time, rounded to clock ticks as the kernel's start time is
  std::vector<Image> images;
  bool exit_reported = false;  // a tick has reported the exit
  std::optional<std::int64_t> end_ms = {};

  bool is_known() const {  // true if the recording contains this process
    bool known = exit_reported;
    for (const Image& image : images) known |= image.samples > 0;
    return known;
  }
};

struct Sample {
  std::int32_t pid = 0;
  std::size_t image = 0;  // index of the image in its process
  ProcessMemory memory;
};

// An odd value that a kernel file has at a tick.
struct OddLine {
  std::string file;
  int serial = 0;  // serial of the process that has the file
  std::string key;
  std::string value;
};

// The world at the time of a tick.
struct TickTruth {
  std::int64_t wall_ms = 0;
  std::map<int, Sample> processes;  // samples by serial number
  std::map<std::string, std::int64_t> meminfo;
  std::int64_t used_kib = 0;
  std::int64_t swap_kib = 0;
  std::int64_t oom_kills = 0;
  std::optional<OddLine> odd = {};
};

struct Kill {
  int serial = 0;
  std::size_t image = 0;
  std::int64_t at_ms = 0;
  bool reported = false;  // a tick has reported the kill
};

// The time from a start of the recorder to its stop or crash.
struct RunTruth {
  std::int64_t first_ms = 0;  // time of the first tick
  std::int64_t last_ms = 0;
};

struct Truth {
  std::int64_t boot_ms = 0;  // wall time of the boot
  std::map<int, Life> lives;
  std::vector<TickTruth> ticks;
  std::vector<Kill> kills;
  std::vector<RunTruth> runs;
  std::vector<std::int64_t> clock_steps;  // change of the wall clock by each step, in ms
};

}  // namespace memoir::world
