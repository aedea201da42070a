#include "query/args/subject.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <tuple>

#include "base/nearest.h"
#include "base/text.h"
#include "query/args/times.h"

namespace memoir::query {
namespace {

Error not_a_subject(std::string_view text, std::string_view why) {
  return malformed(fmt::format("'{}' {}; a subject is {}", to_printable(text), why, kSubjectForms));
}

Result<Subject> group(std::string_view text, std::string_view key, char comparison, std::string_view value) {
  Subject subject;
  subject.kind = Subject::Kind::group;
  subject.name = fmt::format("{}{}{}", key, comparison == '=' ? ':' : '~', value);
  Result<Filter> members = Filter::parse({fmt::format("{}{}{}", key, comparison, value)});
  if (!members) return not_a_subject(text, "is not a subject: " + members.error().message);
  subject.members = *std::move(members);
  subject.key = key;
  if (comparison == '=') subject.value = value;
  if (key == "category" && comparison == '=') subject.category = value;
  return subject;
}

Result<Subject> process(std::string_view text, std::int64_t now_ms, Zone zone) {
  std::string_view start = text;
  const auto pid = parse_number<std::int32_t>(cut(start, '@'));
  if (!pid || *pid <= 0) return not_a_subject(text, "has no pid");
  Subject subject;
  subject.kind = Subject::Kind::process;
  subject.name = text;
  subject.pid = *pid;
  if (text.find('@') == std::string_view::npos) return subject;
  const bool number = parse_number<std::int64_t>(start).has_value();
  subject.start_ms = TRY(parse_time(number ? "@" + std::string(start) : std::string(start), now_ms, zone));
  return subject;
}

bool is_pid(std::string_view text) {
  const std::string_view digits = text.substr(0, text.find('@'));
  return !digits.empty() && std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Returns the pid in a title that memoir prints, "python3 worker.py (pid 812)"; nullopt for other text.
std::optional<std::string_view> pid_of_title(std::string_view text) {
  constexpr std::string_view before = "(pid ";
  const std::size_t at = text.rfind(before);
  if (at == std::string_view::npos || !text.ends_with(')')) return std::nullopt;
  text = text.substr(at + before.size(), text.size() - at - before.size() - 1);
  return is_pid(text) ? std::optional(text) : std::nullopt;
}

// pid and start survive an exec: keys that differ only in the exec count are one process.
using Life = std::tuple<std::string, std::int64_t, std::uint64_t>;

Life life_of(const StoredProcess& process) {
  return {process.boot_id, process.info.start_ms, process.info.key.start_ticks};
}

Result<std::vector<StoredProcess>> lives_of(const Subject& subject, const std::vector<StoredProcess>& processes,
                                            Zone zone) {
  std::vector<StoredProcess> found;
  std::set<Life> lives;
  std::vector<std::string> choices;
  for (const StoredProcess& process : processes) {
    if (process.info.key.pid != subject.pid) continue;
    if (subject.start_ms && !is_start(process.info.start_ms, *subject.start_ms)) continue;
    found.push_back(process);
    if (lives.insert(life_of(process)).second) {
      choices.push_back(fmt::format("{}@{} ({}, started {})", subject.pid, process.info.start_ms,
                                    to_printable(process.info.comm), format_time(process.info.start_ms, zone)));
    }
  }
  if (found.empty()) return Error{ErrorKind::not_found, no_process_of("pid", subject.name, processes)};
  if (lives.size() > 1) {
    return malformed(fmt::format("pid {} belonged to {} processes in this range; choose one: {}", subject.pid,
                                 lives.size(), fmt::join(choices, ", ")));
  }
  return found;
}

}  // namespace

std::string subject_help(std::string_view by_default) {
  return fmt::format("SUBJECT: {}; by default {}", kSubjectForms, by_default);
}

Result<Subject> parse_subject(std::string_view text, std::int64_t now_ms, Zone zone) {
  if (text == "machine") {
    Subject machine;
    machine.name = text;
    return machine;
  }
  if (is_pid(text)) return process(text, now_ms, zone);
  if (const auto pid = pid_of_title(text)) return process(*pid, now_ms, zone);
  const std::size_t at = text.find_first_of(":=~");
  if (text.empty()) return not_a_subject(text, "is empty");
  const std::string key(text.substr(0, at));
  const bool known = std::find(filter_keys().begin(), filter_keys().end(), key) != filter_keys().end();
  if (at != std::string_view::npos && known) {
    return group(text, key, text[at] == '~' ? '~' : '=', text.substr(at + 1));
  }
  // Names may contain ':', '=' and '~', too: "nginx: worker".
  const std::string near = at == std::string_view::npos ? std::string() : did_you_mean(key, filter_keys());
  if (!near.empty()) return not_a_subject(text, "has no known key" + near);
  Subject word;
  word.kind = Subject::Kind::word;
  word.name = text;
  return word;
}

std::optional<std::string> filter_of(const Subject& subject) {
  switch (subject.kind) {
    case Subject::Kind::process:
      return subject.start_ms ? fmt::format("pid={}@{}", subject.pid, *subject.start_ms)
                              : fmt::format("pid={}", subject.pid);
    case Subject::Kind::group: {
      std::string expression = subject.name;  // KEY:VALUE or KEY~REGEX
      if (expression[subject.key.size()] == ':') expression[subject.key.size()] = '=';
      return expression;
    }
    default:
      return std::nullopt;
  }
}

Result<Subject> subject_of(std::string_view key, std::string_view value) {
  return group(value, key, '=', value);
}

Result<std::vector<StoredProcess>> members_of(const Subject& subject, const std::vector<StoredProcess>& processes,
                                              Zone zone) {
  if (subject.kind == Subject::Kind::process) return lives_of(subject, processes, zone);
  std::vector<StoredProcess> members;
  for (const StoredProcess& process : processes) {
    if (subject.members.matches(process)) members.push_back(process);
  }
  if (!members.empty()) return members;
  if (subject.value.empty())
    return Error{ErrorKind::not_found, fmt::format("no process matches '{}' at that time", to_printable(subject.name))};
  return Error{ErrorKind::not_found, no_process_of(subject.key, subject.value, processes)};
}

}  // namespace memoir::query
