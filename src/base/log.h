#pragma once

// The program's log, to stderr by spdlog. Under systemd (JOURNAL_STREAM names our stderr) lines have the journal's
// priority prefix (sd-daemon(3)) instead of a date. Messages with an id then go to the journal's socket. The recorder
// passes a suffix, computed for each line, that shows its own memory use. Thread-safe after log_start.

#include <exception>
#include <functional>
#include <string>
#include <string_view>

#include "base/journal.h"

namespace memoir {

enum class LogLevel { debug, info, warning, error };

void log_start(LogLevel least, std::function<std::string()> suffix = {},
               std::string_view journal = JournalSocket::kPath);
void log_level(LogLevel least);  // logs only lines of at least this level from now on
void log_line(LogLevel level, std::string_view text);

inline void log_debug(std::string_view text) {
  log_line(LogLevel::debug, text);
}
inline void log_info(std::string_view text) {
  log_line(LogLevel::info, text);
}
inline void log_warning(std::string_view text) {
  log_line(LogLevel::warning, text);
}
inline void log_error(std::string_view text) {
  log_line(LogLevel::error, text);
}

// Logs a line with an id (message_id::…) and fields if the log goes to the journal, otherwise an ordinary line.
void log_message(LogLevel level, std::string_view text, std::string_view id, const JournalFields& fields);

// Logs an error: "WHAT: <the exception's text>".
void log_exception(std::string_view what, const std::exception& failure) noexcept;

// Runs `action`, and logs an exception instead of passing it on: for the outermost function of a thread or a handler.
template <typename Action>
void log_exceptions(std::string_view what, Action&& action) noexcept {
  try {
    action();
  } catch (const std::exception& failure) {
    log_exception(what, failure);
  }
}

}  // namespace memoir
