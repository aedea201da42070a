#include "query/session/session.h"

#include <exception>
#include <fmt/format.h>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "base/transformed.h"
#include "query/args/filter.h"
#include "query/args/times.h"
#include "query/names/name_lookup.h"
#include "query/names/owners.h"
#include "query/report/columns.h"
#include "query/session/exception.h"
#include "query/session/steps.h"
#include "query/state/process_columns.h"
#include "store/names.h"

namespace memoir::query {
namespace {

// Turns exceptions of libraries and of memoir itself into errors that name the file.
template <typename Run>
auto guarded(const std::string& path, Run&& run) -> decltype(run()) {
  try {
    return run();
  } catch (const std::exception& error) {
    return Error{ErrorKind::io, fmt::format("{}: {}", path, exception_message(error))};
  }
}

// Adds human-readable names to the values by which rows are grouped.
Status show_names(Reader& reader, const Options& options, Report& report) {
  if (options.group == "identity") return show_titles(reader, report);
  return options.group == "container" ? show_container_names(reader, report.rows) : Done{};
}

std::optional<std::int32_t> pid_in(std::string_view text) {
  return parse_number<std::int32_t>(text.substr(0, text.find('@')));
}

// Explains an error about a pid that had no process at the queried time: says when that pid ran. Returns the error's
// own message otherwise.
std::string with_lifetimes(const Context& context, const Error& error) {
  if (error.kind != ErrorKind::not_found) return error.message;
  std::vector<std::string> pids = context.options.subjects;
  for (const std::string& filter : context.options.filters) {
    if (filter.starts_with("pid=")) pids.push_back(filter.substr(4));
  }
  const std::int64_t at_ms = context.when.at_ms.value_or(context.file.last_tick_ms);
  const Range range = context.when.range.value_or(Range{at_ms, at_ms});
  for (const std::string& given : pids) {
    const auto pid = pid_in(given);
    if (!pid) continue;
    const auto then = load_processes_of_pid(context.reader, range, *pid);
    if (then && then->empty()) return when_it_ran(context, *pid).value_or(error.message);
  }
  return error.message;
}

// If the filter names processes that do not exist, returns sentences that explain why nothing is shown. Otherwise
// returns nullopt.
std::optional<std::vector<std::string>> absent_processes(const Context& context, std::optional<Range> answered) {
  const Result<Filter> filter = Filter::parse(context.options.filters);
  if (!filter || filter->takes_all()) return std::nullopt;
  const Range asked = range_asked(context.when, context.file.last_tick_ms);
  const Range range = context.when.range ? asked : answered.value_or(asked);
  const Result<std::vector<StoredProcess>> processes = load_processes(context.reader, range);
  if (!processes || processes->empty() || filter->names_any(*processes)) return std::nullopt;
  return transformed(filter->misses(*processes), [&context](const Filter::Miss& miss) {
    const auto pid = pid_in(miss.pid);
    return pid ? when_it_ran(context, *pid).value_or(miss.sentence) : miss.sentence;
  });
}

void append(std::vector<std::string>& list, std::vector<std::string> more) {
  list.insert(list.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

Result<Session> Session::open(const std::string& path, std::size_t kept_bytes) {
  Session session(TRY(Reader::open(path)));
  Reader& reader = *session.reader_;
  session.kept_bytes_ = kept_bytes;
  if (kept_bytes > 0) reader.keep_snapshots(kept_bytes);
  reader.start_answer(kAnswerWithin);
  session.version_ = TRY(reader.data_version());
  session.file_ = TRY(reader.info());
  session.runs_ = TRY(reader.runs());
  return session;
}

Result<bool> Session::refresh(bool may_reopen) {
  const auto open_again = [this, may_reopen](int replaced) -> Result<bool> {
    if (!may_reopen) return false;
    *this = TRY(open(file_.path, kept_bytes_));
    replaced_ = replaced;
    return true;
  };
  if (!reader_->has_current_file()) return open_again(replaced_ + 1);
  reader_->start_answer(kAnswerWithin);
  const std::int64_t version = TRY(reader_->data_version());
  FileInfo file = TRY(reader_->info());
  // The reader must be opened again: a recorder that starts may upgrade the file, and without a recorder the file may
  // have been opened as immutable.
  if (file.schema != file_.schema || file.recorder_pid != file_.recorder_pid) return open_again(replaced_);
  if (version != version_) runs_ = TRY(reader_->runs());
  file_ = std::move(file);
  return std::exchange(version_, version) != version;
}

template <typename Run>
auto Session::run(const Command& command, const Options& options, std::int64_t now_ms, std::optional<Screen> screen,
                  const Run& run) -> std::invoke_result_t<Run, const Context&> {
  // Without a tick, ranges are within the last day.
  const Recorded recorded =
      file_.ticks > 0 ? Recorded{file_.first_tick_ms, file_.last_tick_ms} : Recorded{now_ms - kDayMs, now_ms};
  const When when = TRY(resolve_when(options, recorded, now_ms));
  Options about = options;
  const Context context{about, *reader_, file_, runs_, now_ms, when, screen};
  if (command.subject_filters) append(about.filters, TRY(subject_filters(context)));
  return guarded(file_.path, [&] { return run(context); });
}

Result<Report> Session::ask(const Command& command, const Options& options, std::int64_t now_ms,
                            std::optional<Screen> screen, const std::stop_token& stop) {
  reader_->start_answer(kAnswerWithin, stop);
  return run(command, options, now_ms, screen, [&](const Context& context) -> Result<Report> {
    Result<Report> report = command.run(context);
    if (!report) return Error{report.error().kind, with_lifetimes(context, report.error())};
    TRY(show_names(*reader_, options, *report));
    if (auto why = report->rows.rows.empty() ? absent_processes(context, report->range) : std::nullopt) {
      report->nothing_recorded = true;
      append(report->warnings, *std::move(why));
    }
    if (!options.columns.empty()) TRY(choose_columns(options.columns, is_data_format(options.format), report->rows));
    return report;
  });
}

Result<Streamed> Session::stream(const Command& command, const Options& options, std::int64_t now_ms,
                                 std::optional<Screen> screen, const Sink& sink) {
  reader_->start_answer({});  // no CPU limit: a streamed answer may be of any length
  return run(command, options, now_ms, screen, [&](const Context& context) -> Result<Streamed> {
    Result<Streamed> streamed = command.stream(context, sink);
    // not_found means a missing subject, so a missing folder of the output becomes an io error.
    if (!streamed && streamed.error().kind == ErrorKind::not_found)
      return Error{ErrorKind::io, streamed.error().message};
    if (!streamed) return streamed;
    if (auto why = absent_processes(context, std::nullopt)) {
      streamed->nothing_recorded = true;
      append(streamed->warnings, *std::move(why));
    }
    return streamed;
  });
}

Result<std::optional<std::int64_t>> Session::next_tick(const Options& options, std::int64_t at_ms) {
  reader_->start_answer(kAnswerWithin);
  return time_after({options, *reader_, file_, runs_, at_ms, {}, {}}, at_ms);
}

Result<std::optional<std::int64_t>> Session::previous_tick(const Options& options, std::int64_t at_ms) {
  reader_->start_answer(kAnswerWithin);
  return time_before({options, *reader_, file_, runs_, at_ms, {}, {}}, at_ms);
}

ReportContext Session::asked(const Command& command) const {
  return {command.name, file_.path, runs_.empty() ? std::string() : runs_.back().boot.host};
}

}  // namespace memoir::query
