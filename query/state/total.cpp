#include "query/state/total.h"

#include <fmt/format.h>

#include "base/text.h"
#include "query/args/times.h"
#include "query/history/recording.h"
#include "query/report/format.h"
#include "store/events.h"

namespace memoir::query {

namespace {

// Error of the estimates: the recently measured error, if known, and the largest possible error now.
struct EstimatesOff {
  std::optional<double> percent;
  std::optional<std::int64_t> max_kib;

  std::string text(Units units) const {
    const std::string most = max_kib ? "at most " + format_size(*max_kib, units) : std::string();
    if (!percent) return most.empty() ? most : ", estimates off by " + most;
    return fmt::format(", estimates off by {:.1f}%{}", *percent, most.empty() ? most : ", " + most);
  }
};

Result<EstimatesOff> estimates_off(const Tally& total, const State& state, Reader& reader) {
  EstimatesOff off;
  if (total.exact_percent().value_or(100) >= 100) return off;
  // The error was measured in the hour before, when readings replaced estimates.
  const auto reads = sum_up_reads(TRY(reader.ticks({state.at_ms - kHourMs, state.at_ms})));
  if (reads) off.percent = reads->error_percent;
  Tally all;
  for (const ProcessUse& process : state.processes) add_to(all, process);
  off.max_kib = estimates_off_most_kib(total, all, state.machine.memory);
  return off;
}

std::string known_part(std::optional<double> exact_percent, const EstimatesOff& off, Units units) {
  if (!exact_percent) return {};
  return fmt::format(" ({} of it exact or held{})", format_exact_percent(*exact_percent), off.text(units));
}

}  // namespace

Result<std::string> approximate_note(const Context& context, const State& state, std::int64_t count) {
  constexpr std::int64_t first_ticks_ms = 600'000;  // time within which a run reports degraded features
  constexpr std::string_view file = "smaps_rollup";
  if (count == 0) return std::string();
  std::string why = "smaps_rollup was not readable: RSS replaces PSS, and USS is unknown.";
  const std::int64_t started_ms = state.run.started_ms;
  for (const Event& event : TRY(load_events(context.reader, {started_ms, started_ms + first_ticks_ms}))) {
    const std::size_t at = event.kind == "degraded" ? event.text.find(file) : std::string::npos;
    if (at == std::string::npos) continue;
    const std::size_t before = event.text.rfind(". ", at);
    const std::size_t begin = before == std::string::npos ? 0 : before + 2;
    why = to_printable(event.text.substr(begin, event.text.find(". ", at) - begin));
    if (!why.ends_with('.')) why += '.';
  }
  return fmt::format("{} approximate. {}", format_count(count, "process is", "processes are"), why);
}

Status report_total(const Tally& total, const State& state, const Context& context, Report& report) {
  const Units units = context.options.units;
  const auto size = [units](std::optional<std::int64_t> kib) { return kib ? format_size(*kib, units) : "unknown"; };
  const MachineMemory& machine = state.machine.memory;
  const std::optional<double> exact = total.exact_percent();
  const EstimatesOff off = TRY(estimates_off(total, state, context.reader));
  std::vector<Field>& totals = report.totals;
  totals = {{"processes", "", Kind::count, total.processes()},
            {"inexact", "", Kind::count, total.inexact()},
            {"exact_percent", "", Kind::percent, exact},
            {"estimates_off_percent", "", Kind::percent, off.percent}};
  if (off.max_kib) totals.push_back({"estimates_off_most_kib", "", Kind::size, off.max_kib});
  for (const Metric metric :
       {Metric::pss, Metric::rss, Metric::uss, Metric::anon, Metric::swap, Metric::swap_pss, Metric::hugetlb})
    totals.push_back({std::string(info_of(metric).column), "", Kind::size, total.kib(metric)});
  totals.push_back({"machine_total_kib", "", Kind::size, machine.get(MachineField::mem_total)});
  totals.push_back({"machine_available_kib", "", Kind::size, machine.get(MachineField::mem_available)});
  totals.push_back({"machine_used_kib", "", Kind::size, used_kib(machine)});
  totals.push_back({"machine_swap_used_kib", "", Kind::size, swap_used_kib(machine)});
  totals.push_back({"machine_committed_kib", "", Kind::size, machine.get(MachineField::committed_as)});
  totals.push_back({"machine_commit_limit_kib", "", Kind::size, machine.get(MachineField::commit_limit)});
  const auto pressure = [&](const char* name, MachineField average) {
    constexpr double bp_per_percent = 100;
    const auto bp = machine.get(average);
    totals.push_back(
        {name, "", Kind::percent, bp ? std::optional(static_cast<double>(*bp) / bp_per_percent) : std::nullopt});
  };
  pressure("machine_pressure_some_percent", MachineField::psi_some_avg10);
  pressure("machine_pressure_full_percent", MachineField::psi_full_avg10);
  const std::int64_t hugetlb = total.kib(Metric::hugetlb).value_or(0);
  const std::string sum =
      fmt::format("{}: PSS {}{}, RSS {}, swap {}{}.", format_count(total.processes(), "process", "processes"),
                  size(total.kib(Metric::pss)), known_part(exact, off, units), size(total.kib(Metric::rss)),
                  size(total.kib(Metric::swap)),
                  hugetlb > 0 ? fmt::format(", huge pages (hugetlb) {}", format_size(hugetlb, units)) : "");
  report.notes.push_back(total.processes() == 0 ? "No process matches." : sum);
  report.notes.push_back(fmt::format("Machine: {} used of {}, {} available, {} swap used.", size(used_kib(machine)),
                                     size(machine.get(MachineField::mem_total)),
                                     size(machine.get(MachineField::mem_available)), size(swap_used_kib(machine))));
  return Done{};
}

}  // namespace memoir::query
