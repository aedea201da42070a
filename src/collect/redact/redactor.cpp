#include "collect/redact/redactor.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <re2/re2.h>
#include <re2/set.h>
#include <re2/stringpiece.h>

#include "base/text.h"
#include "collect/redact/unfold.h"

namespace memoir {
namespace {

constexpr std::string_view kRedacted = "[redacted]";
// RE2 builds its automata lazily within this limit. In practice each needs a few KiB.
constexpr std::int64_t kPatternMemory = 512 * 1024;
constexpr std::int64_t kProgramsMemory = 1024 * 1024;
constexpr std::size_t kLongestProgram = 64;
// Maximum nesting of quotes.
constexpr int kDepth = 6;
// If a command line is only partially searched, its end may cut a secret in two, which is then not recognised. So this
// many bytes at the end are left out.
constexpr std::size_t kEdge = 4096;
// Maximum total length of matches in one command line; text beyond it is truncated. Each match costs time by its
// length, and matches of a pattern with a long look-ahead overlap. Command lines of services need a few hundred bytes.
constexpr std::size_t kMatchedBytes = 256 * 1024;

struct Span {
  std::size_t begin;
  std::size_t end;
};

struct CompiledRule {
  std::unique_ptr<RE2> pattern;
  std::unique_ptr<RE2> unless;  // nullptr if the rule has no exception
  bool next = false;
  bool any_program = true;
  bool needs_mark = false;  // each match contains one of kMarks
};

constexpr std::string_view kMarks = "=:@?&;,'\"<>(){}[] \t\n\\";

// Compiles a pattern. It is matched against a text with one argument per line, and stays within a line unless it
// contains a line end itself.
Result<std::unique_ptr<RE2>> compile(const std::string& pattern, std::size_t line) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kPatternMemory);
  options.set_never_nl(pattern.find("\\n") == std::string::npos);
  auto compiled = std::make_unique<RE2>("(?m)" + pattern, options);
  if (!compiled->ok()) {
    return malformed(
        fmt::format("line {}: the redaction pattern '{}' does not compile: {}", line, pattern, compiled->error()));
  }
  return compiled;
}

std::size_t line_end(std::string_view view, std::size_t at) {
  return std::min(view.find('\n', at), view.size());
}

// A view of the command line (unfold.h), and the results of searching it.
struct Search {
  std::string view;
  std::vector<std::size_t> active_from;  // for each rule, the position from which it applies; npos: nowhere
  std::vector<Span> secrets;             // secrets found in all views so far
  std::size_t end = 0;                   // text beyond it is neither searched nor kept
  std::size_t matched = 0;               // bytes of all matches
};

// A command line and its search.
struct Line {
  std::string text;
  bool all = true;  // all arguments are complete
  Search search;
};

bool has_blank(std::string_view text) {
  return text.find_first_of(kBlanks) != std::string_view::npos;
}

std::string cut_at(std::string text, std::size_t max_bytes) {
  std::size_t end = std::min(max_bytes, text.size());
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text;
}

std::string without_secrets(const std::string& text, std::vector<Span> secrets, std::size_t end) {
  std::sort(secrets.begin(), secrets.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
  std::string out;
  std::size_t at = 0;
  for (const Span& secret : secrets) {
    if (secret.begin >= end) break;
    if (secret.begin >= at) out.append(text, at, secret.begin - at).append(kRedacted);
    at = std::max(at, secret.end);
  }
  if (at < end) out.append(text, at, end - at);
  return out;
}

}  // namespace

struct Redactor::State {
  std::vector<CompiledRule> rules;
  std::unique_ptr<RE2::Set> programs;
  std::vector<std::size_t> rule_of_program;
  bool drop_arguments = false;
  RE2 option{"^(?:-|--|-[A-Za-z]|--[a-z][a-z0-9-]*(?:=.*)?|[<>|&;]+)$"};
  RE2 script{"^-[a-z]*c$"};  // the next argument is a command line, or a program's text

