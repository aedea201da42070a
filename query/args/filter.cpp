#include "query/args/filter.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>
#include <set>
#include <unordered_set>

#include "base/nearest.h"
#include "base/text.h"
#include "base/transformed.h"
#include "model/container.h"
#include "model/identity.h"
#include "query/args/times.h"

namespace memoir::query {
namespace {

// A property by which a filter chooses processes: a member of ProcessInfo, or a value derived from it.
struct Key {
  std::string_view name;
  std::string ProcessInfo::*member = nullptr;
  std::string (*made)(const ProcessInfo&) = nullptr;
};

constexpr std::array kKeys{
    Key{"category", &ProcessInfo::category},
    Key{"user", &ProcessInfo::user},
    Key{"pid", nullptr, [](const ProcessInfo& info) { return std::to_string(info.key.pid); }},
    Key{"comm", &ProcessInfo::comm},
    Key{"exe", &ProcessInfo::exe},
    Key{"command", &ProcessInfo::command},
    Key{"script", nullptr, [](const ProcessInfo& info) { return script_of(info.command); }},
    Key{"cgroup", &ProcessInfo::cgroup},
    Key{"unit", nullptr, [](const ProcessInfo& info) { return std::string(unit_of(info.cgroup)); }},
    Key{"slice", nullptr, [](const ProcessInfo& info) { return slice_of(info.cgroup); }},
    Key{"identity", nullptr, [](const ProcessInfo& info) { return std::string(normalised_command(info.command)); }},
    Key{"container", nullptr, [](const ProcessInfo& info) { return std::string(container_of(info.cgroup)); }},
};

const Key* find_key(std::string_view name) {
  const auto* const found = std::ranges::find(kKeys, name, &Key::name);
  return found == kKeys.end() ? nullptr : found;
}

// Returns the value of a process for `key`. `text` stores a derived value, to which the result then refers.
const std::string& value_of(const ProcessInfo& info, const Key& key, std::string& text) {
  if (key.member != nullptr) return info.*key.member;
  text = key.made(info);
  return text;
}

Error bad_expression(const std::string& expression, std::string_view why) {
  return malformed(
      fmt::format("--filter '{}': {}; a filter is KEY=VALUE, KEY!=VALUE, KEY~REGEX or KEY!~REGEX, with KEY one of {}; "
                  "or, with a size, METRIC>100M (also <, >=, <=, =, !=), with METRIC one of {}",
                  to_printable(expression), why, fmt::join(filter_keys(), ", "), fmt::join(names_of(kMetrics), ", ")));
}

// Maximum size of a pattern, in RE2 instructions. A larger one takes milliseconds for each command line that it
// searches. A pattern of 1,000 alternatives of eight letters has 8,000 instructions.
constexpr int kMaxPatternSize = 8'000;

struct Operator {
  std::string_view written;
  bool negated;
  bool (*holds)(std::int64_t kib, std::int64_t size_kib);  // nullptr for a regex
  bool of_names;
};

constexpr auto kEqual = [](std::int64_t a, std::int64_t b) { return a == b; };

// Longer operators come first, because the first match counts.
constexpr std::array kOperators{
    Operator{"!=", true, kEqual, true},
    Operator{"!~", true, nullptr, true},
    Operator{">=", false, [](std::int64_t a, std::int64_t b) { return a >= b; }, false},
    Operator{"<=", false, [](std::int64_t a, std::int64_t b) { return a <= b; }, false},
    Operator{"=", false, kEqual, true},
    Operator{"~", false, nullptr, true},
    Operator{">", false, [](std::int64_t a, std::int64_t b) { return a > b; }, false},
    Operator{"<", false, [](std::int64_t a, std::int64_t b) { return a < b; }, false},
};

const Operator* operator_at(std::string_view text) {
  const auto* const found =
      std::ranges::find_if(kOperators, [text](const Operator& of) { return text.starts_with(of.written); });
  return found == kOperators.end() ? nullptr : found;
}

}  // namespace

std::optional<std::int64_t> parse_size(std::string_view text) {
  constexpr double max_kib = 1e15;
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc{} || !(number >= 0)) return std::nullopt;  // rejects NaN: from_chars() accepts "nan"
  const std::string unit = to_lower({stop, end});
  if (unit.empty()) return number == 0 ? std::optional<std::int64_t>(0) : std::nullopt;
  const std::size_t power = std::string_view("kmgt").find(unit.front());
  const std::string_view rest = std::string_view(unit).substr(1);
  if (power == std::string_view::npos || !(rest.empty() || rest == "b" || rest == "ib")) return std::nullopt;
  const double kib = number * std::pow(1024.0, static_cast<double>(power));
  return kib > max_kib ? std::nullopt : std::optional<std::int64_t>(std::llround(kib));
}

struct Filter::Term {
  const Operator* given = nullptr;
  const Key* key = nullptr;
  std::string value;
  std::optional<std::int64_t> start_ms;  // start of the process, if given as PID@START
  std::unique_ptr<RE2> pattern;
  std::optional<Metric> metric;  // set if the term compares memory instead of a name
  std::int64_t kib = 0;
  std::unordered_set<std::int64_t> decided;  // row ids of the processes that satisfy the memory condition

  static Result<Term> read(const std::string& expression);

