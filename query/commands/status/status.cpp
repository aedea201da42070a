#include "query/commands/status/status.h"

namespace memoir::query {

namespace {

Result<Report> run_status(const Context& context) {
  const RecorderStatus status = TRY(find_status(context.reader, context.file, context.runs, context.now_ms));
  return status_report(status, context.options);
}

}  // namespace

Command status_command() {
  return {.name = "status",
          .summary = "is it recording, since when, with what gaps, and what does recording cost",
          .options = {Option::limit},
          .examples = {{"memoir status", "is it recording, and was anything missed in the last day"},
                       {"memoir status --format json", "the same for a monitor"}},
          .run = run_status};
}

}  // namespace memoir::query