  Status add(const RedactionRule& rule, bool is_default);
  Line join(const std::vector<std::string_view>& arguments, std::size_t most) const;
  void name_programs(Search& search) const;
  void find(const CompiledRule& rule, std::size_t from, Search& search) const;
  Span found_by(const CompiledRule& rule, const std::string& view, const std::array<re2::StringPiece, 2>& found) const;
  void find_all(Search& search) const;
};

Status Redactor::State::add(const RedactionRule& rule, bool is_default) {
  CompiledRule compiled;
  auto pattern = TRY(compile(rule.pattern, rule.line));
  compiled.pattern = std::move(pattern);
  if (!rule.unless.empty()) {
    compiled.unless = TRY(compile(rule.unless, rule.line));
  }
  compiled.next = rule.next;
  // Default patterns that start with "\b(" recognise a secret by its own format, within a word.
  compiled.needs_mark = is_default && !rule.pattern.starts_with("\\b(");
  compiled.any_program = rule.program.empty();
  if (!rule.program.empty()) {
    std::string error;
    if (programs->Add(rule.program, &error) < 0) {
      return malformed(
          fmt::format("line {}: the redaction pattern '{}' does not compile: {}", rule.line, rule.program, error));
    }
    rule_of_program.push_back(rules.size());
  }
  rules.push_back(std::move(compiled));
  return Done{};
}

// Joins the arguments, one per line. A script shares a line with the option before it, so that a rule for a whole
// argument does not redact the whole script.
Line Redactor::State::join(const std::vector<std::string_view>& arguments, std::size_t most) const {
  Line line;
  Search& search = line.search;
  bool is_script = false;
  for (const std::string_view argument : arguments) {
    if (line.text.size() > most) break;
    line.all = line.all && argument.size() <= most;
    if (!line.text.empty()) {
      line.text += ' ';
      search.view += is_script ? ' ' : '\n';
    }
    std::string text = to_utf8(argument.substr(0, most + 1));
    line.text += text;
    std::replace(text.begin(), text.end(), '\n', ' ');
    search.view += text;
    is_script = RE2::PartialMatch(text, script);
  }
  line.all = line.all && line.text.size() <= most;
  line.text = cut_at(std::move(line.text), most);
  search.end = line.text.size();
  search.view.resize(search.end);
  return line;
}

// Finds program names. Any word may name a program, because another program may start it: `sudo mysql -pX`, `docker
// exec db mysql -pX`. The named program's rules apply from there on.
void Redactor::State::name_programs(Search& search) const {
  search.active_from.assign(rules.size(), std::string::npos);
  std::vector<int> named;
  for (std::size_t begin = 0; begin < search.view.size() && !rule_of_program.empty();) {
    const std::size_t end = line_end(search.view, begin);
    std::string_view word = std::string_view(search.view).substr(begin, end - begin);
    begin = end + 1;
    if (word.empty() || word.front() == '-') continue;
    word.remove_prefix(word.rfind('/') + 1);
    named.clear();
    if (word.size() > kLongestProgram || !programs->Match(re2::StringPiece(word.data(), word.size()), &named)) continue;
    for (const int program : named) {
      std::size_t& from = search.active_from[rule_of_program[static_cast<std::size_t>(program)]];
      from = std::min(from, begin);
    }
  }
}

// Returns the secret of a match; an empty span if there is none.
Span Redactor::State::found_by(const CompiledRule& rule, const std::string& view,
                               const std::array<re2::StringPiece, 2>& found) const {
  const auto offset = [&](const char* at) { return static_cast<std::size_t>(at - view.data()); };
  const bool grouped = rule.pattern->NumberOfCapturingGroups() > 0;
  const re2::StringPiece& secret = grouped ? found[1] : found[0];
  if (!rule.next) {
    if (secret.data() == nullptr) return {0, 0};
    return {offset(secret.data()), offset(secret.data()) + secret.size()};
  }
  const std::size_t begin = view.find_first_not_of('\n', line_end(view, offset(found[0].data())));
  if (begin == std::string::npos) return {0, 0};
  const Span value{begin, line_end(view, begin)};
  const bool no_value = RE2::PartialMatch(re2::StringPiece(view.data() + begin, value.end - begin), option);
  return no_value ? Span{0, 0} : value;
}