  bool takes(const ProcessInfo& info) const {
    std::string text;
    const std::string& has = value_of(info, *key, text);
    const bool is = pattern                 ? RE2::PartialMatch(has, *pattern)
                    : key->name == "cgroup" ? is_in_cgroup(has, value)
                                            : has == value && (!start_ms || is_start(info.start_ms, *start_ms));
    return is != given->negated;
  }
};

Filter::Filter() = default;
Filter::Filter(Filter&&) noexcept = default;
Filter& Filter::operator=(Filter&&) noexcept = default;
Filter::~Filter() = default;

const std::vector<std::string>& filter_keys() {
  static const std::vector<std::string> keys = transformed(kKeys, [](const Key& key) { return std::string(key.name); });
  return keys;
}

Result<Filter::Term> Filter::Term::read(const std::string& expression) {
  const std::size_t at = expression.find_first_of("=~!<>");
  const Operator* given = at == std::string::npos ? nullptr : operator_at(std::string_view(expression).substr(at));
  if (given == nullptr) return bad_expression(expression, "there is no =, ~, < or > in it");
  const std::string name = expression.substr(0, at);
  Term term;
  term.given = given;
  term.value = expression.substr(at + given->written.size());
  term.metric = parse_metric(name);
  if (term.metric) {
    const auto kib = parse_size(term.value);
    if (given->holds == nullptr) return bad_expression(expression, name + " is a size");
    if (!kib) return bad_expression(expression, "a size is a number and a unit (K, M, G, T)");
    term.kib = *kib;
    return term;
  }
  term.key = find_key(name);
  if (term.key == nullptr) {
    std::vector<std::string> words = filter_keys();
    std::ranges::move(names_of(kMetrics), std::back_inserter(words));
    return bad_expression(expression, "no such key" + did_you_mean(name, words));
  }
  if (!given->of_names)
    return bad_expression(expression, name + " is not a size, and cannot be compared by '<' or '>'");
  if (given->holds == nullptr) {
    term.pattern = std::make_unique<RE2>(term.value, RE2::Quiet);
    if (!term.pattern->ok()) return bad_expression(expression, to_printable(term.pattern->error()));
    if (term.pattern->ProgramSize() > kMaxPatternSize)
      return bad_expression(expression, "the pattern is too large; give several filters, or fewer alternatives");
  } else if (name == "pid") {
    std::string_view start = term.value;
    const auto pid = parse_number<std::int32_t>(cut(start, '@'));
    if (!pid) return bad_expression(expression, "a pid is a number");
    if (term.value.find('@') != std::string::npos) {
      const auto start_ms = parse_epoch(start);
      if (!start_ms) return bad_expression(expression, "a start is a number, of seconds or milliseconds");
      term.start_ms = start_ms;
    }
    term.value = std::to_string(*pid);
  }
  return term;
}

Result<Filter> Filter::parse(const std::vector<std::string>& expressions) {
  Filter filter;
  for (const std::string& expression : expressions) filter.terms_.push_back(TRY(Term::read(expression)));
  return filter;
}

bool Filter::matches(const StoredProcess& process) const {
  return std::ranges::all_of(terms_, [&process](const Term& term) {
    return term.metric ? term.decided.contains(process.id) : term.takes(process.info);
  });
}

std::vector<Metric> Filter::metrics() const {
  std::vector<Metric> metrics;
  for (const Term& term : terms_) {
    if (term.metric && std::ranges::find(metrics, *term.metric) == metrics.end()) metrics.push_back(*term.metric);
  }
  return metrics;
}

void Filter::decide(Metric metric, const std::unordered_map<std::int64_t, std::int64_t>& kib_of) {
  for (Term& term : terms_) {
    if (term.metric != metric) continue;
    for (const auto& [id, kib] : kib_of) {
      if (term.given->holds(kib, term.kib) != term.given->negated) term.decided.insert(id);
    }
  }
}

bool Filter::names_any(const std::vector<StoredProcess>& processes) const {
  return std::ranges::any_of(processes, [this](const StoredProcess& process) {
    return std::ranges::all_of(terms_, [&](const Term& term) { return term.metric || term.takes(process.info); });
  });
}

std::vector<Filter::Miss> Filter::misses(const std::vector<StoredProcess>& processes) const {
  std::vector<Miss> misses;
  for (const Term& term : terms_) {
    if (term.metric || term.pattern || term.given->negated) continue;
    const auto answers = [&term](const StoredProcess& process) { return term.takes(process.info); };
    if (std::ranges::any_of(processes, answers)) continue;
    const std::string_view key = term.key->name;
    misses.push_back({no_process_of(key, term.value, processes), key == "pid" ? term.value : std::string()});
  }
  return misses;
}

bool is_start(std::int64_t start_ms, std::int64_t given_ms) {
  constexpr std::int64_t tolerance_ms = 1000;
  return std::abs(start_ms - given_ms) <= tolerance_ms;
}

std::string filter_value(const ProcessInfo& info, std::string_view key) {
  std::string text;
  return value_of(info, *find_key(key), text);
}

std::string no_process_of(std::string_view key, std::string_view value, const std::vector<StoredProcess>& processes) {
  if (key == "pid") {
    return fmt::format(
        "no process {} was sampled at that time; a process that runs for less than the recorder's interval may be "
        "missed",
        to_printable(value));
  }
  std::set<std::string> names;
  for (const StoredProcess& process : processes) names.insert(filter_value(process.info, key));
  return fmt::format("no process has the {} '{}'{}", key, to_printable(value),
                     did_you_mean(value, {names.begin(), names.end()}));
}

}  // namespace memoir::query
