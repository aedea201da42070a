#include "collect/redactor.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <re2/re2.h>

#include "base/text.h"
#include "collect/words.h"

namespace memoir {
namespace {

constexpr std::string_view kRedacted = "[redacted]";
// RE2 builds its automata lazily within this; a few KiB each in practice.
constexpr std::int64_t kPatternMemory = 128 * 1024;
// Quotes within quotes are followed this deep: `sh -c 'ssh host "mysql -pX"'`.
constexpr int kQuoteDepth = 4;

struct CompiledRule {
  std::unique_ptr<RE2> pattern;
  std::unique_ptr<RE2> program;  // null: any
  bool next = false;
};

Result<std::unique_ptr<RE2>> compile(const std::string& pattern, std::size_t line) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kPatternMemory);
  auto compiled = std::make_unique<RE2>(pattern, options);
  if (!compiled->ok()) {
    return malformed(
        fmt::format("line {}: the redaction pattern '{}' does not compile: {}", line, pattern, compiled->error()));
  }
  return compiled;
}

// What the words so far mean for the next one.
struct Scan {
  std::vector<bool> active;  // rules whose program has been named
  bool pending = false;      // the next word is the value of an option that takes a secret
  std::string option;        // the option that stood before, if it may have a value
};

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

bool has_blank(std::string_view text) {
  return text.find_first_of(kBlanks) != std::string_view::npos;
}

std::string cut_at(std::string text, std::size_t max_bytes) {
  std::size_t end = std::min(max_bytes, text.size());
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text;
}

}  // namespace

struct Redactor::State {
  std::vector<CompiledRule> rules;
  bool drop_arguments = false;
  RE2 switches{"(?i)^--(?:no|ask|prompt|require|show|allow|skip|disable|enable)-"};  // options without a value
  RE2 option{"^(?:-|--|-[A-Za-z]|--[a-z][a-z0-9-]*(?:=.*)?)$"};
  RE2 script{"^-[a-z]*c$"};  // of a shell: the next argument is a command line

  Status add(const RedactionRule& rule);
  void name_program(std::string_view word, Scan& scan) const;
  bool takes_secret(std::string_view word, const Scan& scan) const;
  void replace(const CompiledRule& rule, std::string& text, std::size_t from) const;
  std::string apply(std::string_view text, const Scan& scan) const;
  std::string word(std::string_view text, Scan& scan) const;
  std::string words(std::string_view line, Scan& scan, int depth) const;
  std::string argument(std::string_view text, Scan& scan, bool line, int depth) const;
};

Status Redactor::State::add(const RedactionRule& rule) {
  CompiledRule compiled;
  auto pattern = compile(rule.pattern, rule.line);
  if (!pattern) return pattern.error();
  compiled.pattern = *std::move(pattern);
  if (!rule.program.empty()) {
    auto program = compile(rule.program, rule.line);
    if (!program) return program.error();
    compiled.program = *std::move(program);
  }
  compiled.next = rule.next;
  rules.push_back(std::move(compiled));
  return Done{};
}

// A program may be named by any word, for others start it: `sudo mysql -pX`, `docker exec db mysql -pX`.
void Redactor::State::name_program(std::string_view word, Scan& scan) const {
  const std::string_view name = base_name(word);
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (!scan.active[i] && RE2::PartialMatch(name, *rules[i].program)) scan.active[i] = true;
  }
}

bool Redactor::State::takes_secret(std::string_view word, const Scan& scan) const {
  if (RE2::PartialMatch(word, switches)) return false;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (rules[i].next && scan.active[i] && RE2::PartialMatch(word, *rules[i].pattern)) return true;
  }
  return false;
}

// Replaces what the rule finds in `text`; what begins before `from` is left alone.
void Redactor::State::replace(const CompiledRule& rule, std::string& text, std::size_t from) const {
  const bool grouped = rule.pattern->NumberOfCapturingGroups() > 0;
  std::array<re2::StringPiece, 2> found;
  std::size_t at = 0;
  while (at <= text.size() &&
         rule.pattern->Match(text, at, text.size(), RE2::UNANCHORED, found.data(), grouped ? 2 : 1)) {
    const re2::StringPiece& secret = grouped ? found[1] : found[0];
    const auto whole_end = static_cast<std::size_t>(found[0].data() - text.data()) + found[0].size();
    if (secret.data() == nullptr || secret.empty()) {
      at = std::max(whole_end, at + 1);
      continue;
    }
    const auto start = static_cast<std::size_t>(secret.data() - text.data());
    const std::size_t end = start + secret.size();
    at = end;
    if (start < from) continue;
    text.replace(start, end - start, kRedacted);
    at = start + kRedacted.size();
  }
}

