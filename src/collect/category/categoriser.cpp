#include "collect/category/categoriser.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <re2/re2.h>
#include <re2/set.h>

#include "base/text.h"
#include "collect/category/samples.h"

namespace memoir {
namespace {

// Memory for the set's program and its automaton, which RE2 builds lazily and restarts when this memory is full. make()
// uses the smallest size that fits the rules.
constexpr std::int64_t kMinSetMemory = 256 * 1024;
constexpr std::int64_t kMaxSetMemory = 16 * 1024 * 1024;
constexpr std::int64_t kPatternMemory = 256 * 1024;

RE2::Options re2_options(std::int64_t memory) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(memory);
  return options;
}

// A pattern on a field other than the command line.
struct FieldPattern {
  std::string ProcessInfo::*field;
  std::unique_ptr<RE2> pattern;
};

struct CompiledRule {
  CategoryRule rule;
  CategoryMatch match;
  bool command = false;  // the rule has a pattern on the command line
  std::vector<FieldPattern> fields;
};

bool fields_match(const CompiledRule& rule, const ProcessInfo& info) {
  return std::all_of(rule.fields.begin(), rule.fields.end(),
                     [&](const FieldPattern& field) { return RE2::PartialMatch(info.*field.field, *field.pattern); });
}

std::string describe(const CategoryRule& rule) {
  return fmt::format("line {}: the category rule '{}'", rule.line, rule.name);
}

// Describes a rule in words: "command ~ nginx, user ~ www (line 12)".
std::string words_of(const CategoryRule& rule) {
  constexpr std::size_t max_bytes = 256;
  std::string words;
  const std::pair<const char*, const std::string*> patterns[] = {{"command", &rule.command},
                                                                 {"exe", &rule.exe},
                                                                 {"comm", &rule.comm},
                                                                 {"user", &rule.user},
                                                                 {"cgroup", &rule.cgroup}};
  for (const auto& [field, pattern] : patterns) {
    if (!pattern->empty()) words += fmt::format("{}{} ~ {}", words.empty() ? "" : ", ", field, *pattern);
  }
  if (words.size() > max_bytes) words = to_utf8(words.substr(0, max_bytes)) + "…";
  return words + (rule.line == 0 ? " (built in)" : fmt::format(" (line {})", rule.line));
}

Result<std::unique_ptr<RE2>> compile(const CategoryRule& rule, const std::string& pattern) {
  auto compiled = std::make_unique<RE2>(pattern, re2_options(kPatternMemory));
  if (compiled->ok()) return compiled;
  return malformed(
      fmt::format("{}: the pattern '{}' does not compile: {}", describe(rule), pattern, compiled->error()));
}

bool same_patterns(const CategoryRule& a, const CategoryRule& b) {
  return a.command == b.command && a.exe == b.exe && a.comm == b.comm && a.user == b.user && a.cgroup == b.cgroup;
}

}  // namespace

struct Categoriser::State {
  std::vector<CompiledRule> rules;
  std::unique_ptr<RE2::Set> commands;        // the patterns on the command line
  std::vector<std::size_t> rule_of_pattern;  // index of the rule, by the pattern's index in `commands`
  CategoryMatch other{kOtherCategory, ""};
  mutable std::vector<int> found;  // result buffer of command_matches(), reused

  Status add(const CategoryRule& rule);
  bool compile_commands(std::int64_t memory);
  std::vector<bool> command_matches(const std::string& command) const;
  std::optional<std::size_t> first(const ProcessInfo& info) const;
  std::vector<std::optional<std::size_t>> hidden() const;
  Status check_reachable() const;
};

Status Categoriser::State::add(const CategoryRule& rule) {
  if (rule.command.empty() && rule.exe.empty() && rule.comm.empty() && rule.user.empty() && rule.cgroup.empty()) {
    return malformed(fmt::format("{} has no pattern: give it command, exe, comm, user or cgroup", describe(rule)));
  }
  CompiledRule compiled;
  compiled.rule = rule;
  compiled.match = {rule.name, words_of(rule)};
  compiled.command = !rule.command.empty();
  TRY(compile(rule, rule.command));
  const std::pair<std::string ProcessInfo::*, const std::string*> fields[] = {{&ProcessInfo::exe, &rule.exe},
                                                                              {&ProcessInfo::comm, &rule.comm},
                                                                              {&ProcessInfo::user, &rule.user},
                                                                              {&ProcessInfo::cgroup, &rule.cgroup}};
  for (const auto& [field, pattern] : fields) {
    if (!pattern->empty()) compiled.fields.push_back({field, TRY(compile(rule, *pattern))});
  }
  rules.push_back(std::move(compiled));
  return Done{};
}

