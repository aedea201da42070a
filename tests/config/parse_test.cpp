#include <fstream>

#include "base/text.h"
#include "config/config.h"
#include "support/catch.h"
#include "support/temporary_directory.h"

using namespace memoir;
using namespace std::chrono_literals;

namespace {

std::string complaint(std::string_view toml) {
  const auto parsed = parse_config(toml, "F");
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().kind == ErrorKind::malformed);
  return parsed.error().message;
}

}  // namespace

TEST_CASE("an empty file gives the defaults") {
  Config defaults;
  defaults.db = default_database_path();
  CHECK(*parse_config("", "F") == defaults);
  CHECK(*parse_config("# only a comment\n", "F") == defaults);
}

TEST_CASE("every key is read") {
  const auto parsed = parse_config(R"(
[recorder]
db = "/tmp/a.db"
interval = "1.5m"
read_deadline = "20ms"
queue_ticks = 5
max_command_bytes = 128
log_level = "debug"
source = "vmmap"
[vmmap]
vmmap = "/opt/vmmap"
ps = "/opt/ps"
deadline = "3s"
group = "pgid"
[store]
durability = "normal"
raw = "36h"
five_minutes = "14d"
hours = "3650d"
days = "forever"
max_size = "1.5GiB"
[budget]
cpu = "1.25%"
[mappings]
interval = "1h"
processes = 7
labels = 9
budget = "2s"
[tmpfs]
interval = "off"
[[category]]
name = "shop"
command = '^/opt/shop\b'
exe = 'e'
comm = 'c'
user = 'u'
cgroup = 'g'
[[category]]
name = "batch"
user = 'batch'
[categories]
defaults = false
[redaction]
defaults = false
drop_arguments = true
[[redaction.rule]]
pattern = '^-K$'
program = 'shopctl'
next = true
unless = '=/'
)",
                                   "F");
  REQUIRE(parsed);
  CHECK(parsed->db == "/tmp/a.db");
  CHECK(parsed->interval == 90s);
  CHECK(parsed->read_deadline == 20ms);
  CHECK(parsed->queue_ticks == 5);
  CHECK(parsed->max_command_bytes == 128);
  CHECK(parsed->log_level == "debug");
  CHECK(parsed->source == "vmmap");
  CHECK(parsed->vmmap == "/opt/vmmap");
  CHECK(parsed->ps == "/opt/ps");
  CHECK(parsed->vmmap_deadline == 3s);
  CHECK(parsed->vmmap_group == "pgid");
  CHECK(parsed->durability == "normal");
  CHECK(parsed->raw == 36h);
  CHECK(parsed->five_minutes == 14 * 24h);
  CHECK(parsed->hours == 3650 * 24h);
  CHECK(parsed->days == 0ms);
  CHECK(parsed->max_size == 3LL << 29);
  CHECK(parsed->tmpfs_interval == 0ms);
  CHECK(parsed->budget_cpu_ppm == 12'500);
  CHECK(parsed->mappings_interval == 1h);
  CHECK(parsed->mappings_processes == 7);
  CHECK(parsed->mappings_labels == 9);
  CHECK(parsed->mappings_budget == 2s);
  CHECK_FALSE(parsed->default_categories);
  REQUIRE(parsed->categories.size() == 2);
  CHECK(parsed->categories[0] == CategoryRule{"shop", "^/opt/shop\\b", "e", "c", "u", "g", 31});
  CHECK(parsed->categories[1] == CategoryRule{"batch", "", "", "", "batch", "", 38});
  CHECK_FALSE(parsed->redaction.defaults);
  CHECK(parsed->redaction.drop_arguments);
  REQUIRE(parsed->redaction.rules.size() == 1);
  CHECK(parsed->redaction.rules[0] == RedactionRule{"^-K$", "shopctl", true, "=/", 46});
}

