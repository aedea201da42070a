#include "recorder/options.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <string_view>

#include <CLI/CLI.hpp>

#include "base/nearest.h"
#include "base/text.h"
#include "base/version.h"
#include "config/config.h"
#include "store/sqlite/database.h"

namespace memoir {
namespace {

constexpr int kUsage = 2;

constexpr const char* kFooter = R"(
Examples:
  memoird                                  record every 10 s into the default database
  memoird --db /tmp/try.db --once          take one tick and exit
  memoird --db /tmp/try.db --interval 1s --duration 60s
  memoird --config /etc/memoir/memoir.toml --check-config

Signals: TERM and INT take a last tick and stop, HUP reloads the configuration, USR1 takes a tick now.
Exit status: 0 stopped as requested, 1 could not record or lost data at the end, 2 wrong usage or configuration.
See memoird(8) and memoir.toml(5); `memoir` shows the recorded data.)";

std::string version_text() {
  return fmt::format("memoird {} ({}), SQLite {}", version(), version_commit(), sqlite_version());
}

// Reads a duration into `into`; CLI11 shows its exception as a usage error.
CLI::callback_t duration_into(const char* option, std::optional<std::chrono::milliseconds>& into,
                              std::chrono::milliseconds least, std::chrono::milliseconds most) {
  return [=, &into](const CLI::results_t& results) {
    const auto parsed = parse_duration(results.front());
    if (!parsed) throw CLI::ValidationError(option, parsed.error().message);
    if (*parsed < least || *parsed > most) {
      throw CLI::ValidationError(option, fmt::format("{} is out of range: {} to {}", results.front(),
                                                     format_duration(least), format_duration(most)));
    }
    into = *parsed;
    return true;
  };
}

int complain_of_unknown(const CLI::App& app) {
  std::vector<std::string> options;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
  }
  const std::vector<std::string> words = app.remaining();
  const auto unknown = std::ranges::find_if(words, [](const std::string& word) { return word.starts_with('-'); });
  const std::string& word = unknown != words.end() ? *unknown : words.front();
  fmt::print(stderr, "memoird: there is no option '{}'{}; see memoird --help\n", to_printable(word),
             did_you_mean(word, options));
  return kUsage;
}

// Returns false, after a message, if an option has an empty value: `--db=` or `--db ''`. No option accepts an empty
// value. For `--db=`, CLI11 would use the next argument as the value.
bool all_have_values(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool assigned = word.starts_with("--") && word.ends_with('=');
    if (!assigned && !word.empty()) continue;
    const std::string_view name = assigned ? word.substr(0, word.size() - 1) : argv[i - 1];
    fmt::print(stderr, "memoird: {} needs a value; see memoird --help\n", to_printable(name));
    return false;
  }
  return true;
}

}  // namespace

std::variant<RecorderOptions, int> parse_options(int argc, const char* const* argv) {
  using namespace std::chrono_literals;
  if (!all_have_values(argc, argv)) return kUsage;
  RecorderOptions options;
  CLI::App app("memoird samples the memory of every process and of the machine into one SQLite file.", "memoird");
  app.footer(kFooter);
  app.get_formatter()->label("Excludes", "not with");
  app.set_version_flag("--version", version_text(), "Print the versions of memoird and of SQLite and exit");
  app.add_option("--config", options.config, "Configuration file [" + default_config_path() + "]")->type_name("F");
  app.add_option("--db", options.db, "Database [" + default_database_path() + "]")->type_name("F");
  app.add_option("--source", options.source, "Where ticks come from: proc, or vmmap of macOS [proc]")
      ->check(CLI::IsMember(source_names()))
      ->type_name("S");
  app.add_option("--interval", duration_into("--interval", options.interval, kMinInterval, kMaxInterval),
                 "Time between two ticks, 100ms to 1h [10s]")
      ->type_name("T");
  auto* once = app.add_flag("--once", options.once, "Take one tick and exit");
  app.add_option("--duration", duration_into("--duration", options.duration, 1ms, 366 * 24h),
                 "Record for this long and exit")
      ->type_name("T")
      ->excludes(once);
  app.add_flag("--foreground", options.foreground,
               "Log with dates even under the journal (memoird never leaves the foreground)");
  auto* check = app.add_flag("--check-config", options.check_config, "Check the configuration and exit");
  app.add_flag("--print-config", options.format_config,
               "Print the effective configuration, including the built-in rules, and exit")
      ->excludes(check);
  // Hidden options for tests, which cannot wait an hour.
  const auto add_milliseconds = [&app](const char* name, std::chrono::milliseconds& into) {
    app.add_option_function<std::int64_t>(name, [&into](std::int64_t ms) { into = std::chrono::milliseconds(ms); })
        ->check(CLI::PositiveNumber)
        ->group("");
  };
  add_milliseconds("--keyframe-every-ms", options.keyframe_every);
  add_milliseconds("--careful-step-ms", options.careful_step);
  app.add_option("--proc", options.proc, "Read this tree instead of /proc (for tests)")->type_name("DIR");
  app.add_option("--cgroups", options.cgroups, "Read this tree instead of /sys/fs/cgroup (for tests)")
      ->type_name("DIR");
  app.add_option("--containers", options.containers, "Read container managers' files below this folder (for tests)")
      ->type_name("DIR");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError&) {
    return complain_of_unknown(app);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    fmt::print(stderr, "memoird: {}; see memoird --help\n", to_printable(error.what()));
    return kUsage;
  }
  return options;
}

}  // namespace memoir
