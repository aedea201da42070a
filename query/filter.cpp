#include "query/filter.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>
#include <set>

#include "base/nearest.h"
#include "base/text.h"
#include "model/identity.h"

namespace memoir::query {
namespace {

enum class Key : std::size_t { category, user, pid, comm, exe, command, cgroup, unit, identity };

std::string printable(std::string_view text) {
  return to_printable(to_utf8(text));
}

// `text` holds what is no member of `info`.
const std::string& value_of(const ProcessInfo& info, Key key, std::string& text) {
  switch (key) {
    case Key::category:
      return info.category;
    case Key::user:
      return info.user;
    case Key::comm:
      return info.comm;
    case Key::exe:
      return info.exe;
    case Key::command:
      return info.command;
    case Key::cgroup:
      return info.cgroup;
    case Key::pid:
      text = std::to_string(info.key.pid);
      break;
    case Key::unit:
      text = unit_of(info.cgroup);
      break;
    case Key::identity:
      text = normalised_command(info.command);
      break;
  }
  return text;
}

std::size_t index_of(std::string_view key) {
  return static_cast<std::size_t>(std::find(filter_keys().begin(), filter_keys().end(), key) - filter_keys().begin());
}

Error bad_expression(const std::string& expression, std::string_view why) {
  return malformed(fmt::format("--filter '{}': {}; it is KEY=VALUE or KEY~REGEX, with KEY one of {}",
                               printable(expression), why, fmt::join(filter_keys(), ", ")));
}

}  // namespace

struct Filter::Term {
  Key key = Key::pid;
  std::string value;
  std::unique_ptr<RE2> pattern;  // null: compared as a whole
};

Filter::Filter() = default;
Filter::Filter(Filter&&) noexcept = default;
Filter& Filter::operator=(Filter&&) noexcept = default;
Filter::~Filter() = default;

const std::vector<std::string>& filter_keys() {
  static const std::vector<std::string> keys{"category", "user",   "pid",  "comm",    "exe",
                                             "command",  "cgroup", "unit", "identity"};
  return keys;
}

Result<Filter> Filter::parse(const std::vector<std::string>& expressions) {
  Filter filter;
  for (const std::string& expression : expressions) {
    const std::size_t at = expression.find_first_of("=~");
    if (at == std::string::npos) return bad_expression(expression, "there is no = or ~ in it");
    const std::string name = expression.substr(0, at);
    Term term;
    term.value = expression.substr(at + 1);
    const std::size_t key = index_of(name);
    if (key == filter_keys().size()) {
      return bad_expression(expression, "no such key" + did_you_mean(name, filter_keys()));
    }
    term.key = static_cast<Key>(key);
    if (expression[at] == '~') {
      term.pattern = std::make_unique<RE2>(term.value, RE2::Quiet);
      if (!term.pattern->ok()) return bad_expression(expression, printable(term.pattern->error()));
    } else if (term.key == Key::pid && !parse_int<std::int32_t>(term.value)) {
      return bad_expression(expression, "a pid is a number");
    }
    filter.terms_.push_back(std::move(term));
  }
  return filter;
}

bool Filter::matches(const ProcessInfo& info) const {
  for (const Term& term : terms_) {
    std::string text;
    const std::string& value = value_of(info, term.key, text);
    const bool holds = term.pattern ? RE2::PartialMatch(value, *term.pattern) : value == term.value;
    if (!holds) return false;
  }
  return true;
}

std::vector<std::string> Filter::misses(const std::vector<StoredProcess>& processes) const {
  std::vector<std::string> sentences;
  for (const Term& term : terms_) {
    const auto answers = [&term](const StoredProcess& process) {
      std::string text;
      return value_of(process.info, term.key, text) == term.value;
    };
    if (term.pattern || std::any_of(processes.begin(), processes.end(), answers)) continue;
    sentences.push_back(no_process_of(filter_keys()[static_cast<std::size_t>(term.key)], term.value, processes));
  }
  return sentences;
}

std::string filter_value(const ProcessInfo& info, std::string_view key) {
  std::string text;
  return value_of(info, static_cast<Key>(index_of(key)), text);
}

std::string no_process_of(std::string_view key, std::string_view value, const std::vector<StoredProcess>& processes) {
  std::set<std::string> names;
  for (const StoredProcess& process : processes) names.insert(filter_value(process.info, key));
  return fmt::format("no process has the {} '{}'{}", key, printable(value),
                     key == "pid" ? "" : did_you_mean(value, {names.begin(), names.end()}));
}

}  // namespace memoir::query
