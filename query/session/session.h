#pragma once

// The opened database and its answers: one for a program that prints and exits, any number while the recorder goes on.
// One thread at a time. No statement stays open between answers, so a session never delays the recorder.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "query/render/render.h"
#include "query/state/command.h"

namespace memoir::query {

// CPU time of one answer. A file may be crafted so that a query never ends; our own files need a tenth of this.
inline constexpr std::chrono::milliseconds kAnswerWithin{8'000};

class Session {
 public:
  // `kept_bytes`: Reader::keep_snapshots(), for steps from tick to tick.
  static Result<Session> open(const std::string& path, std::size_t kept_bytes = 0);

  // Runs a command that has `run`. Names of groups are added for humans, and the reasons why a filter finds nothing.
  // CPU time is limited for each answer. From any thread, a request to stop ends it with ErrorKind::blocked.
  Result<Report> ask(const Command& command, const Options& options, std::int64_t now_ms,
                     std::optional<Screen> screen = {}, const std::stop_token& stop = {});

  // Runs a command that has `stream`, without a limit.
  Result<Streamed> stream(const Command& command, const Options& options, std::int64_t now_ms,
                          std::optional<Screen> screen, const Sink& sink);

  // The next and the previous time that --at can reach: of a tick, or of a bucket once the ticks of that time have
  // expired. --tier applies. nullopt at the end, and at the start.
  Result<std::optional<std::int64_t>> next_tick(const Options& options, std::int64_t at_ms);
  Result<std::optional<std::int64_t>> previous_tick(const Options& options, std::int64_t at_ms);

  // Updates file() and runs(). Returns false if nothing was recorded since, and the recorder is the same. Another file
  // at the path is opened. After an error (the file was removed, or has a later schema) the session is as before, and
  // the next call tries again.
  Result<bool> refresh();

  const FileInfo& file() const { return file_; }
  const std::vector<StoredRun>& runs() const { return runs_; }
  // How often another file came to the path.
  int replaced() const { return replaced_; }
  Reader& reader() { return *reader_; }  // until the next refresh()

  // What an answer says about its origin.
  ReportContext asked(const Command& command) const;

 private:
  explicit Session(std::unique_ptr<Reader> reader) : reader_(std::move(reader)) {}

  template <typename Run>
  auto run(const Command& command, const Options& options, std::int64_t now_ms, std::optional<Screen> screen,
           const Run& run) -> std::invoke_result_t<Run, const Context&>;

  std::unique_ptr<Reader> reader_;
  std::size_t kept_bytes_ = 0;
  int replaced_ = 0;
  std::int64_t version_ = -1;  // Reader::data_version() of the following
  FileInfo file_;
  std::vector<StoredRun> runs_;
};

}  // namespace memoir::query
