// Every command and option is in --help, in the man page and in each completion.

#include <cstdlib>

#include "query/args/filter.h"
#include "query/ask.h"
#include "query/commands.h"
#include "query/commands/completion/completion.h"
#include "query/help.h"
#include "support/catch.h"
#include "support/slurp.h"

namespace documentation_test {

using namespace memoir::query;
using memoir::test::has;

namespace {

std::string read(const std::string& name) {
  std::string text = memoir::test::slurp(std::string(MEMOIR_SOURCE) + "/" + name);
  REQUIRE_FALSE(text.empty());
  return text;
}

// In the man page a hyphen that is one is written \-.
std::string man_page() {
  std::string text = read("man/memoir.1");
  for (std::size_t at = text.find("\\-"); at != std::string::npos; at = text.find("\\-", at)) text.erase(at, 1);
  return text;
}

}  // namespace

TEST_CASE("Every command is documented, with two examples") {
  const std::string man = man_page();
  for (const Command& command : commands()) {
    CAPTURE(command.name);
    CHECK(has(help(), "  " + command.name + " "));
    CHECK(command.examples.size() >= 2);
    for (const Example& example : command.examples) CHECK(has(help(command), example.line));
    CHECK(has(man, ".SS " + command.name));
  }
}

TEST_CASE("Every option and choice is documented") {
  const std::string man = man_page();
  for (const OptionText& option : option_texts()) {
    CAPTURE(option.name);
    CHECK(has(help(), option.name));
    CHECK(has(man, (option.value.empty() ? ".B " : ".BI ") + std::string(option.name)));
  }
  for (const std::string& key : filter_keys()) {
    CAPTURE(key);
    CHECK(has(man, ".B " + key));
  }
  for (const Command& command : commands()) {
    CAPTURE(command.name);
    for (const Option option : options_of(command)) CHECK(has(help(command), option_text(option).name));
    for (const auto* choices : {&command.by, &command.groups, &command.formats}) {
      for (const std::string& choice : *choices) {
        CAPTURE(choice);
        CHECK(has(man, choice));
      }
    }
  }
}

TEST_CASE("Each completion has every command, option and choice") {
  for (const char* file : {"memoir.bash", "_memoir", "memoir.fish"}) {
    CAPTURE(file);
    const std::string text = memoir::test::slurp(std::string(MEMOIR_COMPLETIONS "/") + file);
    for (const Command& command : commands()) {
      CHECK(has(text, command.name));
      for (const Option option : options_of(command)) {
        CHECK(has(text, option_text(option).name.substr(2)));
        for (const std::string& word : words_for(option, command)) CHECK(has(text, word));
      }
    }
  }
}

TEST_CASE("Each shell can read its completion, where it is installed") {
  for (const char* command : {"bash -n " MEMOIR_COMPLETIONS "/memoir.bash", "zsh -n " MEMOIR_COMPLETIONS "/_memoir",
                              "fish --no-execute " MEMOIR_COMPLETIONS "/memoir.fish"}) {
    CAPTURE(command);
    const std::string shell(command, std::string_view(command).find(' '));
    if (std::system(("command -v " + shell + " >/dev/null").c_str()) != 0) {
      WARN("skipped: " << shell << " is not installed");
      continue;
    }
    CHECK(std::system(command) == 0);
  }
}

}  // namespace documentation_test
