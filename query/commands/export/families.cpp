#include "query/commands/export/families.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "base/text.h"
#include "model/metric.h"

namespace memoir::query {
namespace {

// Makes a family from the stored name, whose suffix gives the unit.
Family machine_family(const FieldName& field) {
  // In the name of a Prometheus series, "sec_" would mean seconds.
  const std::string column = std::string_view(field.column).starts_with("sec_")
                                 ? "secondary_" + std::string(std::string_view(field.column).substr(4))
                                 : std::string(field.column);
  Family family{"", field.key, "", false, 1};
  const auto named = [&](std::string_view suffix, std::string_view unit, double scale) {
    family.name = fmt::format("memoir_machine_{}_{}", column.substr(0, column.size() - suffix.size()), unit);
    family.unit = unit;
    family.scale = scale;
  };
  if (column.ends_with("_kib")) {
    named("_kib", "bytes", 1024);
  } else if (column.ends_with("_bp")) {
    named("_bp", "ratio", 1e-4);
  } else if (column.ends_with("_total_us")) {
    named("_total_us", "seconds", 1e-6);
    family.counter = true;
  } else {
    family.name = fmt::format("memoir_machine_{}", column);
    family.counter = column != "workingset_nodes";  // a number of nodes; other fields of /proc/vmstat count events
  }
  return family;
}

}  // namespace

std::string series_name(const Family& family) {
  return family.name + (family.counter ? "_total" : "");
}

std::string label(std::string_view name, std::string_view value) {
  std::string out = fmt::format("{}=\"", name);
  for (const char c : to_utf8(value)) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string short_label(std::string_view name, std::string_view value) {
  constexpr std::size_t most = 256;  // bytes; the path of a Kubernetes container has some 180
  std::string text = to_printable(value);
  if (text.size() > most) {
    const std::uint32_t hash = short_digest(text);
    std::size_t end = most;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    text = fmt::format("{}~{:08x}", std::string_view(text).substr(0, end), hash);
  }
  return label(name, text);
}

std::vector<Family> machine_families() {
  std::vector<Family> families{{"memoir_machine_used_bytes",
                                "MemTotal less MemAvailable and the free pages on per-CPU lists", "bytes", false,
                                1024}};
  for (const FieldName& field : kMachineFields) families.push_back(machine_family(field));
  return families;
}

void visit_machine(const MachineMemory& memory, const VisitValue& visit) {
  if (const auto kib = used_kib(memory)) visit(0, *kib);
  for (std::size_t i = 0; i < kMachineFields.size(); ++i) {
    if (const auto value = memory.get(static_cast<MachineField>(i))) visit(i + 1, *value);
  }
}

std::vector<Family> category_families() {
  std::vector<Family> families;
  families.reserve(kCategoryMetrics.size() + 2);
  for (const Metric metric : kCategoryMetrics)
    families.push_back({fmt::format("memoir_category_{}_bytes", to_string(metric)),
                        fmt::format("{} of the category's processes", metric_title(metric)), "bytes", false, 1024});
  families.push_back({"memoir_category_processes", "Processes in the category", "", false, 1});
  families.push_back(
      {"memoir_category_inexact_processes", "Processes in the category whose values are not exact", "", false, 1});
  return families;
}

void visit_category(const GroupState& held, const VisitValue& visit) {
  for (std::size_t i = 0; i < kCategoryMetrics.size(); ++i) visit(i, held.kib[kCategoryMetrics[i]].value_or(0));
  visit(kCategoryMetrics.size(), held.processes);
  if (held.inexact) visit(kCategoryMetrics.size() + 1, *held.inexact);
}

}  // namespace memoir::query
