#include "recorder/settings.h"

#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>

#include "base/file.h"

namespace memoir {

namespace {

Status can_run(const std::string& path) {
  if (::access(path.c_str(), X_OK) != 0) return errno_error(errno, "run", path);
  return Done{};
}

}  // namespace

Result<Settings> load_settings(const RecorderOptions& options) {
  Settings settings;
  settings.config_path = options.config.value_or(default_config_path());
  Result<Config> config = load_config(settings.config_path, options.check_config ? can_run : ProgramCheck());
  settings.config_found = config.ok() || config.error().kind != ErrorKind::not_found;
  if (!settings.config_found && !options.config) config = parse_config("", settings.config_path);
  if (!config) return config.error();
  settings.config = *std::move(config);
  if (options.db) settings.config.db = *options.db;
  if (options.source) settings.config.source = *options.source;
  if (options.interval) settings.config.interval = *options.interval;
  return settings;
}

Config spelled_out(const Config& config) {
  Config all = config;
  if (config.default_categories) {
    const std::vector<CategoryRule> built_in = default_category_rules();
    all.categories.insert(all.categories.end(), built_in.begin(), built_in.end());
  }
  all.default_categories = false;
  if (config.redaction.defaults) {
    const std::vector<RedactionRule> built_in = default_redaction_rules();
    all.redaction.rules.insert(all.redaction.rules.begin(), built_in.begin(), built_in.end());
  }
  all.redaction.defaults = false;
  return all;
}

Result<Rules> make_rules(const Settings& settings) {
  Result<Categoriser> categoriser = Categoriser::make(spelled_out(settings.config).categories);
  if (!categoriser) return malformed(fmt::format("{}: {}", settings.config_path, categoriser.error().message));
  Result<Redactor> redactor = Redactor::make(settings.config.redaction);
  if (!redactor) return malformed(fmt::format("{}: {}", settings.config_path, redactor.error().message));
  return Rules{*std::move(categoriser), *std::move(redactor)};
}

bool same_rules(const Config& a, const Config& b) {
  const auto rules_of = [](const Config& config) {
    Config rules;
    rules.categories = config.categories;
    rules.default_categories = config.default_categories;
    rules.redaction = config.redaction;
    for (CategoryRule& rule : rules.categories) rule.line = 0;
    for (RedactionRule& rule : rules.redaction.rules) rule.line = 0;
    return rules;
  };
  return rules_of(a) == rules_of(b);
}

LogLevel to_log_level(const Config& config) {
  if (config.log_level == "debug") return LogLevel::debug;
  if (config.log_level == "warning") return LogLevel::warning;
  if (config.log_level == "error") return LogLevel::error;
  return LogLevel::info;
}

Durability durability(const Config& config) {
  return config.durability == "normal" ? Durability::normal : Durability::full;
}

Retention retention(const Config& config) {
  return {.raw_ms = config.raw.count(),
          .five_minutes_ms = config.five_minutes.count(),
          .hour_ms = config.hours.count(),
          .day_ms = config.days.count(),
          .max_bytes = config.max_size};
}

MappingLimits mapping_limits(const Config& config) {
  return {.interval_ms = config.mappings_interval.count(),
          .processes = static_cast<std::size_t>(config.mappings_processes),
          .labels = static_cast<std::size_t>(config.mappings_labels),
          .cpu_us_an_hour = config.mappings_budget / std::chrono::microseconds(1)};
}

Status prepare_folder(const Config& config) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::absolute(config.db).parent_path();
  std::error_code error;
  if (fs::is_directory(folder, error)) return Done{};
  if (config.db != default_database_path()) {
    return Error{ErrorKind::not_found,
                 fmt::format("the folder {} of the database does not exist: create it, or name another "
                             "database with --db",
                             folder.string())};
  }
  fs::create_directories(folder, error);
  if (error) {
    return Error{ErrorKind::io, fmt::format("cannot create {} for the database: {}; name another database with --db",
                                            folder.string(), error.message())};
  }
  return Done{};
}

}  // namespace memoir
