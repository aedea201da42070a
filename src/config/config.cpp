#include "config/config.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

#include "base/file.h"
#include "base/nearest.h"
#include "base/own_file.h"
#include "base/text.h"
#include "base/transformed.h"
#include "config/values.h"

namespace memoir {
namespace {

using namespace values;

constexpr std::size_t kLargestFile = 1024 * 1024;

template <typename T>
using Keys = std::vector<Key<T>>;

struct Section {
  const char* name;
  Keys<Config> keys;
};

const std::vector<Section>& sections() {
  using namespace std::chrono_literals;
  static const std::vector<Section> sections{
      {"recorder",
       {{"db", text(&Config::db)},
        {"interval", duration(&Config::interval, kMinInterval, kMaxInterval)},
        {"scan_interval", pace(&Config::scan_interval, 50ms, kMaxInterval)},
        {"burst", choice(&Config::burst, {"on", "off"})},
        {"read_deadline", duration(&Config::read_deadline, 1ms, 10s)},
        {"queue_ticks", number(&Config::queue_ticks, 1, 100'000)},
        {"queue_mib", number(&Config::queue_mib, 1, 4096)},
        {"max_command_bytes", number(&Config::max_command_bytes, 64, 131'072)},
        {"container_names", flag(&Config::container_names)},
        {"log_level", choice(&Config::log_level, {"debug", "info", "warning", "error"})},
        {"source", choice(&Config::source, source_names())}}},
      {"store",
       {{"durability", choice(&Config::durability, {"full", "normal"})},
        {"raw", age(&Config::raw)},
        {"five_minutes", age(&Config::five_minutes)},
        {"hours", age(&Config::hours)},
        {"days", age(&Config::days)},
        {"max_size", bytes(&Config::max_size, 16LL << 20, true)}}},
      {"vmmap",
       {{"vmmap", text(&Config::vmmap)},
        {"ps", text(&Config::ps)},
        {"deadline", duration(&Config::vmmap_deadline, 10ms, 10min)},
        {"group", choice(&Config::vmmap_group, {"process", "pgid"})}}},
      {"budget", {{"cpu", share(&Config::budget_cpu_ppm, 100)}}},
      {"exits", {{"min_peak", bytes(&Config::exits_min_peak, 1LL << 20, false)}}},
      {"mappings",
       {{"interval", pace(&Config::mappings_interval, 1s, 24h)},
        {"processes", number(&Config::mappings_processes, 1, 80)},
        {"labels", number(&Config::mappings_labels, 1, 500)},
        {"budget", duration(&Config::mappings_budget, 1ms, 10min)}}},
      {"tmpfs", {{"interval", pace(&Config::tmpfs_interval, 1s, 24h)}}},
      {"alert",
       {{"exec", program(&Config::alert_exec)},
        {"pressure", percentage(&Config::alert_pressure_ppm, "a part of the time", 1'000)},
        {"leak", pace(&Config::alert_leak, 1min, 1'000 * 24h)},
        {"confirmed", flag(&Config::alert_confirmed)},
        {"limit", percentage(&Config::alert_limit_ppm, "a part of the limit", 10'000)},
        {"tmpfs", percentage(&Config::alert_tmpfs_ppm, "a part of the mount", 10'000)},
        {"swap", percentage(&Config::alert_swap_ppm, "a part of swap", 10'000)},
        {"every", duration(&Config::alert_every, 1s, 7 * 24h)},
        {"timeout", duration(&Config::alert_timeout, 100ms, 10min)}}},
      {"leaks", {{"hour", duration(&Config::leaks_hour, kMinLeaksHour, 24h)}}},
      {"categories", {{"defaults", flag(&Config::default_categories)}}},
      {"redaction",
       {{"defaults", redaction(&RedactionOptions::defaults)},
        {"drop_arguments", redaction(&RedactionOptions::drop_arguments)}}}};
  return sections;
}

const Keys<CategoryRule>& category_keys() {
  static const Keys<CategoryRule> keys{{"name", text(&CategoryRule::name)}, {"command", text(&CategoryRule::command)},
                                       {"exe", text(&CategoryRule::exe)},   {"comm", text(&CategoryRule::comm)},
                                       {"user", text(&CategoryRule::user)}, {"cgroup", text(&CategoryRule::cgroup)}};
  return keys;
}

const Keys<RedactionRule>& redaction_rule_keys() {
  static const Keys<RedactionRule> keys{{"pattern", text(&RedactionRule::pattern)},
                                        {"program", text(&RedactionRule::program)},
                                        {"next", flag(&RedactionRule::next)},
                                        {"unless", text(&RedactionRule::unless)}};
  return keys;
}

// Formats an error at a line. The file is untrusted, so its control characters are made harmless for the terminal.
Error at_line(const std::string& file, std::size_t line, std::string_view what) {
  return malformed(to_printable(fmt::format("{}:{}: {}", file, line, what)));
}

// Parses one file. The Error lists all errors, in the order of their lines.
class Parser {
 public:
  Parser(const std::string& file, const ProgramCheck& check) : file_(file), check_(check) {}

  Result<Config> parse(const toml::table& root) {
    for (const auto& [key, node] : root) section(key, node);
    if (config_.db.empty()) config_.db = default_database_path();
    if (errors_.empty()) tiers(root);
    if (check_ && !config_.alert_exec.empty()) programs(root);
    if (errors_.empty()) return std::move(config_);
    std::ranges::stable_sort(errors_, {}, &LineError::line);
    return malformed(fmt::format("{}", fmt::join(transformed(errors_, &LineError::message), "\n")));
  }

 private:
  struct LineError {
    std::size_t line;
    std::string message;
  };

  void error(const toml::source_region& source, std::string_view what) {
    errors_.push_back({source.begin.line, at_line(file_, source.begin.line, what).message});
  }

  void unknown(const toml::key& key, std::string_view where, const std::vector<std::string>& known) {
    const auto near = nearest(key.str(), known);
    error(key.source(), fmt::format("unknown key '{}' {}; {}", key.str(), where,
                                    near ? fmt::format("did you mean '{}'?", *near)
                                         : fmt::format("known keys are {}", fmt::join(known, ", "))));
  }

  // Each tier continues where the next finer one ends. A coarser tier must be kept at least as long, otherwise the
  // history would have a gap.
  void tiers(const toml::table& root) {
    struct Tier {
      const char* name;
      std::chrono::milliseconds age;
    };
    const std::array kept{Tier{"raw", config_.raw}, Tier{"five_minutes", config_.five_minutes},
                          Tier{"hours", config_.hours}, Tier{"days", config_.days}};
    for (std::size_t i = 1; i < kept.size(); ++i) {
      const Tier& finer = kept[i - 1];
      const Tier& coarser = kept[i];
      const bool shorter = coarser.age.count() != 0 && (finer.age.count() == 0 || finer.age > coarser.age);
      if (!shorter) continue;
      const auto* node = root["store"][coarser.name].node();
      if (node == nullptr) node = root["store"][finer.name].node();
      error(node->source(),
            fmt::format("{} in [store] is {}, shorter than {}, which is {}: coarser data must be kept at least as long",
                        coarser.name, format_age(coarser.age), finer.name, format_age(finer.age)));
      return;
    }
  }

  void programs(const toml::table& root) {
    const Status can_run = check_(config_.alert_exec.front());
    if (can_run) return;
    error(root["alert"]["exec"].node()->source(), fmt::format("exec in [alert]: {}", can_run.error().message));
  }

  void section(const toml::key& key, const toml::node& node) {
    if (key.str() == "category") return rules(key, node, "category", category_keys(), config_.categories);
    std::vector<std::string> names{"category"};
    for (const Section& section : sections()) {
      if (key.str() != section.name) {
        names.emplace_back(section.name);
        continue;
      }
      const toml::table* table = node.as_table();
      if (table == nullptr) return error(key.source(), fmt::format("'{0}' must be a table: [{0}]", section.name));
      return members(*table, section);
    }
    unknown(key, "at the top", names);
  }

  void members(const toml::table& table, const Section& section) {
    const bool redaction = std::string_view(section.name) == "redaction";
    for (const auto& [key, node] : table) {
      const bool is_rules = redaction && key.str() == "rule";
      is_rules ? rules(key, node, "redaction.rule", redaction_rule_keys(), config_.redaction.rules)
               : member(key, node, section.name, section.keys, config_, redaction ? "rule" : "");
    }
  }

  template <typename T>
  void member(const toml::key& key, const toml::node& node, std::string_view table, const Keys<T>& keys, T& into,
              std::string_view also = {}) {
    std::vector<std::string> names;
    for (const Key<T>& known : keys) {
      if (key.str() == known.name) {
        const Refusal refusal = known.value.take(node, into);
        if (refusal) error(node.source(), fmt::format("{} in [{}] {}", known.name, table, *refusal));
        return;
      }
      names.emplace_back(known.name);
    }
    if (!also.empty()) names.emplace_back(also);
    unknown(key, fmt::format("in [{}]", table), names);
  }

  template <typename T>
  void rules(const toml::key& key, const toml::node& node, std::string_view name, const Keys<T>& keys,
             std::vector<T>& into) {
    const toml::array* array = node.as_array();
    if (array == nullptr) return error(key.source(), fmt::format("'{0}' must be a list of tables: [[{0}]]", name));
    for (const toml::node& entry : *array) {
      const toml::table* table = entry.as_table();
      if (table == nullptr) return error(entry.source(), fmt::format("'{0}' must be a list of tables: [[{0}]]", name));
      T rule;
      rule.line = table->source().begin.line;
      const std::size_t before = errors_.size();
      for (const auto& [rule_key, value] : *table) member(rule_key, value, name, keys, rule);
      const Refusal refusal = errors_.size() == before ? incomplete(rule) : std::nullopt;
      if (refusal) error(table->source(), *refusal);
      into.push_back(std::move(rule));
    }
  }

  static Refusal incomplete(const CategoryRule& rule) {
    if (rule.name.empty()) return "a [[category]] needs a name";
    if (rule.command.empty() && rule.exe.empty() && rule.comm.empty() && rule.user.empty() && rule.cgroup.empty()) {
      return fmt::format("the category '{}' needs a pattern: command, exe, comm, user or cgroup", rule.name);
    }
    return std::nullopt;
  }

  static Refusal incomplete(const RedactionRule& rule) {
    if (rule.pattern.empty()) return "a [[redaction.rule]] needs a pattern";
    return std::nullopt;
  }

  const std::string& file_;
  const ProgramCheck& check_;
  Config config_;
  std::vector<LineError> errors_;
};

template <typename T>
void add_keys(std::string_view table, const Keys<T>& keys, std::vector<std::string>& into) {
  for (const Key<T>& key : keys) into.push_back(fmt::format("{}.{}", table, key.name));
}

// Formats one line for each key, except those whose value is the same in `not_given`.
template <typename T>
std::string format_keys(const Keys<T>& keys, const T& values, const T* not_given = nullptr) {
  std::string out;
  for (const Key<T>& key : keys) {
    const std::string value = key.value.print(values);
    if (not_given == nullptr || value != key.value.print(*not_given)) out += fmt::format("{} = {}\n", key.name, value);
  }
  return out;
}

template <typename T>
std::string format_rules(std::string_view name, const Keys<T>& keys, const std::vector<T>& rules) {
  const T empty{};
  std::string out;
  for (const T& rule : rules) out += fmt::format("\n[[{}]]\n{}", name, format_keys(keys, rule, &empty));
  return out;
}

}  // namespace

std::vector<std::string> source_names() {
  return {"proc", "vmmap"};
}

namespace {

// toml++ limits the depth of values, but not of dotted keys, for which it recurses on the stack.
constexpr std::ptrdiff_t kMaxDots = 64;

// Returns the first line with a key that is nested deeper than any setting, also in an inline table; 0 if there is
// none. Ignores strings and comments, which contain no keys.
std::size_t find_deep_key(std::string_view toml) {
  std::size_t number = 1;
  std::ptrdiff_t dots = 0;
  char quote = '\0';
  for (std::size_t i = 0; i < toml.size(); ++i) {
    const char letter = toml[i];
    if (letter == '\n') ++number;
    if (quote != '\0') {
      if (letter == '\\' && quote == '"') ++i;
      if (letter == quote) quote = '\0';
    } else if (letter == '"' || letter == '\'') {
      quote = letter;
    } else if (letter == '#') {
      i = std::min(toml.find('\n', i), toml.size()) - 1;
    } else if (letter == '.') {
      if (++dots > kMaxDots) return number;
    } else if (std::string_view("\n=,{}[]").find(letter) != std::string_view::npos) {
      dots = 0;
    }
  }
  return 0;
}

}  // namespace

Result<Config> parse_config(std::string_view toml, const std::string& file_name, const ProgramCheck& check) {
  if (const std::size_t line = find_deep_key(toml)) return at_line(file_name, line, "a key with too many dots");
  const toml::parse_result parsed = toml::parse(toml, std::string_view(file_name));
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return at_line(file_name, error.source().begin.line, error.description());
  }
  return Parser(file_name, check).parse(parsed.table());
}

Result<Config> load_config(const std::string& path, const ProgramCheck& check) {
  Buffer buffer;
  const std::string_view text = TRY(read_named_file(path, buffer, kLargestFile));
  return parse_config(text, path, check);
}

std::string format_config(const Config& config) {
  std::string out;
  for (const Section& section : sections()) {
    out += fmt::format("{}[{}]\n{}", out.empty() ? "" : "\n", section.name, format_keys(section.keys, config));
    if (std::string_view(section.name) == "categories")
      out += format_rules("category", category_keys(), config.categories);
  }
  return out + format_rules("redaction.rule", redaction_rule_keys(), config.redaction.rules);
}

std::vector<std::string> config_keys() {
  std::vector<std::string> keys;
  for (const Section& section : sections()) add_keys(section.name, section.keys, keys);
  add_keys("category", category_keys(), keys);
  add_keys("redaction.rule", redaction_rule_keys(), keys);
  return keys;
}

}  // namespace memoir
