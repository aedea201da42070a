#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>

#include "config/config.h"

namespace memoir {
namespace {

bool is_plain(std::string_view text) {
  for (const char c : text) {
    if (c == '\'' || static_cast<unsigned char>(c) < 0x20 || c == 0x7F) return false;
  }
  return true;
}

// A literal string where TOML allows it, since patterns are full of backslashes; else a basic one.
std::string toml_string(std::string_view text) {
  if (is_plain(text)) return fmt::format("'{}'", text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

class Printer {
 public:
  void table(std::string_view header) {
    fmt::format_to(std::back_inserter(out_), "{}{}\n", out_.empty() ? "" : "\n", header);
  }
  void text(std::string_view key, std::string_view value) {
    fmt::format_to(std::back_inserter(out_), "{} = {}\n", key, toml_string(value));
  }
  void words(std::string_view key, const std::vector<std::string>& words) {
    std::vector<std::string> all;
    all.reserve(words.size());
    for (const std::string& word : words) all.push_back(toml_string(word));
    fmt::format_to(std::back_inserter(out_), "{} = [{}]\n", key, fmt::join(all, ", "));
  }
  void text_if_given(std::string_view key, std::string_view value) {
    if (!value.empty()) text(key, value);
  }
  void duration(std::string_view key, std::chrono::milliseconds value) { text(key, print_duration(value)); }
  void pace(std::string_view key, std::chrono::milliseconds value) {
    text(key, value.count() == 0 ? "off" : print_duration(value));
  }
  void number(std::string_view key, std::int64_t value) {
    fmt::format_to(std::back_inserter(out_), "{} = {}\n", key, value);
  }
  void flag(std::string_view key, bool value) { fmt::format_to(std::back_inserter(out_), "{} = {}\n", key, value); }

  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

void print_category(const CategoryRule& rule, Printer& out) {
  out.table("[[category]]");
  out.text("name", rule.name);
  out.text_if_given("command", rule.command);
  out.text_if_given("exe", rule.exe);
  out.text_if_given("comm", rule.comm);
  out.text_if_given("user", rule.user);
  out.text_if_given("cgroup", rule.cgroup);
}

void print_redaction(const RedactionRule& rule, Printer& out) {
  out.table("[[redaction.rule]]");
  out.text("pattern", rule.pattern);
  out.text_if_given("program", rule.program);
  if (rule.next) out.flag("next", true);
  out.text_if_given("unless", rule.unless);
}

}  // namespace

std::string print_config(const Config& config) {
  Printer out;
  out.table("[recorder]");
  out.text("db", config.db);
  out.duration("interval", config.interval);
  out.pace("look", config.look);
  out.text("burst", config.burst);
  out.duration("read_deadline", config.read_deadline);
  out.number("queue_ticks", config.queue_ticks);
  out.number("queue_mib", config.queue_mib);
  out.number("max_command_bytes", config.max_command_bytes);
  out.flag("container_names", config.container_names);
  out.text("log_level", config.log_level);
  out.text("source", config.source);
  out.table("[store]");
  out.text("durability", config.durability);
  out.text("raw", print_age(config.raw));
  out.text("five_minutes", print_age(config.five_minutes));
  out.text("hours", print_age(config.hours));
  out.text("days", print_age(config.days));
  out.text("max_size", print_bytes(config.max_size));
  out.table("[vmmap]");
  out.text("vmmap", config.vmmap);
  out.text("ps", config.ps);
  out.duration("deadline", config.vmmap_deadline);
  out.text("group", config.vmmap_group);
  out.table("[budget]");
  out.text("cpu", print_share(config.budget_cpu_ppm));
  out.table("[exits]");
  out.text("large", print_bytes(config.exits_large));
  out.table("[mappings]");
  out.pace("interval", config.mappings_interval);
  out.number("processes", config.mappings_processes);
  out.number("labels", config.mappings_labels);
  out.duration("budget", config.mappings_budget);
  out.table("[tmpfs]");
  out.pace("interval", config.tmpfs_interval);
  out.table("[alert]");
  out.words("exec", config.alert_exec);
  out.text("pressure", config.alert_pressure_ppm == 0 ? "off" : print_share(config.alert_pressure_ppm));
  out.pace("leak", config.alert_leak);
  out.duration("every", config.alert_every);
  out.duration("timeout", config.alert_timeout);
  out.table("[leaks]");
  out.duration("hour", config.leaks_hour);
  out.table("[categories]");
  out.flag("defaults", config.default_categories);
  for (const CategoryRule& rule : config.categories) print_category(rule, out);
  out.table("[redaction]");
  out.flag("defaults", config.redaction.defaults);
  out.flag("drop_arguments", config.redaction.drop_arguments);
  for (const RedactionRule& rule : config.redaction.rules) print_redaction(rule, out);
  return out.take();
}

}  // namespace memoir
