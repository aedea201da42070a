#include "query/on_screen.h"

#include "query/args/when.h"
#include "query/command_line.h"
#include "query/render/render.h"
#include "query/state/command.h"

namespace memoir::test {

using namespace query;

Result<std::string> answer_on_screen(const std::string& path, std::int64_t now_ms,
                                     const std::vector<std::string>& arguments, std::optional<Screen> screen) {
  use_utf8();
  const Result<Invocation> invocation = parse_command_line(arguments);
  if (!invocation) return invocation.error();
  const Options& options = invocation->options;
  const auto reader = Reader::open(path);
  if (!reader) return reader.error();
  const FileInfo file = (*reader)->info().value();
  const std::vector<StoredRun> runs = (*reader)->runs().value();
  const Result<When> when = resolve_when(options, {file.first_tick_ms, file.last_tick_ms}, now_ms);
  if (!when) return when.error();
  const Command& command = *invocation->command;
  const Result<Report> report = command.run ? command.run({options, **reader, file, runs, now_ms, *when, screen})
                                            : command.run_alone(options, now_ms);
  if (!report) return report.error();
  const std::string host = runs.empty() ? std::string() : runs.back().boot.host;
  const auto width = screen ? std::optional(screen->columns) : std::nullopt;
  return render_table({command.name, "DB", host}, *report, {options.zone, options.units, false, width, options.ascii});
}

}  // namespace memoir::test
