#pragma once

// The part of a process that stays the same after a restart: its unit (otherwise its cgroup), its executable, and its
// command without parts that vary between starts. Pure.

#include <string>
#include <string_view>

#include "model/process.h"

namespace memoir {

struct Identity {
  std::string unit;     // "nginx.service", "session-N.scope", "docker:0f3c5d7e9a1b"; "" without a known cgroup
  std::string exe;      // "" if unreadable
  std::string command;  // normalised

  bool operator==(const Identity&) const = default;
};

Identity identity_of(const ProcessInfo& info);

// Returns the suffix of a unit's name if this type of unit has processes: ".service". Empty for other names, and for a
// suffix alone.
std::string_view unit_suffix(std::string_view name);

// Returns the last systemd unit in a cgroup's path (systemd.unit(5)); the full path without one. Scope names, which
// differ at each start, are normalised like words of a command. A container comes first (model/container.h), so that
// containers never merge.
std::string unit_of(std::string_view cgroup);

// Like unit_of(), but human-readable, without normalising: "session-42.scope".
std::string place_of(std::string_view cgroup);

// Returns the innermost slice in a cgroup's path, unchanged; empty without one.
std::string slice_of(std::string_view cgroup);

// Returns the file that an interpreter runs, without its folder: "worker.py" for "python3 -u /srv/worker.py 3",
// "app.jar" for "java -jar /opt/app.jar". Empty for other programs.
std::string script_of(std::string_view command);

// Returns the first words of a command line. Numbers become N; UUIDs and hexadecimal runs of 8 or more digits become
// H. A path in a temporary folder becomes the folder and a star. Numbers in process titles (such as PostgreSQL's) are
// replaced, too.
std::string normalised_command(std::string_view command);

}  // namespace memoir
