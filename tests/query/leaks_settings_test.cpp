// The length of the analysis' hour comes from an option or from a configuration.

#include <fstream>

#include "query/commands/leaks/leaks.h"
#include "support/catch.h"
#include "support/temporary_directory.h"

namespace leaks_settings_test {

using namespace memoir;
using namespace memoir::query;

namespace {

std::string put(const std::string& folder, std::string_view text) {
  const std::string path = folder + "/memoir.toml";
  std::ofstream(path) << text;
  return path;
}

std::int64_t hour_of(const Options& options) {
  std::vector<std::string> warnings;
  const auto settings = leak_settings(options, warnings);
  REQUIRE(settings);
  CHECK(warnings.empty());
  return settings->hour_ms;
}

}  // namespace

TEST_CASE("leaks: the hour is that of --hour, otherwise of the given configuration") {
  const test::TemporaryDirectory folder;
  Options options;
  options.config = put(folder.path(), "[leaks]\nhour = '90s'\n");
  CHECK(hour_of(options) == 90'000);
  options.hour = "250ms";
  CHECK(hour_of(options) == 250);
  options.hour.reset();
  options.config = put(folder.path(), "[recorder]\ninterval = '1s'\n");
  CHECK(hour_of(options) == 3'600'000);
}

TEST_CASE("leaks: the error for an invalid hour names the option or the file") {
  const test::TemporaryDirectory folder;
  std::vector<std::string> warnings;
  const auto error_of = [&](const Options& options) {
    const auto settings = leak_settings(options, warnings);
    REQUIRE_FALSE(settings);
    return settings.error().message;
  };
  Options options;
  options.config = put(folder.path(), "[leaks]\nhour = '9ms'\n");
  CHECK(error_of(options) == *options.config + ":2: hour in [leaks] is 9ms, but must be from 10ms to 1d");
  options.config = folder.path() + "/none.toml";
  CHECK(error_of(options).find(*options.config) != std::string::npos);
  options.hour = "soon";
  CHECK(error_of(options).find("--hour: ") == 0);
  options.hour = "1ms";
  CHECK(error_of(options) == "--hour: must be at least 10 ms");
}

}  // namespace leaks_settings_test
