#pragma once

// What stays the same of a process when it is started again: its unit (else its cgroup), its executable, and its
// command without what differs from start to start. Pure.

#include <string>
#include <string_view>

#include "model/process.h"

namespace memoir {

struct Identity {
  std::string unit;     // "nginx.service", "session-N.scope", "/docker/H"; "" where no cgroup is known
  std::string exe;      // "" where it could not be read
  std::string command;  // normalised

  bool operator==(const Identity&) const = default;
};

Identity identity_of(const ProcessInfo& info);

// The last systemd unit in a cgroup's path (systemd.unit(5)); the whole path where there is none. Names that are made
// at each start (scopes, containers) are normalised as words of a command are.
std::string unit_of(std::string_view cgroup);

// The first words of a command line, with numbers as N, hexadecimal runs of 8 digits and more and UUIDs as H, and
// whatever lies in a folder for temporary files as its folder and a star. Numbers of PostgreSQL's and others' titles go
// the same way.
std::string normalised_command(std::string_view command);

}  // namespace memoir