TEST_CASE("expensive features can be switched off") {
  CHECK(parse_config("[recorder]\nscan_interval = 'off'\n", "F")->scan_interval == 0ms);
  CHECK(parse_config("", "F")->burst == "on");
  CHECK(parse_config("[recorder]\nburst = 'off'\n", "F")->burst == "off");
  CHECK(complaint("[recorder]\nburst = 'offf'\n") ==
        "F:2: burst in [recorder] must be one of on, off; did you mean 'off'?");
  CHECK(parse_config("[mappings]\ninterval = 'off'\n", "F")->mappings_interval == 0ms);
  CHECK(complaint("[mappings]\ninterval = 'never'\n").starts_with("F:2: interval in [mappings] cannot be read"));
}

TEST_CASE("an unknown key is refused with its line and the nearest one") {
  CHECK(complaint("[recorder]\n\nintervall = '1s'\n") ==
        "F:3: unknown key 'intervall' in [recorder]; did you mean 'interval'?");
  CHECK(complaint("[recordr]\n") == "F:1: unknown key 'recordr' at the top; did you mean 'recorder'?");
  CHECK(complaint("[[categori]]\nname = 'a'\n") == "F:1: unknown key 'categori' at the top; did you mean 'category'?");
  CHECK(complaint("[redaction]\nrules = 1\n") == "F:2: unknown key 'rules' in [redaction]; did you mean 'rule'?");
  CHECK(complaint("[[category]]\nname = 'a'\ncomand = 'b'\n") ==
        "F:3: unknown key 'comand' in [category]; did you mean 'command'?");
  CHECK(complaint("[store]\nx = 1\n") ==
        "F:2: unknown key 'x' in [store]; known keys are durability, raw, five_minutes, hours, "
        "days, max_size");
}

TEST_CASE("a bad value is refused with its line and the valid values") {
  CHECK(complaint("[recorder]\ninterval = 10\n") ==
        "F:2: interval in [recorder] must be a duration in quotes, such as \"10s\"");
  CHECK(complaint("[recorder]\ninterval = '99ms'\n") ==
        "F:2: interval in [recorder] is 99ms, but must be from 100ms to 1h");
  CHECK(complaint("[recorder]\ninterval = '61m'\n") ==
        "F:2: interval in [recorder] is 61m, but must be from 100ms to 1h");
  CHECK_THAT(complaint("[recorder]\ninterval = '10'\n"), test::ContainsSubstring("10s is seconds"));
  CHECK(complaint("[recorder]\nqueue_ticks = 0\n") ==
        "F:2: queue_ticks in [recorder] is 0, but must be from 1 to 100000");
  CHECK(complaint("[recorder]\nqueue_ticks = 1.0\n") == "F:2: queue_ticks in [recorder] must be a whole number");
  CHECK(complaint("[recorder]\nlog_level = 'warn'\n") ==
        "F:2: log_level in [recorder] must be one of debug, info, warning, error; did you mean 'warning'?");
  CHECK(complaint("[store]\ndurability = 'ful'\n") ==
        "F:2: durability in [store] must be one of full, normal; did you mean 'full'?");
  CHECK(complaint("[store]\nraw = 7\n") ==
        "F:2: raw in [store] must be a duration in quotes, such as \"7d\", or \"forever\"");
  CHECK(complaint("[store]\nraw = '30m'\n") == "F:2: raw in [store] is 30m, but must be from 1h to 10000d, or forever");
  // Coarser tiers are kept as long as finer ones, so that every part of the history has an answer.
  CHECK(
      complaint("[store]\nraw = '60d'\nfive_minutes = '7d'\n") ==
      "F:3: five_minutes in [store] is 7d, shorter than raw, which is 60d: coarser data must be kept at least as long");
  CHECK_THAT(complaint("[store]\nraw = '61d'\n"),
             Catch::Matchers::StartsWith("F:2: five_minutes in [store] is 60d, shorter than"));
  CHECK_THAT(complaint("[store]\nfive_minutes = 'forever'\n"), test::ContainsSubstring("hours in [store] is 400d"));
  CHECK_THAT(complaint("[store]\ndays = '399d'\n"), test::ContainsSubstring("days in [store] is 399d"));
  CHECK(parse_config("[store]\nraw = '60d'\nfive_minutes = '60d'\n", "F").ok());
  CHECK(parse_config("[store]\nraw = 'forever'\nfive_minutes = 'forever'\nhours = 'forever'\n", "F").ok());
  CHECK_THAT(complaint("[store]\nhours = '0d'\n"), test::ContainsSubstring("write forever to keep all"));
  CHECK_THAT(complaint("[store]\ndays = 'ever'\n"), test::ContainsSubstring("1.5m, 1h, or forever"));
  CHECK(complaint("[store]\nmax_size = '15MiB'\n") == "F:2: max_size in [store] is 15MiB, but must be at least 16MiB");
  CHECK(complaint("[store]\nmax_size = 2\n") == "F:2: max_size in [store] must be a size in quotes, such as \"2GiB\"");
  CHECK(complaint("[recorder]\ndb = ''\n") == "F:2: db in [recorder] must not be empty");
  CHECK(complaint("[redaction]\ndefaults = 'no'\n") == "F:2: defaults in [redaction] must be true or false");
  CHECK(complaint("recorder = 3\n") == "F:1: 'recorder' must be a table: [recorder]");
  CHECK(complaint("[category]\nname = 'a'\n") == "F:1: 'category' must be a list of tables: [[category]]");
  CHECK(complaint("category = [1]\n") == "F:1: 'category' must be a list of tables: [[category]]");
}