std::string Redactor::State::apply(std::string_view text, const Scan& scan) const {
  std::string out(text);
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (!rules[i].next && scan.active[i]) replace(rules[i], out, 0);
  }
  if (scan.option.empty()) return out;
  // An option and its value in two words are seen by the patterns as one text too: `--key 9f86d081…`.
  std::string pair = scan.option + ' ' + out;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (!rules[i].next && scan.active[i]) replace(rules[i], pair, scan.option.size() + 1);
  }
  return pair.substr(scan.option.size() + 1);
}

std::string Redactor::State::word(std::string_view text, Scan& scan) const {
  std::string out = apply(text, scan);
  const bool option_like = !text.empty() && text.front() == '-';
  scan.pending = takes_secret(text, scan);
  scan.option = option_like && text.find('=') == std::string_view::npos ? std::string(text) : std::string();
  if (!option_like) name_program(text, scan);
  return out;
}

std::string Redactor::State::words(std::string_view line, Scan& scan, int depth) const {
  std::string out;
  while (!line.empty()) {
    out += cut_gap(line);
    const std::string_view next = cut_quoted_word(line);
    if (next.empty()) continue;
    if (is_quoted(next) && !scan.pending && depth < kQuoteDepth) {
      out += next.front();
      out += argument(next.substr(1, next.size() - 2), scan, false, depth + 1);
      out += next.back();
    } else {
      out += argument(next, scan, false, kQuoteDepth);
    }
  }
  return out;
}

// `line`: the argument is known to be a whole command line, so a pattern that takes all the rest is kept to one word.
std::string Redactor::State::argument(std::string_view text, Scan& scan, bool line, int depth) const {
  if (scan.pending) {
    scan.pending = false;
    if (!RE2::PartialMatch(text, option) && !takes_secret(text, scan)) {
      scan.option.clear();
      return std::string(kRedacted);
    }
  }
  if (!has_blank(text) || depth >= kQuoteDepth) return word(text, scan);
  if (line) return words(text, scan, depth);
  const std::string whole = apply(text, scan);
  scan.option.clear();
  return words(whole, scan, depth);
}

Redactor::Redactor(std::unique_ptr<State> state) : state_(std::move(state)) {}
Redactor::Redactor(Redactor&&) noexcept = default;
Redactor& Redactor::operator=(Redactor&&) noexcept = default;
Redactor::~Redactor() = default;

Result<Redactor> Redactor::make(const RedactionOptions& options) {
  auto state = std::make_unique<State>();
  state->drop_arguments = options.drop_arguments;
  std::vector<RedactionRule> rules;
  if (options.defaults) rules = default_redaction_rules();
  rules.insert(rules.end(), options.rules.begin(), options.rules.end());
  for (const RedactionRule& rule : rules) {
    const Status added = state->add(rule);
    if (!added) return added.error();
  }
  return Redactor(std::move(state));
}

std::string Redactor::command(const std::vector<std::string_view>& arguments, std::size_t max_bytes, bool all) const {
  Scan scan;
  for (const CompiledRule& rule : state_->rules) scan.active.push_back(rule.program == nullptr);
  std::size_t whole = arguments.empty() ? 0 : arguments.size() - 1;
  for (const std::string_view argument : arguments) whole += argument.size();

  std::string out;
  bool incomplete = false;
  bool line = true;  // argv[0] with blanks is a title that the process has set
  for (std::size_t i = 0; i < arguments.size() && !incomplete; ++i) {
    std::string_view argument = arguments[i];
    if (state_->drop_arguments) argument = argument.substr(0, argument.find_first_of(kBlanks));
    const std::string_view seen = argument.substr(0, max_bytes + kLookAhead);
    if (i > 0) out += ' ';
    out += state_->argument(to_utf8(seen), scan, line, 0);
    line = i > 0 && RE2::PartialMatch(seen, state_->script);
    incomplete = seen.size() < argument.size() || out.size() > max_bytes;
    if (state_->drop_arguments) break;
  }
  if (!incomplete && (all || state_->drop_arguments)) return out;
  return cut_at(std::move(out), max_bytes) + fmt::format(" …[cut: {}{} bytes]", all ? "" : "over ", whole);
}

}  // namespace memoir
