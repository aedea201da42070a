#pragma once

// The true history of a world during the recording, and how much of it the recorder could know. Append-only.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/process.h"

namespace memoir::world {

// One program image of a process.
struct Image {
  std::string comm;
  std::string command;
  std::int64_t start_ms = 0;
  std::optional<std::int64_t> end_ms = {};
  int samples = 0;             // ticks that had it
  std::int64_t known_kib = 0;  // the highest VmHWM of ticks and of the reported exit
  std::int64_t peak_kib = 0;
};

struct Life {
  int serial = 0;
  std::int32_t pid = 0;
  std::int64_t start_ms = 0;  // by the start ticks
  std::vector<Image> images;
  bool exit_reported = false;  // to a tick
  std::optional<std::int64_t> end_ms = {};

  bool is_known() const {  // to the recording
    bool known = exit_reported;
    for (const Image& image : images) known |= image.samples > 0;
    return known;
  }
};

struct Sample {
  std::int32_t pid = 0;
  std::size_t image = 0;  // of its run
  ProcessMemory memory;
};

// An odd value in a kernel file at a tick.
struct OddLine {
  std::string file;
  int serial = 0;  // of a process's file
  std::string key;
  std::string value;
};

// The world at a tick.
struct TickTruth {
  std::int64_t wall_ms = 0;
  std::map<int, Sample> processes;  // by serial
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
  bool reported = false;  // to a tick
};

// From start to stop or crash of the recorder.
struct RunTruth {
  std::int64_t first_ms = 0;  // ticks
  std::int64_t last_ms = 0;
};

struct Truth {
  std::int64_t boot_ms = 0;  // wall time
  std::map<int, Life> lives;
  std::vector<TickTruth> ticks;
  std::vector<Kill> kills;
  std::vector<RunTruth> runs;
  std::vector<std::int64_t> clock_steps;  // by how much
};

}  // namespace memoir::world
