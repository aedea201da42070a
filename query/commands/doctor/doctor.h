#pragma once

// Checks and findings of `memoir doctor`. doctor.cpp is the command; place.cpp checks the file and its location,
// recorder.cpp its recorder. The judgements are pure.

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
  std::string check;  // name of the check, in a word or two
  Verdict verdict = Verdict::ok;
  std::string what;
  std::string fix;  // the remedy; empty if it is ok
};

using Findings = std::vector<Finding>;

// The file, its companions and its folder, from stat(2), statfs(2) and statvfs(3).
struct FileLocation {
  std::string path;
  std::string owner;
  std::string group;
  unsigned mode = 0;
  std::int64_t wal_bytes = 0;
  std::string stranger;  // the companion (-wal, -shm, .lock, .pid) with another owner; empty if none
  std::string stranger_owner;
  std::string folder;
  bool folder_open = false;  // every user may open files in the folder
  std::string remote;        // name of the network file system; empty for a local one
  bool in_memory = false;    // the file system is tmpfs or ramfs
  bool mounted_read_only = false;
  std::int64_t free_bytes = 0;  // space that the file's owner may use
  std::int64_t free_files = 1;
};

Result<FileLocation> inspect_place(const std::string& path);
Findings judge_place(const FileLocation& place);

// `per_day` is the growth of the file, in bytes.
Finding judge_room(const FileLocation& place, std::optional<std::int64_t> per_day);

// `here` is true if the file was recorded on this machine, so that its recorder should run here.
Findings judge_recorder(const RecorderStatus& status, bool here, Zone zone);

// Checks that the kernel's pressure was recorded in the last tick.
Finding judge_pressure(bool recorded);

}  // namespace memoir::query
