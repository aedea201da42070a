#include "config/config.h"
#include "support/catch.h"

using namespace memoir;
using namespace std::chrono_literals;

namespace {

Config read_back(const Config& config) {
  const auto parsed = parse_config(format_config(config), "printed");
  if (!parsed) FAIL(parsed.error().message << "\n" << format_config(config));
  Config result = *parsed;
  for (auto& rule : result.categories) rule.line = 0;
  for (auto& rule : result.redaction.rules) rule.line = 0;
  return result;
}

}  // namespace

TEST_CASE("a printed configuration reads back the same") {
  Config config;
  config.db = "/var/lib/memoir/memoir.db";
  CHECK(read_back(config) == config);

  config.interval = 1500ms;
  config.scan_interval = 0ms;
  config.burst = "off";
  config.read_deadline = 1ms;
  config.queue_ticks = 100'000;
  config.queue_mib = 4096;
  config.max_command_bytes = 64;
  config.log_level = "error";
  config.source = "vmmap";
  config.vmmap = "/opt/vmmap";
  config.ps = "/opt/ps";
  config.vmmap_deadline = 3s;
  config.vmmap_group = "pgid";
  config.durability = "normal";
  config.raw = 1h;
  config.five_minutes = 90min;
  config.hours = 240'000h;
  config.days = 0ms;
  config.tmpfs_interval = 90s;
  config.max_size = 16LL << 20;
  config.budget_cpu_ppm = 100;
  config.mappings_interval = 0ms;
  config.mappings_processes = 1;
  config.mappings_labels = 500;
  config.mappings_budget = 1ms;
  config.alert_exec = {"/usr/bin/logger", "-t", "it's \"memory\"", ""};
  config.alert_pressure_ppm = 1'000;
  config.alert_leak = 60s;
  config.alert_confirmed = false;
  config.alert_limit_ppm = 10'000;
  config.alert_tmpfs_ppm = 0;
  config.alert_swap_ppm = 1'000'000;
  config.alert_every = 1s;
  config.alert_timeout = 100ms;
  config.default_categories = false;
  config.categories = {{"a", "^/usr/bin/a\\b", "", "", "", ""}, {"b", "", "e", "c", "u", "g"}};
  config.redaction.defaults = false;
  config.redaction.drop_arguments = true;
  config.redaction.rules = {{"^--key=(.*)", "", false, "=/"}, {"-p", "^mysql$", true, ""}};
  CHECK(read_back(config) == config);
}

TEST_CASE("unlimited values are printed as such and read back") {
  Config config;
  config.db = "/m.db";
  config.max_size = 0;
  config.budget_cpu_ppm = 0;
  config.tmpfs_interval = 0ms;
  config.alert_pressure_ppm = 0;
  config.alert_leak = 0ms;
  CHECK_THAT(format_config(config), test::ContainsSubstring("[alert]\nexec = []\npressure = 'off'\nleak = 'off'"));
  CHECK_THAT(format_config(config), test::ContainsSubstring("[tmpfs]\ninterval = 'off'"));
  CHECK_THAT(format_config(config), test::ContainsSubstring("max_size = 'unlimited'"));
  CHECK_THAT(format_config(config), test::ContainsSubstring("[budget]\ncpu = 'unlimited'"));
  CHECK_THAT(format_config(config), test::ContainsSubstring("days = 'forever'"));
  CHECK(read_back(config) == config);
}

TEST_CASE("texts that need escapes read back the same") {
  Config config;
  config.db = "/tmp/it's \"here\"\\ \t\n\x01\x7f \xc3\xa9.db";
  config.categories = {{"''' \"\"\"", "\\d+'\\\\", "", "", "", ""}};
  CHECK(read_back(config) == config);
}
