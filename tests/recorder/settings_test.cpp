#include "recorder/settings.h"

#include <filesystem>
#include <fstream>
#include <sys/stat.h>

#include "support/catch.h"
#include "support/temporary_directory.h"

using namespace memoir;
using namespace std::chrono_literals;

namespace {

RecorderOptions with_config(const std::string& path) {
  RecorderOptions options;
  options.config = path;
  return options;
}

}  // namespace

TEST_CASE("the command line overrides the file") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/memoir.toml";
  std::ofstream(path) << "[recorder]\ndb = '/a.db'\ninterval = '3s'\n";
  RecorderOptions options = with_config(path);
  CHECK(load_settings(options)->config.db == "/a.db");
  CHECK(load_settings(options)->config.interval == 3s);
  options.db = "/b.db";
  options.interval = 5s;
  CHECK(load_settings(options)->config.db == "/b.db");
  CHECK(load_settings(options)->config.interval == 5s);
}

TEST_CASE("a missing file is an error only if it is named on the command line") {
  const test::TemporaryDirectory directory;
  const auto named = load_settings(with_config(directory.path() + "/none.toml"));
  REQUIRE_FALSE(named);
  CHECK_THAT(named.error().message, test::ContainsSubstring("none.toml"));
}

TEST_CASE("own categories come before the built-in ones") {
  Config config;
  config.categories = {{"mine", "shop", "", "", "", ""}};
  const std::size_t built_in = default_category_rules().size();
  REQUIRE(built_in > 0);
  CHECK(spelled_out(config).categories.size() == built_in + 1);
  CHECK(spelled_out(config).categories.front().name == "mine");
  CHECK(spelled_out(spelled_out(config)) == spelled_out(config));

  Settings settings;
  settings.config = config;
  ProcessInfo shop;
  shop.command = "/usr/sbin/nginx shop";
  shop.comm = "nginx";
  shop.exe = "/usr/sbin/nginx";
  CHECK(make_rules(settings)->categoriser.category(shop) == "mine");
  settings.config.default_categories = false;
  shop.command = "/usr/sbin/nginx";
  CHECK(make_rules(settings)->categoriser.category(shop) == kOtherCategory);
}

TEST_CASE("a rule that cannot be used is an error that names its file") {
  Settings settings;
  settings.config_path = "/etc/memoir/memoir.toml";
  settings.config.categories = {{"bad", "(", "", "", "", "", 7}};
  const auto bad_category = make_rules(settings);
  REQUIRE_FALSE(bad_category);
  CHECK_THAT(bad_category.error().message,
             Catch::Matchers::StartsWith("/etc/memoir/memoir.toml:") && test::ContainsSubstring("7"));
  settings.config.categories.clear();
  settings.config.redaction.rules = {{"(", "", false, "", 9}};
  const auto bad_redaction = make_rules(settings);
  REQUIRE_FALSE(bad_redaction);
  CHECK_THAT(bad_redaction.error().message,
             Catch::Matchers::StartsWith("/etc/memoir/memoir.toml:") && test::ContainsSubstring("9"));
}

TEST_CASE("rules are read wherever they are in the file") {
  Config a;
  a.categories = {{"mine", "shop", "", "", "", "", 3}};
  Config b = a;
  b.categories[0].line = 30;
  b.interval = 1s;
  CHECK(same_rules(a, b));
  b.categories[0].command = "shops";
  CHECK_FALSE(same_rules(a, b));
  b = a;
  b.redaction.drop_arguments = true;
  CHECK_FALSE(same_rules(a, b));
}

TEST_CASE("the folder of the default database is created, any other must exist") {
  const test::TemporaryDirectory directory;
  Config config;
  config.db = directory.path() + "/none/memoir.db";
  const Status refused = prepare_folder(config);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().message,
             test::ContainsSubstring(directory.path() + "/none") && test::ContainsSubstring("does not exist"));
  setenv("STATE_DIRECTORY", (directory.path() + "/state/memoir").c_str(), 1);
  config.db = default_database_path();
  CHECK(prepare_folder(config));
  CHECK(std::filesystem::is_directory(directory.path() + "/state/memoir"));
  unsetenv("STATE_DIRECTORY");
  CHECK(prepare_folder(config));
}
