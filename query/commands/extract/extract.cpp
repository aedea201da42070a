// memoir extract: a small file with one range, to attach to a ticket.

#include <fmt/format.h>

#include "query/copies/copies.h"
#include "query/state/command.h"
#include "query/state/moment.h"

namespace memoir::query {
namespace {

Result<Report> write_extract(const Context& context) {
  if (!context.when.range) {
    return malformed(
        "which range? --last 2h, --day yesterday, or --from T --to T; 'memoir extract --all' copies all of it");
  }
  const Range range = *context.when.range;
  Report begun = TRY(begin_range_report(context, range));
  if (begun.nothing_recorded) return begun;
  Report report = TRY(copy_to_output(context.file.path, context.options, "extract",
                                     [range](const CopyPlan& plan) { return extract(plan, range); }));
  report.range = range;
  report.coverage = std::move(begun.coverage);
  const auto* from_ms = std::get_if<std::int64_t>(&report.rows.rows.front().front());
  if (from_ms != nullptr && *from_ms < range.from_ms) {
    report.notes.push_back(
        fmt::format("The file starts before the range, at {}, with a tick that lists every process: give the same "
                    "range to queries.",
                    format_time(*from_ms, context.options.zone)));
  }
  report.notes.emplace_back(
      "The file has the host's name, users and command lines as recorded (secrets were redacted before that).");
  return report;
}

}  // namespace

Command extract_command() {
  return {.name = "extract",
          .summary = "small database with one time range",
          .options = {Option::from, Option::to, Option::last, Option::day, Option::output, Option::force, Option::all},
          .examples = {{"memoir extract --last 2h -o incident.db", "the last two hours, for analysis elsewhere"},
                       {"memoir extract --day yesterday -o yesterday.db", "all of yesterday"}},
          .run = write_extract};
}

}  // namespace memoir::query
