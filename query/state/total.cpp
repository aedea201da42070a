#include "query/state/total.h"

#include <fmt/format.h>

#include "query/args/times.h"
#include "query/history/recording.h"
#include "query/report/format.h"

namespace memoir::query {

namespace {

// By how much estimates are wrong: were lately, as far as that is known, and are now at most.
struct EstimatesOff {
  std::optional<double> percent;
  std::optional<std::int64_t> most_kib;

  std::string text(Units units) const {
    const std::string most = most_kib ? "at most " + print_size(*most_kib, units) : std::string();
    if (!percent) return most.empty() ? most : ", estimates off by " + most;
    return fmt::format(", estimates off by {:.1f}%{}", *percent, most.empty() ? most : ", " + most);
  }
};

Result<EstimatesOff> estimates_off(const Tally& total, const State& state, Reader& reader) {
  EstimatesOff off;
  if (total.exact_percent().value_or(100) >= 100) return off;
  // In the hour before, where a reading replaced them.
  const auto reads = sum_up_reads(TRY(reader.ticks({state.at_ms - kHourMs, state.at_ms})));
  if (reads) off.percent = reads->error_percent;
  Tally all;
  for (const HeldProcess& process : state.processes) add_to(all, process);
  off.most_kib = estimates_off_most_kib(total, all, state.machine.memory);
  return off;
}

std::string known_part(std::optional<double> exact_percent, const EstimatesOff& off, Units units) {
  if (!exact_percent) return {};
  return fmt::format(" ({} of it exact{})", print_exact(*exact_percent), off.text(units));
}

}  // namespace

Status report_total(const Tally& total, const State& state, const Context& context, Report& report) {
  const Units units = context.options.units;
  const auto size = [units](std::optional<std::int64_t> kib) { return kib ? print_size(*kib, units) : "unknown"; };
  const MachineMemory& machine = state.machine.memory;
  const std::optional<double> exact = total.exact_percent();
  const EstimatesOff off = TRY(estimates_off(total, state, context.reader));
  std::vector<Field>& totals = report.totals;
  totals = {{"processes", "", Kind::count, total.processes()},
            {"inexact", "", Kind::count, total.inexact()},
            {"exact_percent", "", Kind::percent, exact},
            {"estimates_off_percent", "", Kind::percent, off.percent}};
  if (off.most_kib) totals.push_back({"estimates_off_most_kib", "", Kind::size, off.most_kib});
  for (const Metric metric : {Metric::pss, Metric::rss, Metric::uss, Metric::anon, Metric::swap, Metric::swap_pss})
    totals.push_back({std::string(info_of(metric).column), "", Kind::size, total.kib(metric)});
  totals.push_back({"machine_total_kib", "", Kind::size, machine.get(MachineField::mem_total)});
  totals.push_back({"machine_available_kib", "", Kind::size, machine.get(MachineField::mem_available)});
  totals.push_back({"machine_used_kib", "", Kind::size, used_kib(machine)});
  totals.push_back({"machine_swap_used_kib", "", Kind::size, swap_used_kib(machine)});
  const std::string sum =
      fmt::format("{}: PSS {}{}, RSS {}, swap {}.", print_count(total.processes(), "process", "processes"),
                  size(total.kib(Metric::pss)), known_part(exact, off, units), size(total.kib(Metric::rss)),
                  size(total.kib(Metric::swap)));
  report.notes.push_back(total.processes() == 0 ? "No process matches." : sum);
  report.notes.push_back(fmt::format("Machine: {} used of {}, {} available, {} swap used.", size(used_kib(machine)),
                                     size(machine.get(MachineField::mem_total)),
                                     size(machine.get(MachineField::mem_available)), size(swap_used_kib(machine))));
  return Done{};
}

}  // namespace memoir::query
