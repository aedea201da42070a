#include "query/on_screen.h"

#include "query/command_line.h"
#include "query/render/render.h"
#include "query/session/session.h"

namespace memoir::test {

using namespace query;

Result<std::string> answer_on_screen(const std::string& path, std::int64_t now_ms,
                                     const std::vector<std::string>& arguments, std::optional<Screen> screen) {
  use_utf8();
  const Result<Invocation> invocation = parse_command_line(arguments);
  if (!invocation) return invocation.error();
  const Options& options = invocation->options;
  const Command& command = *invocation->command;
  Result<Session> session = Session::open(path);
  if (!session) return session.error();
  const Result<Report> report =
      command.run ? session->ask(command, options, now_ms, screen) : command.run_alone(options, now_ms);
  if (!report) return report.error();
  const std::string host = session->asked(command).host;
  const auto width = screen ? std::optional(screen->columns) : std::nullopt;
  return render_table({command.name, "DB", host}, *report, {options.zone, options.units, false, width, options.ascii});
}

}  // namespace memoir::test
