
#include "base/text.h"
#include "config/config.h"
#include "support/catch.h"
#include "support/slurp.h"

using namespace memoir;

namespace {

// Returns the shipped file with its settings enabled. Settings are commented out as `#key`, prose and examples as
// `# text`.
std::string uncommented() {
  const std::string text = test::slurp(MEMOIR_SOURCE "/systemd/memoir.toml");
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view line = cut_line(rest);
    if (line.size() > 1 && line[0] == '#' && line[1] != ' ') line.remove_prefix(1);
    out.append(line).append("\n");
  }
  return out;
}

// The same with the examples enabled too.
std::string with_examples() {
  std::string out = uncommented();
  for (std::size_t at = 0; (at = out.find("\n#   ", at)) != std::string::npos;) out.erase(at + 1, 4);
  return out;
}

}  // namespace

TEST_CASE("the shipped file with its settings enabled gives the defaults") {
  Config defaults;
  defaults.db = "/var/lib/memoir/memoir.db";
  const auto parsed = parse_config(uncommented(), "memoir.toml");
  if (!parsed) FAIL(parsed.error().message);
  CHECK(*parsed == defaults);
}

TEST_CASE("the shipped file, unchanged, gives the defaults") {
  CHECK(*load_config(MEMOIR_SOURCE "/systemd/memoir.toml") == *parse_config("", "F"));
}

TEST_CASE("every key is in the shipped file and in memoir.toml(5)") {
  const std::string shipped = "\n" + with_examples();
  const std::string manual = test::slurp(MEMOIR_SOURCE "/man/memoir.toml.5");
  for (const std::string& full : config_keys()) {
    INFO("key: " << full);
    const std::string table = full.substr(0, full.rfind('.'));
    const std::string key = full.substr(full.rfind('.') + 1);
    CHECK((shipped.find("\n[" + table + "]") != std::string::npos ||
           shipped.find("\n[[" + table + "]]") != std::string::npos));
    const bool in_prose = shipped.find("\n#   " + key + " ") != std::string::npos;
    CHECK((shipped.find("\n" + key + " = ") != std::string::npos || in_prose ||
           shipped.find("\n" + key + "  ") != std::string::npos));
    CHECK(manual.find("[" + table + "]") != std::string::npos);
    CHECK(manual.find("\n.BR " + key + " ") != std::string::npos);
  }
}