TEST_CASE("every bound is allowed, and values beyond it are refused") {
  struct Bound {
    const char* table;
    const char* key;
    const char* least;
    const char* below;
    const char* most;
    const char* above;
    const char* others = "";  // other keys in the same table
  };
  const std::vector<Bound> bounds = {
      {"recorder", "interval", "'100ms'", "'99ms'", "'1h'", "'3601s'"},
      {"recorder", "scan_interval", "'50ms'", "'49ms'", "'1h'", "'3601s'"},
      {"recorder", "read_deadline", "'1ms'", "'0ms'", "'10s'", "'10001ms'"},
      {"recorder", "queue_ticks", "1", "0", "100000", "100001"},
      {"recorder", "queue_mib", "1", "0", "4096", "4097"},
      {"recorder", "max_command_bytes", "64", "63", "131072", "131073"},
      // Finer tiers must not be kept longer than `days`, so they are set as well.
      {"store", "days", "'1h'", "'59m'", "'10000d'", "'10001d'", "raw = '1h'\nfive_minutes = '1h'\nhours = '1h'\n"},
      {"mappings", "interval", "'1s'", "'999ms'", "'1d'", "'25h'"},
      {"mappings", "processes", "1", "0", "80", "81"},
      {"mappings", "labels", "1", "0", "500", "501"},
      {"mappings", "budget", "'1ms'", "'0ms'", "'10m'", "'601s'"},
      {"tmpfs", "interval", "'1s'", "'999ms'", "'1d'", "'25h'"},
      {"leaks", "hour", "'10ms'", "'9ms'", "'1d'", "'25h'"},
  };
  for (const Bound& bound : bounds) {
    const auto with = [&](const char* value) {
      return std::string("[") + bound.table + "]\n" + bound.others + bound.key + " = " + value + "\n";
    };
    CAPTURE(bound.key);
    CHECK(parse_config(with(bound.least), "F"));
    CHECK(parse_config(with(bound.most), "F"));
    for (const char* value : {bound.below, bound.above}) {
      const auto refused = parse_config(with(value), "F");
      CAPTURE(value);
      REQUIRE_FALSE(refused);
      CHECK_THAT(refused.error().message, test::ContainsSubstring("must be from"));
    }
  }
}