void Redactor::State::find(const CompiledRule& rule, std::size_t from, Search& search) const {
  const std::string& view = search.view;
  std::array<re2::StringPiece, 2> found;
  const int wanted = rule.pattern->NumberOfCapturingGroups() > 0 ? 2 : 1;
  for (std::size_t at = from;
       at <= view.size() && rule.pattern->Match(view, at, view.size(), RE2::UNANCHORED, found.data(), wanted);) {
    const auto begin = static_cast<std::size_t>(found[0].data() - view.data());
    search.matched += found[0].size() + 1;
    if (search.matched > kMatchedBytes) {
      search.end = std::min(search.end, begin);
      return;
    }
    const Span secret = found_by(rule, view, found);
    at = std::max(begin + found[0].size(), at + 1);
    if (secret.begin == secret.end) continue;
    at = rule.next ? line_end(view, begin) : std::max(secret.end, begin + 1);
    const re2::StringPiece whole(view.data() + begin, std::max(secret.end, at) - begin);
    if (rule.unless != nullptr && RE2::PartialMatch(whole, *rule.unless)) continue;
    search.secrets.push_back(secret);
  }
}

void Redactor::State::find_all(Search& search) const {
  for (int depth = 0; depth < kDepth; ++depth) {
    name_programs(search);
    const bool marked = search.view.find_first_of(kMarks) != std::string::npos;
    for (std::size_t i = 0; i < rules.size(); ++i) {
      if (rules[i].needs_mark && !marked) continue;
      const std::size_t from = rules[i].any_program ? 0 : search.active_from[i];
      if (from != std::string::npos) find(rules[i], from, search);
    }
    if (!unfold(search.view)) return;
  }
}

Result<Redactor> Redactor::make(const RedactionOptions& options) {
  RE2::Options set_options;
  set_options.set_log_errors(false);
  set_options.set_max_mem(kProgramsMemory);
  auto state = std::make_shared<State>();
  state->programs = std::make_unique<RE2::Set>(set_options, RE2::UNANCHORED);
  state->drop_arguments = options.drop_arguments;
  if (options.defaults) {
    for (const RedactionRule& rule : default_redaction_rules()) TRY(state->add(rule, true));
  }
  for (const RedactionRule& rule : options.rules) TRY(state->add(rule, false));
  if (!state->programs->Compile()) return malformed("the redaction rules have too many programs");
  return Redactor(std::move(state));
}

std::string Redactor::command(const std::vector<std::string_view>& arguments, std::size_t max_bytes, bool all) const {
  if (state_->drop_arguments && !arguments.empty() && (arguments.size() > 1 || has_blank(arguments[0])))
    return redacted({arguments[0].substr(0, arguments[0].find_first_of(kBlanks))}, max_bytes, true);
  return redacted(arguments, max_bytes, all);
}

std::string Redactor::redacted(const std::vector<std::string_view>& arguments, std::size_t max_bytes, bool all) const {
  std::size_t whole = arguments.empty() ? 0 : arguments.size() - 1;
  for (const std::string_view argument : arguments) whole += argument.size();
  std::string out;
  // The second round searches further. It is needed only if redaction made the result shorter.
  for (const std::size_t beyond : {2 * kEdge, kLookAhead}) {
    Line line = state_->join(arguments, max_bytes + beyond);
    if (!all || !line.all) line.search.end -= std::min(kEdge, line.search.end);
    state_->find_all(line.search);
    out = without_secrets(line.text, std::move(line.search.secrets), line.search.end);
    if (out.size() > max_bytes) break;
    if (all && line.search.end == line.text.size()) return out;
    if (line.all || line.search.end < line.text.size() - kEdge) break;
  }
  return cut_at(std::move(out), max_bytes) + fmt::format(" …[cut: {}{} bytes]", all ? "" : "over ", whole);
}

}  // namespace memoir
