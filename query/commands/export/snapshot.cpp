// One state in the two shapes of ChromeOS's memory tests: the rollups of its processes, and what its categories hold as
// metrics of which less is better. SwapPss leaves out the swap of shared mappings: a process's share of that is beside
// it, and in the swap of its category.

#include <fmt/format.h>
#include <map>
#include <optional>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "query/commands/export/export.h"
#include "query/report/format.h"

namespace memoir::query {
namespace {

using Json = nlohmann::ordered_json;

// Whose smaps_rollup was read, now or before: what only status tells has no such parts, nor what only siblings tell.
bool has_rollup(const ProcessState& state) {
  const ProcessSample& sample = state.sample;
  return is_known(sample.source) || (sample.source == Source::estimated && sample.memory.has(ProcessField::swap_pss));
}

// The swap of shared mappings is not read where the machine does not swap: there is none.
std::optional<std::int64_t> shared_swap_kib(const ProcessState& state, const MachineMemory& machine) {
  const auto total = machine.get(MachineField::swap_total);
  const bool none = total && total == machine.get(MachineField::swap_free);
  const auto share = state.sample.memory.get(ProcessField::shared_swap);
  return !share && none ? 0 : share;
}

void warn_of_unshared(std::int64_t unknown, std::vector<std::string>& warnings) {
  if (unknown == 0) return;
  warnings.push_back(fmt::format("the share of {} in the swap of shared mappings is not known, and not in the metrics",
                                 print_count(unknown, "process", "processes")));
}

void warn_of_left_out(std::int64_t left_out, std::vector<std::string>& warnings) {
  if (left_out == 0) return;
  warnings.push_back(fmt::format("{} left out: smaps_rollup could not be read, or holds nothing",
                                 print_count(left_out, "process is", "processes are")));
}

std::string written(const Json& json) {
  // All but ASCII is escaped, so that no name reaches the terminal.
  return json.dump(2, ' ', true) + "\n";
}

// A metric's name has letters, digits, '_', '-' and '.' only.
std::string metric_name(std::string_view category) {
  std::string name(category);
  for (char& c : name) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    if (!plain) c = '_';
  }
  return name;
}

}  // namespace

Result<std::string> rollup_json(const MachineMemory& machine, const TickState& tick, const Filter& filter,
                                std::vector<std::string>& warnings) {
  Json list = Json::array();
  std::int64_t left_out = 0;
  for (const ProcessState& state : tick.processes) {
    if (!filter.matches(state.process)) continue;
    if (!has_rollup(state)) {
      ++left_out;
      continue;
    }
    Json rollup = Json::object();
    for (std::size_t i = 0; i < kRollupFields; ++i) {
      const auto kib = state.sample.memory.get(static_cast<ProcessField>(i));
      if (kib) rollup[kProcessFields[i].key] = *kib * 1024;
    }
    const auto shared_swap = shared_swap_kib(state, machine);
    list.push_back({{"command", to_utf8(state.process.info.command)},
                    {"pid", state.process.info.key.pid},
                    {"shared_swap_pss", shared_swap ? Json(*shared_swap * 1024) : Json(nullptr)},
                    {"rollup", std::move(rollup)}});
  }
  warn_of_left_out(left_out, warnings);
  return written(list);
}

Result<std::string> category_metrics_json(const MachineMemory& machine, const TickState& tick, const Filter& filter,
                                          std::vector<std::string>& warnings) {
  struct Sum {
    std::int64_t pss_kib = 0;
    std::int64_t swap_kib = 0;
  };
  std::map<std::string, Sum> sums;
  std::int64_t left_out = 0;
  std::int64_t unknown = 0;
  for (const ProcessState& state : tick.processes) {
    const ProcessInfo& info = state.process.info;
    if (!filter.matches(state.process)) continue;
    if (!has_rollup(state)) {
      ++left_out;
      continue;
    }
    const auto pss = state.sample.memory.get(ProcessField::pss);
    const auto swap = state.sample.memory.get(ProcessField::swap_pss);
    if (!pss || !swap) {
      return Error{ErrorKind::io, fmt::format("the rollup of process {} ({}) has no {}", info.key.pid,
                                              to_printable(info.comm), pss ? "SwapPss" : "Pss")};
    }
    Sum& sum = sums[metric_name(info.category)];
    sum.pss_kib += *pss;
    const auto shared_swap = shared_swap_kib(state, machine);
    sum.swap_kib += *swap + shared_swap.value_or(0);
    if (!shared_swap) ++unknown;
  }
  warn_of_left_out(left_out, warnings);
  warn_of_unshared(unknown, warnings);
  Json metrics = Json::object();
  const auto add = [&metrics](const std::string& name, std::int64_t kib) {
    metrics[name]["summary"] = {{"units", "MiB"},
                                {"improvement_direction", "down"},
                                {"type", "scalar"},
                                {"value", static_cast<double>(kib) / 1024}};
  };
  for (const auto& [name, sum] : sums) {
    add(name + "_pss", sum.pss_kib);
    add(name + "_pss_swap", sum.swap_kib);
    add(name + "_pss_total", sum.pss_kib + sum.swap_kib);
  }
  return written(metrics);
}

}  // namespace memoir::query
