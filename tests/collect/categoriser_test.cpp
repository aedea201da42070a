#include "collect/category/categoriser.h"

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "collect/category/samples.h"
#include "support/catch.h"

using namespace memoir;

namespace {

Categoriser make(const std::vector<CategoryRule>& rules) {
  auto made = Categoriser::make(rules);
  if (!made) FAIL(made.error().message);
  return *std::move(made);
}

ProcessInfo info_of(const std::string& command) {
  ProcessInfo info;
  info.command = command;
  return info;
}

CategoryRule rule(const char* name, const char* command, std::size_t line) {
  CategoryRule made;
  made.name = name;
  made.command = command;
  made.line = line;
  return made;
}

std::string error_of(const std::vector<CategoryRule>& rules) {
  const auto made = Categoriser::make(rules);
  return made ? "" : made.error().message;
}

// The rules of the example file. Parses only the lines name = "…" and command = '''…'''.
std::vector<CategoryRule> chromeos_rules() {
  std::ifstream file(MEMOIR_EXAMPLES "/chromeos.toml");
  REQUIRE(file.good());
  std::vector<CategoryRule> rules;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    if (line == "[[category]]") {
      rules.emplace_back();
      rules.back().line = number;
    } else if (line.starts_with("name = \"")) {
      rules.back().name = line.substr(8, line.size() - 9);
    } else if (line.starts_with("command = '''")) {
      rules.back().command = line.substr(13, line.size() - 16);
    }
  }
  return rules;
}

}  // namespace

TEST_CASE("the default rules classify each sample correctly") {
  const Categoriser categoriser = make(default_category_rules());
  for (const CategorySampleLine& sample : category_samples()) {
    ProcessInfo info = info_of(std::string(sample.command));
    info.comm = sample.comm;
    info.exe = sample.exe;
    CAPTURE(info.command);
    CHECK(categoriser.category(info) == sample.category);
  }
}

TEST_CASE("no default rule is hidden by another") {
  auto rules = default_category_rules();
  for (std::size_t i = 0; i < rules.size(); ++i) rules[i].line = i + 1;
  CHECK(error_of(rules).empty());
}

TEST_CASE("the first rule that matches wins, and other is last") {
  const Categoriser categoriser = make({rule("a", "^app web", 1), rule("b", "^app", 2), rule("c", "web", 3)});
  CHECK(categoriser.category(info_of("app web")) == "a");
  CHECK(categoriser.category(info_of("app db")) == "b");
  CHECK(categoriser.category(info_of("the web")) == "c");
  CHECK(categoriser.category(info_of("none")) == "other");
  CHECK(make({}).category(info_of("anything")) == "other");
}

TEST_CASE("all patterns of a rule must match") {
  CategoryRule both = rule("both", "^app", 1);
  both.user = "^web$";
  both.cgroup = "nginx";
  both.exe = "^/usr/";
  both.comm = "^a";
  CategoryRule user;
  user.name = "user";
  user.user = "^web$";
  user.line = 2;
  const Categoriser categoriser = make({both, user});
  ProcessInfo info = info_of("app");
  info.user = "web";
  CHECK(categoriser.category(info) == "user");
  info.cgroup = "/system.slice/nginx.service";
  info.exe = "/usr/bin/app";
  info.comm = "app";
  CHECK(categoriser.category(info) == "both");
  info.user = "root";
  CHECK(categoriser.category(info) == "other");
}

TEST_CASE("a rule that cannot work is refused with its line") {
  CHECK(error_of({rule("a", "(", 7)}).find("line 7") != std::string::npos);
  CHECK(error_of({rule("a", "", 8)}).find("line 8") != std::string::npos);
  CategoryRule comm;
  comm.name = "a";
  comm.comm = "[";
  comm.line = 9;
  CHECK(error_of({comm}).find("line 9") != std::string::npos);
}

