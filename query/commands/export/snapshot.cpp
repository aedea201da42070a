// One state in the two formats of ChromeOS's memory tests: the rollups of its processes, and the memory of its
// categories as metrics (smaller is better). SwapPss omits swapped shared memory. A process's share of it is a separate
// field, and part of the swap of its category.

#include <fmt/format.h>
#include <map>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "query/commands/export/export.h"
#include "query/report/format.h"

namespace memoir::query {
namespace {

using Json = nlohmann::ordered_json;

// Returns whether smaps_rollup was ever read. Other processes lack its fields, and are left out.
bool has_rollup(const ProcessUse& held) {
  return held.sample->read_boot_ms.has_value();
}

void warn_of_unshared(std::int64_t unknown, std::vector<std::string>& warnings) {
  if (unknown == 0) return;
  warnings.push_back(fmt::format("the share of {} in swapped shared memory is unknown and left out",
                                 format_count(unknown, "process", "processes")));
}

void warn_of_left_out(std::int64_t left_out, std::vector<std::string>& warnings) {
  if (left_out == 0) return;
  warnings.push_back(fmt::format("{} left out: smaps_rollup could not be read, or is empty",
                                 format_count(left_out, "process is", "processes are")));
}

std::string written(const Json& json) {
  // Everything except ASCII is escaped, so that no name affects the terminal.
  return json.dump(2, ' ', true) + "\n";
}

// Replaces the characters that the name of a metric cannot have: all except letters, digits, '_', '-' and '.'.
std::string metric_name(std::string_view text) {
  std::string name(text);
  for (char& c : name) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    if (!plain) c = '_';
  }
  return name;
}

}  // namespace

Result<std::string> rollup_json(const State& state, const Filter& filter, std::vector<std::string>& warnings) {
  Json list = Json::array();
  std::int64_t left_out = 0;
  for (const ProcessUse& held : state.processes) {
    if (!filter.matches(*held.process)) continue;
    if (!has_rollup(held)) {
      ++left_out;
      continue;
    }
    Json rollup = Json::object();
    for (std::size_t i = 0; i < kRollupFields; ++i) {
      const auto kib = held.sample->memory.get(static_cast<ProcessField>(i));
      if (kib) rollup[kProcessFields[i].key] = *kib * 1024;
    }
    const auto shared_swap = held.sample->memory.get(ProcessField::shared_swap);
    list.push_back({{"command", to_utf8(held.process->info.command)},
                    {"pid", held.process->info.key.pid},
                    {"source", to_string(held.sample->source)},
                    {"age_ms", *held.age_ms},
                    {"shared_swap_pss", shared_swap ? Json(*shared_swap * 1024) : Json(nullptr)},
                    {"rollup", std::move(rollup)}});
  }
  warn_of_left_out(left_out, warnings);
  return written(list);
}

Result<std::string> category_metrics_json(const State& state, const Filter& filter, std::string_view suffix,
                                          std::vector<std::string>& warnings) {
  struct Sum {
    std::int64_t pss_kib = 0;
    std::int64_t swap_kib = 0;
  };
  std::map<std::string, Sum> sums;
  std::int64_t left_out = 0;
  std::int64_t unknown = 0;
  for (const ProcessUse& held : state.processes) {
    const ProcessInfo& info = held.process->info;
    if (!filter.matches(*held.process)) continue;
    if (!has_rollup(held)) {
      ++left_out;
      continue;
    }
    const auto pss = held.sample->memory.get(ProcessField::pss);
    const auto swap = held.sample->memory.get(ProcessField::swap_pss);
    if (!pss || !swap) {
      return Error{ErrorKind::io, fmt::format("the rollup of process {} ({}) has no {}", info.key.pid,
                                              to_printable(info.comm), pss ? "SwapPss" : "Pss")};
    }
    Sum& sum = sums[metric_name(info.category) + metric_name(suffix)];
    sum.pss_kib += *pss;
    const auto shared_swap = held.sample->memory.get(ProcessField::shared_swap);
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