TEST_CASE("an incomplete rule is refused at its line") {
  CHECK(complaint("\n[[category]]\ncommand = 'a'\n") == "F:2: a [[category]] needs a name");
  CHECK(complaint("[[category]]\nname = 'a'\n") ==
        "F:1: the category 'a' needs a pattern: command, exe, comm, user or cgroup");
  CHECK(complaint("[[redaction.rule]]\nnext = true\n") == "F:1: a [[redaction.rule]] needs a pattern");
}

TEST_CASE("invalid TOML is refused at its line") {
  CHECK_THAT(complaint("[recorder]\ninterval = \n"), Catch::Matchers::StartsWith("F:2: "));
  CHECK_THAT(complaint("[recorder]\n[recorder]\n"), Catch::Matchers::StartsWith("F:2: "));
  CHECK_THAT(complaint(std::string_view("\xff\xfe\0\0", 4)), Catch::Matchers::StartsWith("F:1: "));
  // toml++ requires a digit after the T.
  CHECK(complaint("[recorder]\ninterval = 1979-05-27T@07:32:00Z\n") ==
        "F:2: Error while parsing time: expected 2-digit hour, saw '@'");
}

TEST_CASE("a key with endless dots is refused without recursion") {
  std::string key = "recorder";
  for (int i = 0; i < 100'000; ++i) key += ".a";
  CHECK(complaint("\n" + key + " = 1\n") == "F:2: a key with too many dots");
  CHECK(complaint("[" + key + "]\n") == "F:1: a key with too many dots");
  CHECK(complaint("recorder = {\n" + key + " = 1 }\n") == "F:2: a key with too many dots");
  CHECK(complaint("recorder = { \"a = b\"." + key + " = 1 }\n") == "F:1: a key with too many dots");
  const std::string dots(100, '.');
  CHECK(parse_config("# " + dots + "\n[[category]]\nname = \"a\"\ncommand = \"" + dots + "\"\nexe = '" + dots + "'\n",
                     "F")
            .ok());
}

TEST_CASE("values of a file are shown as text, with any bytes") {
  for (const char* toml :
       {"\"\\u001b[2J\" = 1", "[recorder]\n\"\\u202e\" = 1", "[recorder]\ninterval = \"\\u001b[2J\"",
        "[recorder]\ninterval = \"0.1ms\\u001b[2J\"", "[store]\nmax_size = \"\\u0000\"",
        "[budget]\ncpu = \"\\u001b[2J\"", "[alert]\npressure = \"\\u001b[2J\"", "[alert]\nexec = [\"\\u001b[2J\"]",
        "[[category]]\nname = \"\\u001b[2J\"", "\x1b[2J = 1", "[recorder]\ninterval = \"\xc2\x9b\"\n"}) {
    CAPTURE(toml);
    const std::string said = complaint(toml);
    CHECK(to_printable(said) == said);
  }
}

TEST_CASE("a file is loaded, a missing one is not_found, an endless one an error") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/memoir.toml";
  CHECK(load_config(path).error().kind == ErrorKind::not_found);
  std::ofstream(path) << "[recorder]\ninterval = '3s'\n";
  CHECK(load_config(path)->interval == 3s);
  CHECK(load_config("/dev/zero").error().kind == ErrorKind::io);
}

TEST_CASE("all errors are reported, in the order of the file") {
  CHECK(complaint("[store]\nraw = 'x'\n[recorder]\nburstt = '1s'\ninterval = 3\n[alert]\nexec = ['mail']\n"
                  "[[category]]\nname = 'a'\n[[category]]\nname = 3\n") ==
        "F:2: raw in [store] cannot be read: " + parse_age("x").error().message +
            "\nF:4: unknown key 'burstt' in [recorder]; did you mean 'burst'?\nF:5: interval in [recorder] must be a "
            "duration in quotes, such as \"10s\"\nF:7: exec in [alert] starts with 'mail', but must start with the "
            "full path of a program: PATH is not searched\nF:8: the category 'a' needs a pattern: command, exe, comm, "
            "user or cgroup\nF:11: name in [category] must be text in quotes");
}

