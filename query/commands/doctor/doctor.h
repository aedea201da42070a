#pragma once

// What `memoir doctor` looks at, and what it finds. doctor.cpp is the command; place.cpp looks at the file and
// where it lies, recorder.cpp at what it tells of its recorder. The judgements are pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "query/args/zone.h"
#include "query/history/recorder_status.h"
#include "query/state/command.h"

namespace memoir::query {

enum class Verdict { ok, warning, problem };

std::string_view to_string(Verdict verdict);

struct Finding {
  std::string check;  // what was looked at, in a word or two
  Verdict verdict = Verdict::ok;
  std::string what;
  std::string fix;  // what to do about it; empty if it is ok
};

using Findings = std::vector<Finding>;

// The file, its companions and its folder, as stat(2), statfs(2) and statvfs(3) tell.
struct Place {
  std::string path;
  std::string owner;
  std::string group;
  unsigned mode = 0;
  std::int64_t wal_bytes = 0;
  std::string stranger;  // the companion (-wal, -shm, .lock, .pid) that belongs to another; empty if none
  std::string stranger_owner;
  std::string folder;
  bool folder_open = false;  // for everyone
  std::string remote;        // the name of a network's file system
  bool in_memory = false;    // tmpfs, ramfs
  bool mounted_read_only = false;
  std::int64_t free_bytes = 0;  // for the file's owner
  std::int64_t free_files = 1;
};

Result<Place> look_at_place(const std::string& path);
Findings judge_place(const Place& place);

// `per_day` is how the file grows.
Finding judge_room(const Place& place, std::optional<std::int64_t> per_day);

// `here`: the file is of this machine, so that its recorder should be running here.
Findings judge_recorder(const RecorderStatus& status, bool here, Zone zone);

// Whether the kernel's pressure was recorded in the last tick.
Finding judge_pressure(bool recorded);

}  // namespace memoir::query