bool Categoriser::State::compile_commands(std::int64_t memory) {
  commands = std::make_unique<RE2::Set>(re2_options(memory), RE2::UNANCHORED);
  rule_of_pattern.clear();
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (!rules[i].command) continue;
    if (commands->Add(rules[i].rule.command, nullptr) < 0) return false;
    rule_of_pattern.push_back(i);
  }
  return commands->Compile();
}

// Returns for each rule whether the command line matches its pattern; true for a rule without a command pattern.
std::vector<bool> Categoriser::State::command_matches(const std::string& command) const {
  std::vector<bool> matches(rules.size());
  for (std::size_t i = 0; i < rules.size(); ++i) matches[i] = !rules[i].command;
  if (rule_of_pattern.empty()) return matches;
  RE2::Set::ErrorInfo error{};
  if (commands->Match(command, &found, &error)) {
    for (const int pattern : found) matches[rule_of_pattern[static_cast<std::size_t>(pattern)]] = true;
  } else if (error.kind != RE2::Set::kNoError) {
    // The set ran out of memory. The patterns are matched one by one, which is slower.
    for (const std::size_t i : rule_of_pattern) {
      matches[i] = RE2::PartialMatch(command, RE2(rules[i].rule.command, re2_options(kPatternMemory)));
    }
  }
  return matches;
}

std::optional<std::size_t> Categoriser::State::first(const ProcessInfo& info) const {
  const std::vector<bool> matches = command_matches(info.command);
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (matches[i] && fields_match(rules[i], info)) return i;
  }
  return std::nullopt;
}

// Returns, for each rule, an earlier rule that hides it by taking all its samples. Returns nullopt for a rule that
// takes a sample itself or has no sample.
std::vector<std::optional<std::size_t>> Categoriser::State::hidden() const {
  std::vector<std::optional<std::size_t>> hidden_by(rules.size());
  std::vector<bool> reached(rules.size());
  for (const CategorySampleLine& sample : category_samples()) {
    ProcessInfo info;
    info.comm = sample.comm;
    info.exe = sample.exe;
    info.command = sample.command;
    const std::vector<bool> matches = command_matches(info.command);
    std::optional<std::size_t> taker;
    for (std::size_t i = 0; i < rules.size(); ++i) {
      if (!matches[i] || !fields_match(rules[i], info)) continue;
      if (taker) {
        hidden_by[i] = taker;
      } else {
        taker = i;
        reached[i] = true;
      }
    }
  }
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (reached[i]) hidden_by[i].reset();
  }
  return hidden_by;
}

// Returns an error if an earlier rule hides a user's rule. A user's rule may hide a built-in rule (line 0).
Status Categoriser::State::check_reachable() const {
  const auto hidden_by = hidden();
  for (auto rule = rules.begin(); rule != rules.end(); ++rule) {
    if (rule->rule.line == 0) continue;
    auto before = std::find_if(rules.begin(), rule,
                               [&](const CompiledRule& earlier) { return same_patterns(earlier.rule, rule->rule); });
    const auto index = static_cast<std::size_t>(rule - rules.begin());
    if (before == rule && hidden_by[index]) before = rules.begin() + static_cast<std::ptrdiff_t>(*hidden_by[index]);
    if (before == rule) continue;
    return malformed(
        fmt::format("{} can never match: the earlier rule '{}' of line {} matches everything that it could",
                    describe(rule->rule), before->rule.name, before->rule.line));
  }
  return Done{};
}

Result<Categoriser> Categoriser::make(const std::vector<CategoryRule>& rules) {
  auto state = std::make_shared<State>();
  for (const CategoryRule& rule : rules) TRY(state->add(rule));
  std::int64_t memory = kMinSetMemory;
  while (!state->compile_commands(memory)) {
    memory *= 2;
    if (memory > kMaxSetMemory)
      return malformed("the category rules are too large: together they need more than 16 MiB");
  }
  TRY(state->check_reachable());
  return Categoriser(std::move(state));
}

const CategoryMatch& Categoriser::match(const ProcessInfo& info) const {
  const auto rule = state_->first(info);
  return rule ? state_->rules[*rule].match : state_->other;
}

}  // namespace memoir
