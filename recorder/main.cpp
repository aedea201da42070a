// memoird: parses options, connects the parts and runs them.

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fmt/format.h>
#include <malloc.h>
#include <utility>
#include <variant>

#include "base/log.h"
#include "base/text.h"
#include "recorder/daemon.h"
#include "recorder/options.h"
#include "recorder/self_usage.h"
#include "recorder/settings.h"
#include "store/sqlite/database.h"

namespace memoir {
namespace {

constexpr int kWrongConfiguration = 2;

SelfUsageText& own_usage() {
  static const SystemClock clock;
  static SelfUsageText usage(clock, [] { return measure_self(sqlite_memory_bytes()); });
  return usage;
}

int complain(const Error& error, int status) {
  std::string_view lines = error.message;
  while (!lines.empty()) {
    const std::string_view line = cut_line(lines);
    fmt::print(stderr, "memoird: {}{}\n", line, lines.empty() ? own_usage().text() : "");
  }
  return status;
}

int check_config(const Settings& settings) {
  fmt::print("{}: {}\n", settings.config_path,
             settings.config_found ? "is valid" : "does not exist; the defaults are in effect");
  return EXIT_SUCCESS;
}

int record(const RecorderOptions& options, const Settings& settings, Rules rules) {
  log_level(to_log_level(settings.config));
  Daemon daemon(options, settings);
  const Status started = daemon.start(std::move(rules));
  if (!started) {
    log_error(started.error().message);
    return EXIT_FAILURE;
  }
  return daemon.run();
}

int run(int argc, char** argv) {
  const std::variant<RecorderOptions, int> parsed = parse_options(argc, argv);
  if (const int* status = std::get_if<int>(&parsed)) return *status;
  const RecorderOptions& options = std::get<RecorderOptions>(parsed);
  // Without JOURNAL_STREAM, log lines have a date instead of the journal's priorities.
  if (options.foreground) unsetenv("JOURNAL_STREAM");
  log_start(LogLevel::info, [] { return own_usage().text(); });
  const Result<Settings> settings = load_settings(options);
  if (!settings) return complain(settings.error(), kWrongConfiguration);
  if (options.format_config) {
    fmt::print("{}", format_config(spelled_out(settings->config)));
    return EXIT_SUCCESS;
  }
  Result<Rules> rules = make_rules(*settings);
  if (!rules) return complain(rules.error(), kWrongConfiguration);
  if (options.check_config) return check_config(*settings);
  return record(options, *settings, *std::move(rules));
}

}  // namespace
}  // namespace memoir

int main(int argc, char** argv) {
  // One arena for both threads: memory freed by one is usable by the other, and the heap stays small and contiguous.
  mallopt(M_ARENA_MAX, 1);
  // Large lists of a tick always have memory of their own, which returns to the kernel with them. By default glibc
  // raises this limit after the first of them.
  mallopt(M_MMAP_THRESHOLD, 256 << 10);
  // The parent may ignore SIGCHLD; the exit status of a child would then be lost.
  std::signal(SIGCHLD, SIG_DFL);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond the limit on file sizes then fails, as on a full disk
  try {
    return memoir::run(argc, argv);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "memoird: %s\n", failure.what());
    return EXIT_FAILURE;
  }
}
