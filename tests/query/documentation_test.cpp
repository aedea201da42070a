// Every command and option is in --help, in the man page and in each completion.

#include <fstream>
#include <sstream>

#include "query/commands.h"
#include "query/filter.h"
#include "query/help.h"
#include "support/catch.h"

using namespace memoir::query;

namespace {

std::string read(const std::string& name) {
  std::ifstream in(std::string(MEMOIR_SOURCE) + "/" + name);
  REQUIRE(in.good());
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// In the man page a hyphen that is one is written \-.
std::string man_page() {
  std::string text = read("man/memoir.1");
  for (std::size_t at = text.find("\\-"); at != std::string::npos; at = text.find("\\-", at)) text.erase(at, 1);
  return text;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
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
    for (const char* shell : {"completions/memoir.bash", "completions/_memoir", "completions/memoir.fish"}) {
      CAPTURE(shell);
      CHECK(has(read(shell), command.name));
    }
  }
}

TEST_CASE("Every option and choice is documented") {
  const std::string man = man_page();
  for (const OptionText& option : option_texts()) {
    CAPTURE(option.name);
    CHECK(has(help(), option.name));
    CHECK(has(man, (option.value.empty() ? ".B " : ".BI ") + std::string(option.name)));
    CHECK(has(read("completions/memoir.bash"), option.name));
    CHECK(has(read("completions/_memoir"), option.name));
    CHECK(has(read("completions/memoir.fish"), "-l " + std::string(option.name.substr(2))));
  }
  for (const std::string& key : filter_keys()) {
    CAPTURE(key);
    CHECK(has(man, ".B " + key));
    CHECK(has(read("completions/memoir.bash"), key + "="));
  }
  for (const Command& command : commands()) {
    CAPTURE(command.name);
    for (const Option option : options_of(command)) CHECK(has(help(command), option_text(option).name));
    for (const auto* choices : {&command.by, &command.groups}) {
      for (const std::string& choice : *choices) {
        CAPTURE(choice);
        CHECK(has(man, choice));
        for (const char* shell : {"completions/memoir.bash", "completions/_memoir", "completions/memoir.fish"}) {
          CAPTURE(shell);
          CHECK(has(read(shell), choice));
        }
      }
    }
  }
}
