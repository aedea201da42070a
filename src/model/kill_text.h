#pragma once

// The sentence about an OOM kill, for alerts, the log and the list of incidents. Pure.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "model/exit.h"

namespace memoir {

// "app.service" for "/system.slice/app.service"; "the container docker:3f2a4b5c6d7e"; "the root cgroup".
std::string cgroup_title(std::string_view path);

struct KillWords {
  std::function<std::string(const std::string& cgroup)> place = cgroup_title;
  std::function<std::string(std::int64_t kib)> size;
};

// "The OOM killer killed java (812) when app.service reached its 8.0 GiB limit"
// "earlyoom (512) killed java (812) in app.service with SIGTERM"
std::string kill_sentence(const OomVictim& victim, const KillWords& words);

}  // namespace memoir
