#include "config/config.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <optional>
#include <span>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "base/file.h"
#include "base/nearest.h"
#include "base/own_file.h"
#include "base/text.h"

namespace memoir {
namespace {

constexpr std::size_t kLargestFile = 1024 * 1024;

// What is wrong with a value, as the end of a sentence that begins with its key; nothing if it was taken.
using Complaint = std::optional<std::string>;

// A key of a table that fills a T.
template <typename T>
struct Key {
  const char* name;
  std::function<Complaint(const toml::node&, T&)> take;
};

template <typename T, typename Owner>
auto text(T Owner::*member) {
  return [member](const toml::node& node, Owner& owner) -> Complaint {
    const auto* value = node.as_string();
    if (value == nullptr) return "must be a text in quotes";
    if (value->get().empty()) return "must not be empty";
    owner.*member = value->get();
    return std::nullopt;
  };
}

template <typename Owner>
auto flag(bool Owner::*member) {
  return [member](const toml::node& node, Owner& owner) -> Complaint {
    const auto* value = node.as_boolean();
    if (value == nullptr) return "must be true or false";
    owner.*member = value->get();
    return std::nullopt;
  };
}

auto number(std::int64_t Config::*member, std::int64_t least, std::int64_t most) {
  return [=](const toml::node& node, Config& config) -> Complaint {
    const auto* value = node.as_integer();
    if (value == nullptr) return "must be a whole number";
    if (value->get() < least || value->get() > most) {
      return fmt::format("is {}, but must be from {} to {}", value->get(), least, most);
    }
    config.*member = value->get();
    return std::nullopt;
  };
}

auto duration(std::chrono::milliseconds Config::*member, std::chrono::milliseconds least,
              std::chrono::milliseconds most) {
  return [=](const toml::node& node, Config& config) -> Complaint {
    const auto* value = node.as_string();
    if (value == nullptr) return "must be a duration in quotes, as \"10s\"";
    const Result<std::chrono::milliseconds> parsed = parse_duration(value->get());
    if (!parsed) return fmt::format("cannot be read: {}", parsed.error().message);
    if (*parsed < least || *parsed > most) {
      return fmt::format("is {}, but must be from {} to {}", value->get(), print_duration(least), print_duration(most));
    }
    config.*member = *parsed;
    return std::nullopt;
  };
}

// How often something is done that costs, or "off", which is 0.
auto pace(std::chrono::milliseconds Config::*member, std::chrono::milliseconds least, std::chrono::milliseconds most) {
  return [member, take = duration(member, least, most)](const toml::node& node, Config& config) -> Complaint {
    const auto* word = node.as_string();
    if (word == nullptr || word->get() != "off") return take(node, config);
    config.*member = std::chrono::milliseconds(0);
    return std::nullopt;
  };
}

// How long a tier is kept.
auto age(std::chrono::milliseconds Config::*member) {
  return [=](const toml::node& node, Config& config) -> Complaint {
    const auto* value = node.as_string();
    if (value == nullptr) return "must be a duration in quotes, as \"7d\", or \"forever\"";
    const Result<std::chrono::milliseconds> parsed = parse_age(value->get());
    if (!parsed) return fmt::format("cannot be read: {}", parsed.error().message);
    if (parsed->count() != 0 && (*parsed < kLeastAge || *parsed > kMostAge)) {
      return fmt::format("is {}, but must be from {} to {}, or forever", value->get(), print_duration(kLeastAge),
                         print_duration(kMostAge));
    }
    config.*member = *parsed;
    return std::nullopt;
  };
}

// `or_none`: "unlimited", too, which is 0.
auto bytes(std::int64_t Config::*member, std::int64_t least, bool or_none) {
  return [=](const toml::node& node, Config& config) -> Complaint {
    const auto* value = node.as_string();
    if (value == nullptr) return "must be a size in quotes, as \"2GiB\"";
    const Result<std::int64_t> parsed = parse_bytes(value->get());
    if (!parsed) return fmt::format("cannot be read: {}", parsed.error().message);
    if (*parsed < least && !(or_none && *parsed == 0)) {
      return fmt::format("is {}, but must be at least {}", value->get(), print_bytes(least));
    }
    config.*member = *parsed;
    return std::nullopt;
  };
}

auto share(std::int64_t Config::*member, std::int64_t least) {
  return [=](const toml::node& node, Config& config) -> Complaint {
    const auto* value = node.as_string();
    if (value == nullptr) return "must be a share of a core in quotes, as \"0.5%\"";
    const Result<std::int64_t> parsed = parse_share(value->get());
    if (!parsed) return fmt::format("cannot be read: {}", parsed.error().message);
    if (*parsed != 0 && *parsed < least) {
      return fmt::format("is {}, but must be at least {}", value->get(), print_share(least));
    }
    config.*member = *parsed;
    return std::nullopt;
  };
}

auto choice(std::string Config::*member, std::vector<std::string> words) {
  return [member, words = std::move(words)](const toml::node& node, Config& config) -> Complaint {
    const auto* value = node.as_string();
    if (value == nullptr || std::find(words.begin(), words.end(), value->get()) == words.end()) {
      const std::string given = value == nullptr ? "" : value->get();
      return fmt::format("must be one of {}{}", fmt::join(words, ", "), did_you_mean(given, words));
    }
    config.*member = value->get();
    return std::nullopt;
  };
}

// A key of [redaction], which fills a part of Config.
auto redaction(bool RedactionOptions::*member) {
  return [take = flag(member)](const toml::node& node, Config& config) { return take(node, config.redaction); };
}

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
        {"interval", duration(&Config::interval, kLeastInterval, kMostInterval)},
        {"look", pace(&Config::look, kLeastLook, kMostInterval)},
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
        {"max_size", bytes(&Config::max_size, kLeastMaxSize, true)}}},
      {"vmmap",
       {{"vmmap", text(&Config::vmmap)},
        {"ps", text(&Config::ps)},
        {"deadline", duration(&Config::vmmap_deadline, 10ms, 10min)},
        {"group", choice(&Config::vmmap_group, {"process", "pgid"})}}},
      {"budget", {{"cpu", share(&Config::budget_cpu_ppm, kLeastCpuPpm)}}},
      {"exits", {{"large", bytes(&Config::exits_large, kLeastLarge, false)}}},
      {"mappings",
       {{"interval", pace(&Config::mappings_interval, kLeastMappings, kMostMappings)},
        {"processes", number(&Config::mappings_processes, 1, 80)},
        {"labels", number(&Config::mappings_labels, 1, 500)},
        {"budget", duration(&Config::mappings_budget, 1ms, 10min)}}},
      {"tmpfs", {{"interval", pace(&Config::tmpfs_interval, kLeastTmpfs, kMostTmpfs)}}},
      {"leaks", {{"hour", duration(&Config::leaks_hour, kLeastLeaksHour, kMostLeaksHour)}}},
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

