#include "query/view/worker.h"

#include <algorithm>
#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>
#include <utility>

#include "base/atomic_file.h"
#include "query/args/when.h"
#include "query/history/recording.h"
#include "query/view/pages.h"
#include "store/copy/copy.h"

namespace memoir::query::view {
namespace {

constexpr std::chrono::milliseconds kRest{150};

// Returns why a command cannot be answered in the view; empty if it can.
std::string refusal(const Parsed& parsed) {
  const Command& command = *parsed.command;
  if (!command.run) return fmt::format("memoir {} runs in a shell only", command.name);
  if (parsed.options.extract || parsed.options.output)
    return "--output and --extract work in a shell only; X saves a page";
  return {};
}

const char* ending_of(Format format) {
  switch (format) {
    case Format::html:
      return ".html";
    case Format::markdown:
      return ".md";
    case Format::json:
      return ".json";
    case Format::csv:
      return ".csv";
    default:
      return ".txt";
  }
}

// Returns a new name: adds a number if a file of that name exists.
std::string new_path(const std::string& name, const char* ending) {
  std::string path = name + ending;
  for (int number = 2; access(path.c_str(), F_OK) == 0; ++number) path = fmt::format("{}-{}{}", name, number, ending);
  return path;
}

bool is_extract(const AskFor& question) {
  return !question.file.empty() && !question.words.empty() && question.words.front() == kExtract;
}

// `memoir extract`, without its progress and its handlers of signals.
Result<std::string> save_extract(const FileInfo& file, const Options& options, const std::string& name,
                                 std::int64_t now_ms, const std::stop_token& stop) {
  const When when = TRY(resolve_when(options, {file.first_tick_ms, file.last_tick_ms}, now_ms));
  if (!when.range) return Error{ErrorKind::malformed, "which range?"};
  std::string path = new_path(name, ".db");
  const auto goes_on = [&stop](int) { return !stop.stop_requested(); };
  TRY(extract({file.path, path, Existing::keep, goes_on}, *when.range));
  return path;
}

// Answers a question that saves an extract.
Answered answer_extract(const FileInfo& file, const Interaction& around, const AskFor& question, std::int64_t now_ms,
                        const std::stop_token& stop) {
  Answered answered{question.slot, question.id, nullptr, {}, {}};
  const Result<Parsed> parsed = around.parse(question.words);
  const Result<std::string> path =
      parsed ? save_extract(file, parsed->options, question.file, now_ms, stop) : parsed.error();
  path ? answered.file = *path : answered.error = path.error().message;
  return answered;
}

Result<std::string> save_new(const std::string& name, const char* ending, std::string_view text) {
  std::string path = new_path(name, ending);
  AtomicFile file = TRY(AtomicFile::begin(path, Existing::keep));
  TRY(file.write(text));
  TRY(file.commit());
  return path;
}

}  // namespace

RecordingInfo recorded_of(const Session& session, std::int64_t now_ms) {
  const FileInfo& file = session.file();
  const std::vector<StoredRun>& runs = session.runs();
  RecordingInfo recorded;
  recorded.state = judge_recording(file, runs, now_ms);
  recorded.first_ms = file.first_tick_ms;
  recorded.last_ms = file.last_tick_ms;
  recorded.ticks = file.ticks;
  recorded.now_ms = now_ms;
  recorded.file = session.replaced();
  if (runs.empty()) return recorded;
  recorded.host = runs.back().boot.host;
  recorded.interval_ms = std::max<std::int64_t>(runs.back().interval_ms, 1);
  return recorded;
}

Answered answer_question(Session& session, const Interaction& around, const AskFor& question, std::int64_t now_ms,
                         const std::stop_token& stop) {
  if (is_extract(question)) return answer_extract(session.file(), around, question, now_ms, stop);
  Answered answered{question.slot, question.id, nullptr, {}, {}};
  const Result<Parsed> parsed = around.parse(question.words);
  if (!parsed) {
    answered.error = parsed.error().message;
    return answered;
  }
  answered.error = refusal(*parsed);
  if (!answered.error.empty()) return answered;
  Result<Report> report = session.ask(*parsed->command, parsed->options, now_ms, {}, stop);
  if (!report) {
    answered.error = report.error().message;
  } else if (!question.file.empty()) {
    const std::string text = around.render(session.asked(*parsed->command), *report, parsed->options);
    const Result<std::string> path = save_new(question.file, ending_of(parsed->options.format), text);
    path ? answered.file = *path : answered.error = path.error().message;
  } else {
    answered.report = std::make_shared<const Report>(*std::move(report));
  }
  return answered;
}

Sought answer_seek(Session& session, const Seek& seek) {
  Sought sought{seek.id, seek.at_ms};
  Options options;
  options.tier = seek.tier;
  if (seek.steps == 0) {
    const auto tick = session.reader().tick_at(seek.at_ms);
    if (tick && *tick) sought.at_ms = (*tick)->begin.wall_ms;
    if (!seek.after_ms || sought.at_ms > *seek.after_ms) return sought;
    const auto next = session.next_tick(options, *seek.after_ms);
    if (next && *next) sought.at_ms = **next;
    return sought;
  }
  for (int step = 0; step < std::abs(seek.steps); ++step) {
    const auto next =
        seek.steps > 0 ? session.next_tick(options, sought.at_ms) : session.previous_tick(options, sought.at_ms);
    if (!next || !*next) break;
    sought.at_ms = **next;
  }
  return sought;
}

Worker::Worker(Session session, const Interaction& around) : session_(std::move(session)), around_(around) {
  if (pipe2(wake_.data(), O_NONBLOCK | O_CLOEXEC) != 0) wake_ = {-1, -1};
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Worker::~Worker() {
  thread_.request_stop();
  {
    const std::lock_guard lock(mutex_);
    stop_running_.request_stop();
  }
  thread_.join();
  extract_ = {};
  for (const int file : wake_) close(file);
}

void Worker::ask(AskFor question) {
  const std::lock_guard lock(mutex_);
  const auto slot = static_cast<std::size_t>(question.slot);
  if (question.slot != Slot::save) {
    if (running_ == question.slot) stop_running_.request_stop();
  } else if (const auto& replaced = due_.at(slot)) {
    messages_.emplace_back(Answered{Slot::save, replaced->question.id, nullptr, "only the second file is saved", {}});
  }
  const Time now = std::chrono::steady_clock::now();
  due_.at(slot) = Due{std::move(question), now};
  if (due_.at(slot)->question.rests) due_.at(slot)->at = now + kRest;
  changed_.notify_one();
}

void Worker::seek(Seek seek) {
  const std::lock_guard lock(mutex_);
  seek_ = std::move(seek);
  if (running_) stop_running_.request_stop();
  changed_.notify_one();
}

std::vector<Msg> Worker::take() {
  std::array<char, 64> bytes{};
  while (read(wake_[0], bytes.data(), bytes.size()) > 0) continue;
  const std::lock_guard lock(mutex_);
  return std::exchange(messages_, {});
}

void Worker::start_extract(AskFor question) {
  extract_ = {};
  extracting_ = true;
  // It reads the file with a connection of its own.
  extract_ = std::jthread([this, question = std::move(question), file = session_.file()](const std::stop_token& stop) {
    Answered answered = answer_extract(file, around_, question, around_.clock.now().wall_ms, stop);
    if (stop.stop_requested() && answered.file.empty()) answered.error = "the extract was stopped";
    extracting_ = false;
    post(std::move(answered));
  });
}

void Worker::post(Msg msg) {
  const std::lock_guard lock(mutex_);
  messages_.push_back(std::move(msg));
  [[maybe_unused]] const auto written = write(wake_[1], "", 1);
}

std::optional<Slot> Worker::next_slot(Time now) const {
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    if (due_.at(slot) && due_.at(slot)->at <= now) return static_cast<Slot>(slot);
  }
  return std::nullopt;
}

Worker::Time Worker::next_due(Time poll) const {
  Time next = poll;
  for (const auto& due : due_) {
    if (due) next = std::min(next, due->at);
  }
  return next;
}

std::chrono::milliseconds Worker::poll_interval() const {
  constexpr std::int64_t parts = 8;
  const auto& runs = session_.runs();
  const std::int64_t interval_ms = runs.empty() ? 10'000 : runs.back().interval_ms;
  return std::chrono::milliseconds(std::clamp<std::int64_t>(interval_ms / parts, 100, 1000));
}

void Worker::look_for_ticks() {
  // An extract keeps the session's file open: a process that closes a -shm loses its locks on it
  // (store/sqlite/wal_locks.h).
  const Result<bool> changed = session_.refresh(!extracting_);
  if (!changed) {
    if (!std::exchange(lost_, true)) post(Lost{changed.error().message});
    return;
  }
  const RecordingInfo recorded = recorded_of(session_, around_.clock.now().wall_ms);
  const bool same = !*changed && !std::exchange(lost_, false) && recorded.state == state_;
  // Only the age of the last tick changes between ticks. It is reported once a second if a newer tick is overdue.
  constexpr std::int64_t second_ms = 1000;
  if (same && (recorded.state == Recording::active || recorded.now_ms < reported_ms_ + second_ms)) return;
  state_ = recorded.state;
  reported_ms_ = recorded.now_ms;
  post(Ticked{recorded, same});
}

void Worker::run(const std::stop_token& stop) {
  Time poll = std::chrono::steady_clock::now() + poll_interval();
  bool answered_since_trim = false;
  while (!stop.stop_requested()) {
    std::optional<Seek> seek;
    std::optional<Due> due;
    std::stop_token stop_answer;
    {
      std::unique_lock lock(mutex_);
      changed_.wait_until(lock, stop, next_due(poll),
                          [this] { return seek_ || next_slot(std::chrono::steady_clock::now()); });
      if (stop.stop_requested()) return;
      seek = std::exchange(seek_, std::nullopt);
      const auto slot = seek ? std::nullopt : next_slot(std::chrono::steady_clock::now());
      if (slot) {
        due = std::exchange(due_.at(static_cast<std::size_t>(*slot)), std::nullopt);
        if (!is_extract(due->question)) running_ = slot;
        stop_running_ = std::stop_source();
        stop_answer = stop_running_.get_token();
      }
    }
    if (seek) post(answer_seek(session_, *seek));
    if (due && is_extract(due->question)) {
      start_extract(std::move(due->question));
    } else if (due) {
      Answered answered = answer_question(session_, around_, due->question, around_.clock.now().wall_ms, stop_answer);
      answered_since_trim = true;
      const bool stopped = stop_answer.stop_requested() && !answered.report && answered.file.empty();
      bool again = false;
      {
        const std::lock_guard lock(mutex_);
        running_.reset();
        auto& next = due_.at(static_cast<std::size_t>(due->question.slot));
        again = stopped && !next;
        if (again) next = std::move(due);  // interrupted by a seek: ask again
      }
      if (!stopped || (!again && answered.slot == Slot::save)) post(std::move(answered));
    }
    const Time now = std::chrono::steady_clock::now();
    if (now < poll) continue;
    look_for_ticks();
    if (std::exchange(answered_since_trim, false)) malloc_trim(0);
    poll = now + poll_interval();
  }
}

}  // namespace memoir::query::view
