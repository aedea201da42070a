#pragma once

// An open database, which answers any number of queries while the recorder continues. Only one thread may use a session
// at a time. No statement stays open between answers, so a session never delays the recorder.

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

// Limit on the CPU time of one answer. A file may be crafted so that a query never ends; answers from genuine files
// need a tenth of this.
inline constexpr std::chrono::milliseconds kAnswerWithin{8'000};

// Memory for kept snapshots in a session of the view.
inline constexpr std::size_t kKeptBytes = 14U << 20U;

class Session {
 public:
  // `kept_bytes`: for Reader::keep_snapshots(), which makes steps from tick to tick fast.
  static Result<Session> open(const std::string& path, std::size_t kept_bytes = 0);

  // Runs a command that has `run`. Adds names of groups for humans, and the reason if a filter matches nothing. Limits
  // the CPU time. A stop request, from any thread, ends the call with ErrorKind::blocked.
  Result<Report> ask(const Command& command, const Options& options, std::int64_t now_ms,
                     std::optional<Screen> screen = {}, const std::stop_token& stop = {});

  // Runs a command that has `stream`, without a limit on its CPU time.
  Result<Streamed> stream(const Command& command, const Options& options, std::int64_t now_ms,
                          std::optional<Screen> screen, const Sink& sink);

  // Return the next and the previous time that --at can reach: a tick, or a bucket once its ticks have expired. --tier
  // applies. Return nullopt at the end or the start of the recording.
  Result<std::optional<std::int64_t>> next_tick(const Options& options, std::int64_t at_ms);
  Result<std::optional<std::int64_t>> previous_tick(const Options& options, std::int64_t at_ms);

  // Updates file() and runs(). Opens the file at the path again if it was replaced. Returns false if nothing was
  // recorded since the last call and the recorder is the same. After an error (the file was removed, or has a later
  // schema) the session is unchanged, and the next call tries again.
  Result<bool> refresh(bool may_reopen = true);

  const FileInfo& file() const { return file_; }
  const std::vector<StoredRun>& runs() const { return runs_; }
  // Number of times that another file replaced the one at the path.
  int replaced() const { return replaced_; }
  Reader& reader() { return *reader_; }  // valid until the next refresh()

  // The origin of an answer, for its report.
  ReportContext asked(const Command& command) const;

 private:
  explicit Session(std::unique_ptr<Reader> reader) : reader_(std::move(reader)) {}

  template <typename Run>
  auto run(const Command& command, const Options& options, std::int64_t now_ms, std::optional<Screen> screen,
           const Run& run) -> std::invoke_result_t<Run, const Context&>;

  std::unique_ptr<Reader> reader_;
  std::size_t kept_bytes_ = 0;
  int replaced_ = 0;
  std::int64_t version_ = -1;  // Reader::data_version() of the following members
  FileInfo file_;
  std::vector<StoredRun> runs_;
};

}  // namespace memoir::query