TEST_CASE("a rule that can never match is refused with its line and the line of the rule that hides it") {
  const std::string hidden = error_of({rule("all", ".*", 3), rule("db", "postgres", 9)});
  CHECK(hidden.find("line 9") != std::string::npos);
  CHECK(hidden.find("line 3") != std::string::npos);
  CHECK(error_of({rule("a", "^mine$", 3), rule("b", "^mine$", 6)}).find("line 6") != std::string::npos);
  // A field that all samples lack may have any value.
  CHECK(error_of({rule("a", "^mine", 3), rule("b", "^mine too", 6)}).empty());
  // The samples do not cover the earlier rule's condition, so the rule hides nothing.
  CategoryRule narrow = rule("narrow", "postgres", 3);
  narrow.user = "^postgres$";
  CHECK(error_of({narrow, rule("db", "postgres", 9)}).empty());
}

TEST_CASE("a user's rule may hide a built-in one") {
  std::vector<CategoryRule> rules = {rule("mine", "nginx|apache2|httpd|caddy|lighttpd", 3)};
  const auto defaults = default_category_rules();
  rules.insert(rules.end(), defaults.begin(), defaults.end());
  CHECK(error_of(rules).empty());
}

TEST_CASE("the ChromeOS example is a list of rules in the right order") {
  const auto rules = chromeos_rules();
  REQUIRE(rules.size() == 6);
  const Categoriser categoriser = make(rules);
  const auto category = [&](const char* command) { return categoriser.category(info_of(command)); };
  CHECK(category("/usr/bin/crosvm run --cpus 8 --socket /run/vm/vm.1/arcvm.sock") == "crosvm_arcvm");
  CHECK(category("/usr/bin/crosvm run --syslog-tag /arcvm_sock --x") == "crosvm_arcvm");
  CHECK(category("/usr/bin/crosvm run --fstab /run/arcvm/fstab") == "crosvm_other");
  CHECK(category("/usr/bin/crosvm device block /arcvm.sock") == "crosvm_other");
  CHECK(category("/usr/bin/crosvm-helper") == "crosvm_other");
  CHECK(category("/opt/google/chrome/chrome --type=renderer --x") == "chrome_renderer");
  CHECK(category("/opt/google/chrome/chrome --type=renderer-like") == "chrome_renderer");
  CHECK(category("/opt/google/chrome/chrome --type=gpu-process") == "chrome_gpu");
  CHECK(category("/opt/google/chrome/chrome --type=utility") == "chrome_other");
  CHECK(category("/opt/google/chrome/chrome --x") == "chrome_browser");
  CHECK(category("/opt/google/chrome/chrome_crashpad_handler --monitor-self") == "chrome_browser");
  CHECK(category("/usr/local/bin/crosvm run --socket /arcvm.sock") == "other");
  CHECK(category("/sbin/init") == "other");
}

TEST_CASE("hostile command lines are classified too") {
  const Categoriser categoriser = make(default_category_rules());
  CHECK(categoriser.category(info_of(std::string(131072, 'a'))) == "other");
  CHECK(categoriser.category(info_of("java " + std::string(100000, '.') + " kafka.Kafka")) == "messaging");
  std::string slashes;
  for (int i = 0; i < 60000; ++i) slashes += "/j";
  CHECK(categoriser.category(info_of(slashes)) == "other");
  CHECK(categoriser.category(info_of("a\nb\x1b[31m")) == "other");
}

TEST_CASE("hundreds of rules need only one pass over a command line") {
  std::vector<CategoryRule> rules;
  for (std::size_t i = 1; i <= 500; ++i) {
    rules.push_back(rule("many", "", i));
    rules.back().command =
        "^(?:\\S*/)?(?:service-number-" + std::to_string(i) + "|daemon" + std::to_string(i) + ")( |$)";
  }
  rules.push_back(rule("last", "^last", 501));
  const Categoriser categoriser = make(rules);
  CHECK(categoriser.category(info_of("/usr/bin/daemon77 -x")) == "many");
  CHECK(categoriser.category(info_of("last")) == "last");
  CHECK(categoriser.category(info_of("daemon501")) == "other");
}
