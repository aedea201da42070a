#include "query/answer/total.h"

#include <fmt/format.h>

#include "query/report/format.h"

namespace memoir::query {

void report_total(const Tally& total, const Snapshot& snapshot, Units units, Report& report) {
  const auto size = [units](std::optional<std::int64_t> kib) { return kib ? print_size(*kib, units) : "unknown"; };
  const MachineMemory& machine = snapshot.machine.memory;
  std::vector<Field>& totals = report.totals;
  totals = {{"processes", "", Kind::count, total.processes()},
            {"inexact", "", Kind::count, total.inexact()},
            {"exact_percent", "", Kind::percent, total.exact_percent()}};
  for (const Metric metric : {Metric::pss, Metric::rss, Metric::uss, Metric::anon, Metric::swap, Metric::swap_pss})
    totals.push_back({std::string(info_of(metric).column), "", Kind::size, total.kib(metric)});
  totals.push_back({"machine_total_kib", "", Kind::size, machine.get(MachineField::mem_total)});
  totals.push_back({"machine_available_kib", "", Kind::size, machine.get(MachineField::mem_available)});
  totals.push_back({"machine_used_kib", "", Kind::size, used_kib(machine)});
  totals.push_back({"machine_swap_used_kib", "", Kind::size, swap_used_kib(machine)});
  const auto exact = total.exact_percent();
  const std::string sum = fmt::format(
      "{}: PSS {}{}, RSS {}, swap {}.", print_count(total.processes(), "process", "processes"),
      size(total.kib(Metric::pss)), exact ? fmt::format(" ({} of it exact)", print_exact(*exact)) : std::string(),
      size(total.kib(Metric::rss)), size(total.kib(Metric::swap)));
  report.notes.push_back(total.processes() == 0 ? "No process matches." : sum);
  report.notes.push_back(fmt::format("Machine: {} used of {}, {} available, {} swap used.", size(used_kib(machine)),
                                     size(machine.get(MachineField::mem_total)),
                                     size(machine.get(MachineField::mem_available)), size(swap_used_kib(machine))));
}

}  // namespace memoir::query
