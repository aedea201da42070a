#include "config/config.h"

#include "fuzz/require.h"
#include "fuzz/targets.h"

namespace memoir::fuzz {
namespace {

// Removes the lines of rules, which the printed form does not contain.
Config without_lines(Config config) {
  for (CategoryRule& rule : config.categories) rule.line = 0;
  for (RedactionRule& rule : config.redaction.rules) rule.line = 0;
  return config;
}

}  // namespace

void config(std::string_view text) {
  const auto read = parse_config(text, "file");
  if (!read) {
    require_shown(read.error());
    return require(read.error().message.starts_with("file:"), "an error names the file");
  }
  const auto again = parse_config(format_config(*read), "printed");
  require(again.ok(), "the printed form can be read");
  require(without_lines(*again) == without_lines(*read), "the printed form is the same configuration");
}

}  // namespace memoir::fuzz
