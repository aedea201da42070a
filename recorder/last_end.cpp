#include "recorder/last_end.h"

#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <sstream>

#include "base/file.h"
#include "base/own_file.h"
#include "base/text.h"

namespace memoir {
namespace {

constexpr const char* kNoteName = "last-end";
constexpr std::size_t kMaxNote = 256;

}  // namespace

std::string end_cause(std::string_view note) {
  std::istringstream words{to_printable(note)};
  std::string result;
  std::string code;
  std::string status;
  std::string counter;
  std::int64_t oom_kills = 0;
  words >> result >> code >> status >> counter >> oom_kills;
  if (result.empty() || result == "success") return "";
  // The counter includes kills of programs that ran for alerts.
  if (result == "oom-kill" || (oom_kills > 0 && status == "KILL"))
    return "The OOM killer killed the previous recorder, or a program that it ran for an alert";
  if (result == "watchdog") return "The watchdog killed the previous recorder: it did not respond in time";
  if (code == "killed") return fmt::format("SIG{} killed the previous recorder", status);
  if (code == "dumped") return fmt::format("The previous recorder crashed with SIG{}", status);
  return fmt::format("The previous recorder exited with status {} (systemd: {})", status, result);
}

std::string take_end_cause(const std::string& db) {
  const std::string path = std::filesystem::path(db).replace_filename(kNoteName);
  Buffer buffer;
  if (!check_own_file(path)) return "";
  const auto note = read_named_file(path, buffer, kMaxNote);
  std::string cause = note ? end_cause(*note) : "";
  std::error_code error;
  std::filesystem::remove(path, error);
  return cause;
}

}  // namespace memoir