// Reads one file; the first error ends it.
class Parser {
 public:
  explicit Parser(const std::string& file) : file_(file) {}

  Result<Config> parse(const toml::table& root) {
    for (const auto& [key, node] : root) TRY(section(key, node));
    if (config_.db.empty()) config_.db = default_database_path();
    TRY(tiers(root));
    return std::move(config_);
  }

 private:
  Error error(const toml::source_region& source, std::string_view what) const {
    return malformed(fmt::format("{}:{}: {}", file_, source.begin.line, what));
  }

  Error unknown(const toml::key& key, std::string_view where, const std::vector<std::string>& known) const {
    const auto near = nearest(key.str(), known);
    return error(key.source(), fmt::format("unknown key '{}' {}; {}", key.str(), where,
                                           near ? fmt::format("did you mean '{}'?", *near)
                                                : fmt::format("known are {}", fmt::join(known, ", "))));
  }

  // Each tier goes on where a finer one ends: it is kept at least as long, or answers on that time would have a hole.
  Status tiers(const toml::table& root) const {
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
      return error(node->source(),
                   fmt::format("{} in [store] is {}, shorter than {}, which is {}: what is coarser must be "
                               "kept at least as long",
                               coarser.name, print_age(coarser.age), finer.name, print_age(finer.age)));
    }
    return Done{};
  }

  Status section(const toml::key& key, const toml::node& node) {
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
    return unknown(key, "at the top", names);
  }

  Status members(const toml::table& table, const Section& section) {
    const bool redaction = std::string_view(section.name) == "redaction";
    for (const auto& [key, node] : table) {
      const bool is_rules = redaction && key.str() == "rule";
      TRY(is_rules ? rules(key, node, "redaction.rule", redaction_rule_keys(), config_.redaction.rules)
                   : member(key, node, section.name, section.keys, config_, redaction ? "rule" : ""));
    }
    return Done{};
  }

  template <typename T>
  Status member(const toml::key& key, const toml::node& node, std::string_view table, const Keys<T>& keys, T& into,
                std::string_view also = {}) {
    std::vector<std::string> names;
    for (const Key<T>& known : keys) {
      if (key.str() == known.name) {
        const Complaint complaint = known.take(node, into);
        if (complaint) return error(node.source(), fmt::format("{} in [{}] {}", known.name, table, *complaint));
        return Done{};
      }
      names.emplace_back(known.name);
    }
    if (!also.empty()) names.emplace_back(also);
    return unknown(key, fmt::format("in [{}]", table), names);
  }

  template <typename T>
  Status rules(const toml::key& key, const toml::node& node, std::string_view name, const Keys<T>& keys,
               std::vector<T>& into) {
    const toml::array* array = node.as_array();
    if (array == nullptr) return error(key.source(), fmt::format("'{0}' must be a list of tables: [[{0}]]", name));
    for (const toml::node& entry : *array) {
      const toml::table* table = entry.as_table();
      if (table == nullptr) return error(entry.source(), fmt::format("'{0}' must be a list of tables: [[{0}]]", name));
      T rule;
      rule.line = table->source().begin.line;
      for (const auto& [rule_key, value] : *table) TRY(member(rule_key, value, name, keys, rule));
      const Complaint complaint = incomplete(rule);
      if (complaint) return error(table->source(), *complaint);
      into.push_back(std::move(rule));
    }
    return Done{};
  }

  static Complaint incomplete(const CategoryRule& rule) {
    if (rule.name.empty()) return "a [[category]] needs a name";
    if (rule.command.empty() && rule.exe.empty() && rule.comm.empty() && rule.user.empty() && rule.cgroup.empty()) {
      return fmt::format("the category '{}' needs a pattern: command, exe, comm, user or cgroup", rule.name);
    }
    return std::nullopt;
  }

  static Complaint incomplete(const RedactionRule& rule) {
    if (rule.pattern.empty()) return "a [[redaction.rule]] needs a pattern";
    return std::nullopt;
  }

  const std::string& file_;
  Config config_;
};

template <typename T>
void add_keys(std::string_view table, const Keys<T>& keys, std::vector<std::string>& into) {
  for (const Key<T>& key : keys) into.push_back(fmt::format("{}.{}", table, key.name));
}

}  // namespace

std::vector<std::string> source_names() {
  return {"proc", "vmmap"};
}

Result<Config> parse_config(std::string_view toml, const std::string& file_name) {
  const toml::parse_result parsed = toml::parse(toml, std::string_view(file_name));
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return malformed(fmt::format("{}:{}: {}", file_name, error.source().begin.line, error.description()));
  }
  return Parser(file_name).parse(parsed.table());
}

Result<Config> load_config(const std::string& path) {
  Buffer buffer;
  const std::string_view text = TRY(read_named_file(path, buffer, kLargestFile));
  return parse_config(text, path);
}

std::vector<std::string> config_keys() {
  std::vector<std::string> keys;
  for (const Section& section : sections()) add_keys(section.name, section.keys, keys);
  add_keys("category", category_keys(), keys);
  add_keys("redaction.rule", redaction_rule_keys(), keys);
  return keys;
}

}  // namespace memoir
