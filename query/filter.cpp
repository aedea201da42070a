#include "query/filter.h"

#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include "base/text.h"

namespace memoir::query {
namespace {

enum class Key : std::size_t { category, user, pid, comm, exe, command, cgroup };

std::string printable(std::string_view text) {
  return to_printable(to_utf8(text));
}

// `text` holds the pid where that is the key.
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
      break;
  }
  text = std::to_string(info.key.pid);
  return text;
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
  static const std::vector<std::string> keys{"category", "user", "pid", "comm", "exe", "command", "cgroup"};
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
    std::size_t key = 0;
    while (key < filter_keys().size() && filter_keys()[key] != name) ++key;
    if (key == filter_keys().size()) {
      const auto near = nearest(name, filter_keys());
      return bad_expression(expression, near ? fmt::format("no such key (did you mean '{}'?)", *near) : "no such key");
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
    std::string pid;
    const std::string& value = value_of(info, term.key, pid);
    const bool holds = term.pattern ? RE2::PartialMatch(value, *term.pattern) : value == term.value;
    if (!holds) return false;
  }
  return true;
}

}  // namespace memoir::query
