#include <array>
#include <fmt/format.h>

#include "base/text.h"
#include "model/container.h"
#include "model/kill_text.h"
#include "query/incidents/incidents.h"
#include "query/report/format.h"

namespace memoir::query {
namespace {

constexpr std::array<std::string_view, 8> kIncidentKinds{"oom-kill",   "killer", "pressure",  "swap-full",
                                                         "tmpfs-full", "limit",  "throttled", "growth"};

}  // namespace

std::string_view to_string(IncidentKind kind) {
  return kIncidentKinds.at(static_cast<std::size_t>(kind));
}

const std::vector<std::string>& incident_kinds() {
  static const std::vector<std::string> kinds(kIncidentKinds.begin(), kIncidentKinds.end());
  return kinds;
}

std::string command_of(const IncidentEntry& entry) {
  return fmt::format("memoir incident --at @{}", entry.at_ms);
}

std::string place_name(const std::string& cgroup, const ContainerNames& containers) {
  const std::string label = container_of(cgroup);
  const auto name = label.empty() ? containers.end() : containers.find(label);
  return name == containers.end() ? cgroup_title(cgroup)
                                  : to_printable(fmt::format("the container {} ({})", name->second, label));
}

std::string kill_sentence(const OomVictim& victim, const ContainerNames& containers, Units units) {
  return memoir::kill_sentence(victim,
                               {.place = [&](const std::string& cgroup) { return place_name(cgroup, containers); },
                                .size = [units](std::int64_t kib) { return format_size(kib, units); }});
}

}  // namespace memoir::query
