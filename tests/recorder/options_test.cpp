#include "base/version.h"
#include "config/config.h"
#include "daemon_process.h"
#include "store/sqlite/database.h"
#include "support/catch.h"
#include "support/temporary_directory.h"

using namespace memoir;
using namespace memoir::test;

TEST_CASE("memoird prints its version, commit and SQLite's version") {
  const TemporaryDirectory directory;
  DaemonProcess memoird(directory.path(), {"--version"});
  CHECK(memoird.wait() == 0);
  CHECK(memoird.output() ==
        std::string("memoird ") + version() + " (" + version_commit() + "), SQLite " + sqlite_version() + "\n");
}

TEST_CASE("the help names every option and has examples") {
  const TemporaryDirectory directory;
  DaemonProcess memoird(directory.path(), {"--help"});
  CHECK(memoird.wait() == 0);
  const std::string manual = read_text(MEMOIR_SOURCE "/man/memoird.8");
  for (const std::string option : {"config", "db", "source", "interval", "once", "duration", "foreground",
                                   "check-config", "print-config", "version", "help"}) {
    CHECK_THAT(memoird.output(), ContainsSubstring("--" + option));
    INFO(option);
    std::string escaped = "\\-\\-" + option;
    if (const auto dash = escaped.find('-', 4); dash != std::string::npos) escaped.insert(dash, "\\");
    CHECK(manual.find(escaped) != std::string::npos);
  }
  CHECK_THAT(memoird.output(), ContainsSubstring("Examples:"));
}

TEST_CASE("wrong usage and a wrong configuration exit with 2 and the reason") {
  const TemporaryDirectory directory;
  const std::string config = directory.path() + "/memoir.toml";
  write_text(config, "[recorder]\nintervall = '1s'\n");
  const std::string rules = directory.path() + "/rules.toml";
  write_text(rules, "\n[[category]]\nname = 'a'\ncommand = '('\n");
  struct Case {
    std::vector<std::string> arguments;
    std::string complaint;
  };
  const std::vector<Case> cases{
      {{"--bogus"}, "there is no option '--bogus'"},
      {{"--intervl", "3s"}, "did you mean '--interval'?"},
      {{"--db", ""}, "--db needs a value"},
      {{"--config="}, "--config needs a value"},
      {{"--interval", "10"}, "memoird: --interval: '10' has no unit: 10s is seconds, 10m minutes"},
      {{"--interval", "99ms"}, "memoird: --interval: 99ms is out of range: 100ms to 1h"},
      {{"--duration", "0s"}, "memoird: --duration: 0s is out of range"},
      {{"--once", "--duration", "1s"}, "excludes"},
      {{"--source", "vm"}, "proc,vmmap"},
      {{"--config", directory.path() + "/none.toml", "--check-config"}, "none.toml"},
      {{"--config", config}, config + ":2: unknown key 'intervall' in [recorder]; did you mean 'interval'?"},
      {{"--config", config, "--check-config"}, config + ":2:"},
      {{"--config", config, "--print-config"}, config + ":2:"},
      {{"--config", rules, "--check-config"}, rules}};
  for (const Case& wrong : cases) {
    std::vector<std::string> arguments = wrong.arguments;
    arguments.insert(arguments.end(), {"--db", directory.path() + "/memoir.db"});
    DaemonProcess memoird(directory.path(), arguments);
    CHECK(memoird.wait() == 2);
    CHECK_THAT(memoird.log(), ContainsSubstring(wrong.complaint));
    CHECK(read_text(directory.path() + "/memoir.db").empty());
  }
}

TEST_CASE("a valid configuration is reported as such") {
  const TemporaryDirectory directory;
  DaemonProcess memoird(directory.path(), {"--config", MEMOIR_SOURCE "/systemd/memoir.toml", "--check-config"});
  CHECK(memoird.wait() == 0);
  CHECK(memoird.output() == MEMOIR_SOURCE "/systemd/memoir.toml: is valid\n");
}

TEST_CASE("a check reports a missing program of alerts and every other error") {
  const TemporaryDirectory directory;
  const std::string config = directory.path() + "/memoir.toml";
  write_text(config, "[alert]\nexec = ['/none/such']\n");
  DaemonProcess missing(directory.path(), {"--config", config, "--check-config"});
  CHECK(missing.wait() == 2);
  CHECK_THAT(missing.log(), ContainsSubstring("exec in [alert]: ") && ContainsSubstring("/none/such"));
  write_text(config, "[recorder]\nintervall = 1\n[alert]\nexec = 3\n");
  DaemonProcess wrong(directory.path(), {"--config", config, "--check-config"});
  CHECK(wrong.wait() == 2);
  CHECK_THAT(wrong.log(),
             ContainsSubstring("memoird: " + config + ":2:") && ContainsSubstring("memoird: " + config + ":4:"));
}

TEST_CASE("the printed configuration has all settings in force, and can be used as a file") {
  const TemporaryDirectory directory;
  const std::string config = directory.path() + "/memoir.toml";
  write_text(config, "[recorder]\ninterval = '1s'\n[[category]]\nname = 'mine'\ncommand = 'shop'\n");
  DaemonProcess first(directory.path(), {"--config", config, "--print-config", "--interval", "5s"});
  CHECK(first.wait() == 0);
  const auto printed = parse_config(first.output(), "printed");
  REQUIRE(printed);
  CHECK(printed->interval == std::chrono::seconds(5));
  CHECK_FALSE(printed->default_categories);
  REQUIRE(printed->categories.size() > 10);
  CHECK(printed->categories.front().name == "mine");
  CHECK_FALSE(printed->redaction.defaults);
  CHECK(printed->redaction.rules.size() > 3);

  write_text(config, first.output());
  DaemonProcess check(directory.path(), {"--config", config, "--check-config"});
  CHECK(check.wait() == 0);
  DaemonProcess again(directory.path(), {"--config", config, "--print-config"});
  CHECK(again.wait() == 0);
  CHECK(again.output() == first.output());
}