TEST_CASE("a program that cannot run is an error between the others, if it is checked") {
  const std::string toml = "[alert]\nexec = ['/bin/none', '-b']\n[exits]\nmin_peak = 'x'\n";
  const auto cannot_run = [](const std::string& path) { return Status(malformed("cannot run " + path)); };
  const std::string found = parse_config(toml, "F", cannot_run).error().message;
  CHECK(found.starts_with("F:2: exec in [alert]: cannot run /bin/none\nF:4: min_peak in [exits] "));
  CHECK(parse_config(toml, "F").error().message.starts_with("F:4: "));
  CHECK(parse_config("[alert]\nexec = []\n", "F", cannot_run));
  CHECK_FALSE(parse_config("[alert]\nexec = ['/bin/none']\n", "F", cannot_run));
}

TEST_CASE("alerts: a program and its arguments, and when it is run") {
  const auto config = parse_config(
      "[alert]\nexec = ['/bin/a', '-b']\npressure = '12.5%'\nleak = '3d'\nevery = '1h'\ntimeout = '5s'\n", "F");
  REQUIRE(config);
  CHECK(config->alert_exec == std::vector<std::string>{"/bin/a", "-b"});
  CHECK(config->alert_pressure_ppm == 125'000);
  CHECK(config->alert_leak == 72h);
  CHECK(config->alert_every == 1h);
  CHECK(config->alert_timeout == 5s);
  CHECK(parse_config("[alert]\npressure = 'off'\n", "F")->alert_pressure_ppm == 0);
  const auto levels = parse_config("[alert]\nlimit = '90%'\ntmpfs = 'off'\nswap = '100%'\nconfirmed = false\n", "F");
  REQUIRE(levels);
  CHECK(levels->alert_limit_ppm == 900'000);
  CHECK(levels->alert_tmpfs_ppm == 0);
  CHECK(levels->alert_swap_ppm == 1'000'000);
  CHECK_FALSE(levels->alert_confirmed);
  CHECK(config->alert_limit_ppm == 950'000);
  CHECK(parse_config("[alert]\nleak = 'off'\n", "F")->alert_leak == 0ms);
  CHECK(parse_config("[alert]\nexec = []\n", "F")->alert_exec.empty());
}

TEST_CASE("alerts: invalid and senseless values are refused with their line") {
  const std::string form = "must be a program and its arguments, such as [\"/usr/local/bin/alert\", \"--page\"], or []";
  CHECK(complaint("[alert]\nexec = '/bin/a'\n") == "F:2: exec in [alert] " + form);
  CHECK(complaint("[alert]\nexec = ['/bin/a', 1]\n") == "F:2: exec in [alert] " + form);
  CHECK(
      complaint("[alert]\n\nexec = ['mail', 'root']\n") ==
      "F:3: exec in [alert] starts with 'mail', but must start with the full path of a program: PATH is not searched");
  CHECK(complaint("[alert]\npressure = 'unlimited'\n") ==
        "F:2: pressure in [alert] is 'unlimited', but must be a percentage, such as \"20%\", or \"off\"");
  CHECK(complaint("[alert]\npressure = '0.01%'\n") == "F:2: pressure in [alert] is 0.01%, but must be at least 0.1%");
  CHECK(complaint("[alert]\npressure = 20\n") ==
        "F:2: pressure in [alert] must be a part of the time in quotes, such as \"20%\", or \"off\"");
  CHECK(complaint("[alert]\nlimit = '0.5%'\n") == "F:2: limit in [alert] is 0.5%, but must be at least 1%");
  CHECK(complaint("[alert]\ntmpfs = 90\n") ==
        "F:2: tmpfs in [alert] must be a part of the mount in quotes, such as \"20%\", or \"off\"");
  CHECK(complaint("[alert]\nevery = '1ms'\n") == "F:2: every in [alert] is 1ms, but must be from 1s to 7d");
  CHECK(complaint("[alert]\nexce = []\n") == "F:2: unknown key 'exce' in [alert]; did you mean 'exec'?");
}
