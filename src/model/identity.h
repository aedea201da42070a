#pragma once

// What stays the same of a process when it is started again: its unit (else its cgroup), its executable, and its
// command without what differs from start to start. Pure.

#include <string>
#include <string_view>

#include "model/process.h"

namespace memoir {

struct Identity {
  std::string unit;     // "nginx.service", "session-N.scope", "docker:0f3c5d7e9a1b"; "" where no cgroup is known
  std::string exe;      // "" where it could not be read
  std::string command;  // normalised

  bool operator==(const Identity&) const = default;
};

Identity identity_of(const ProcessInfo& info);

// The last systemd unit in a cgroup's path (systemd.unit(5)); the whole path where there is none. Names that are made
// at each start (scopes) are normalised as words of a command are. A container comes first (model/container.h), so that
// containers never merge.
std::string unit_of(std::string_view cgroup);

// The same for people, nothing normalised: "session-42.scope".
std::string place_of(std::string_view cgroup);

// The innermost slice in a cgroup's path, as it is written there; empty where there is none.
std::string slice_of(std::string_view cgroup);

// The first words of a command line, with numbers as N, hexadecimal runs of 8 digits and more and UUIDs as H, and
// whatever lies in a folder for temporary files as its folder and a star. Numbers of PostgreSQL's and others' titles go
// the same way.
std::string normalised_command(std::string_view command);

}  // namespace memoir
