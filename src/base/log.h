#pragma once

// The program's log, to stderr by spdlog. Under systemd (JOURNAL_STREAM names our stderr) lines carry the journal's
// priority prefix (sd-daemon(3)) instead of a date. A suffix, made for each line, lets the recorder hang its own
// memory use on every line without base knowing of it. Safe from any thread after log_start.

#include <functional>
#include <string>
#include <string_view>

namespace memoir {

enum class LogLevel { debug, info, warning, error };

void log_start(LogLevel least, std::function<std::string()> suffix = {});
void log_level(LogLevel least);  // from now on
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

}  // namespace memoir
