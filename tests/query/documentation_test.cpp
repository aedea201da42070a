// --help, the man page and each completion have every command and option.

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "query/args/filter.h"
#include "query/ask.h"
#include "query/commands.h"
#include "query/commands/completion/completion.h"
#include "query/help.h"
#include "support/catch.h"
#include "support/markdown_table.h"
#include "support/slurp.h"

namespace documentation_test {

using namespace memoir::query;
using memoir::test::has;
using memoir::test::table_of;

namespace {

std::string read(const std::string& name) {
  std::string text = memoir::test::slurp(std::string(MEMOIR_SOURCE) + "/" + name);
  REQUIRE_FALSE(text.empty());
  return text;
}

// Returns the man page, in which real hyphens are written \-.
std::string man_page() {
  std::string text = read("man/memoir.1");
  for (std::size_t at = text.find("\\-"); at != std::string::npos; at = text.find("\\-", at)) text.erase(at, 1);
  return text;
}

// Returns the texts between pairs of a mark, each with the text up to the next pair.
std::vector<std::pair<std::string, std::string>> between(const std::string& text, char mark) {
  std::vector<std::pair<std::string, std::string>> found;
  for (std::size_t at = text.find(mark); at != std::string::npos;) {
    const std::size_t end = text.find(mark, at + 1);
    REQUIRE(end != std::string::npos);
    const std::size_t next = text.find(mark, end + 1);
    found.emplace_back(text.substr(at + 1, end - at - 1), text.substr(end + 1, next - end - 1));
    at = next;
  }
  return found;
}

// Returns the number of test files that the cell names; checks that each exists and has the named cases.
int check_tests(const std::string& cell) {
  int files = 0;
  for (const auto& [name, after] : between(cell, '`')) {
    if (!name.starts_with("tests/")) continue;
    ++files;
    const std::string source = read(name);
    for (const auto& quoted : between(after, '"')) {
      CAPTURE(name, quoted.first);
      CHECK(has(source, '"' + quoted.first + '"'));
    }
  }
  return files;
}

// Returns whether a line in bold has the word.
bool is_bold(const std::string& man, std::string_view word) {
  std::istringstream in(man);
  const auto ends = [](const std::string& line, std::size_t at) {
    return at >= line.size() || std::string_view(" \"\\,;=").find(line[at]) != std::string_view::npos;
  };
  for (std::string line; std::getline(in, line);) {
    const std::size_t at = line.find(word);
    if (at == std::string::npos || !(line.starts_with(".B") || line.starts_with(".RB"))) continue;
    if ((line[at - 1] == ' ' || line[at - 1] == '"') && ends(line, at + word.size())) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("Every quantity that a user controls has a bound, and every bound and defence has a test") {
  const std::string page = read("docs/security.md");
  for (const auto& row : table_of(page, "Bounds on what a user controls")) {
    CAPTURE(row.front());
    REQUIRE(row.size() == 5);
    CHECK(std::any_of(row.begin() + 1, row.begin() + 4, [](const std::string& bound) { return bound.size() > 3; }));
    CHECK(check_tests(row.back()) > 0);
  }
  for (const auto& row : table_of(page, "Attacks")) {
    CAPTURE(row.front());
    REQUIRE(row.size() == 3);
    CHECK(check_tests(row.back()) > 0);
  }
}

TEST_CASE("Every command is documented, with two examples") {
  const std::string man = man_page();
  for (const Command& command : commands()) {
    CAPTURE(command.name);
    if (command.full_name.empty()) CHECK(has(help(), command.name));
    CHECK(command.examples.size() >= 2);
    for (const Example& example : command.examples) CHECK(has(help(command), example.line));
    CHECK(has(man, ".SS " + (command.full_name.empty() ? command.name : command.full_name)));
  }
}

TEST_CASE("Every option and choice is documented") {
  const std::string man = man_page();
  for (const OptionText& option : option_texts()) {
    CAPTURE(option.name);
    CHECK(is_bold(man, option.name));
  }
  for (const std::string& key : filter_keys()) {
    CAPTURE(key);
    CHECK(is_bold(man, key));
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

TEST_CASE("Each installed shell can read its completion") {
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
