#include "model/identity.h"

#include "fuzz/require.h"
#include "fuzz/targets.h"
#include "model/container.h"

// The first line is the path of a cgroup, the remainder is a command line; both as stored.
void memoir::fuzz::identity(std::string_view text) {
  ProcessInfo info;
  info.cgroup = to_utf8(cut_line(text));
  info.command = to_utf8(text);
  const Identity identity = identity_of(info);
  require(to_utf8(identity.unit) == identity.unit, "a unit is UTF-8");
  require(to_utf8(identity.command) == identity.command, "a command is truncated between characters");
  require(identity.command.size() <= 160, "a command is short");
  require(identity.unit == unit_of(info.cgroup) && identity.command == normalised_command(info.command),
          "an identity consists of its parts");
  const std::string place = place_of(info.cgroup);
  require(place.empty() == info.cgroup.empty(), "a process that has a cgroup has a place");
  require(info.cgroup.find(slice_of(info.cgroup)) != std::string::npos, "a slice is part of the path");
  ProcessInfo again = info;
  again.command += " 4711";
  require(to_utf8(identity_of(again).command) == identity_of(again).command, "a longer command is UTF-8 as well");
}
