#include "query/command_line.h"

#include "query/ask.h"
#include "query/commands.h"
#include "query/help.h"
#include "support/catch.h"

namespace command_line_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::has;

namespace {

using Words = std::vector<std::string>;

Invocation parse(const Words& words) {
  auto invocation = parse_command_line(words);
  INFO((invocation.ok() ? "" : invocation.error().message));
  REQUIRE(invocation.ok());
  return *invocation;
}

std::string refusal(const Words& words) {
  const auto invocation = parse_command_line(words);
  REQUIRE_FALSE(invocation.ok());
  CHECK(invocation.error().kind == ErrorKind::malformed);
  return invocation.error().message;
}

}  // namespace

TEST_CASE("A command and its options") {
  const Invocation top = parse({"top", "--at", "-2h", "--db=x.db", "--by", "rss", "--limit", "0", "--format", "json",
                                "--units", "kib", "--utc", "--no-color", "--group", "user"});
  REQUIRE(top.command != nullptr);
  CHECK(top.command->name == "top");
  CHECK(top.options.at == "-2h");
  CHECK(top.options.db == "x.db");
  CHECK(top.options.by == "rss");
  CHECK(top.options.group == "user");
  CHECK(top.options.limit == 0);
  CHECK(top.options.format == Format::json);
  CHECK(top.options.units == Units::kib);
  CHECK(top.options.zone == Zone::utc);
  CHECK(top.options.no_color);
}

TEST_CASE("Options may come before the command, and their values are not taken for one") {
  const Invocation top = parse({"--db", "status", "top", "--filter", "category=web", "--filter", "user=root"});
  CHECK(top.command->name == "top");
  CHECK(top.options.db == "status");
  CHECK(top.options.filters == Words{"category=web", "user=root"});
  CHECK(parse({}).command->name == kDefaultCommand);
  CHECK(parse({"--utc"}).command->name == kDefaultCommand);
}

TEST_CASE("What is not known names the nearest") {
  CHECK(has(refusal({"tpo"}), "did you mean 'top'"));
  CHECK(has(refusal({"frobnicate"}), "processes"));
  CHECK(has(refusal({"top", "--formta", "json"}), "did you mean '--format'"));
  CHECK(has(refusal({"top", "--format", "jsno"}), "did you mean 'json'"));
  CHECK(has(refusal({"top", "--by", "ps"}), "did you mean 'pss'"));
  CHECK(has(refusal({"top", "--group", "host"}),
            "process, identity, command, category, user, cgroup, unit, slice, comm, container"));
  CHECK(has(refusal({"categories", "--group", "user"}), "does not take --group"));
  CHECK(has(refusal({"top", "812"}), "does not take the argument '812'"));
  CHECK(has(refusal({"top", "--limit", "-1"}), "--limit"));
  CHECK(has(refusal({"top", "--limit", "ten"}), "--limit"));
  CHECK(refusal({"top", "--at"}) == "--at needs a value");
  CHECK(refusal({"top", "--limit", "1", "--limit", "2"}) == "--limit can be given only once");
  CHECK_FALSE(has(refusal({"\x1b[2J"}), "\x1b"));
  CHECK_FALSE(has(refusal({"top", "--\x1b[2J"}), "\x1b"));
  CHECK_FALSE(has(refusal({"top", "--utc=\x1b[2J"}), "\x1b"));
}

TEST_CASE("What other programs call the same is understood") {
  const Invocation top = parse({"top", "--since", "-2h", "--until=-1h", "-n", "5", "--sort", "rss", "--json"});
  CHECK(top.options.from == "-2h");
  CHECK(top.options.to == "-1h");
  CHECK(top.options.limit == 5);
  CHECK(top.options.by == "rss");
  CHECK(top.options.format == Format::json);
  CHECK(parse({"-n", "3", "top"}).command->name == "top");
  CHECK(parse({"top", "-n7"}).options.limit == 7);
  CHECK(parse({"top", "-n=7"}).options.limit == 7);
  CHECK(parse({"--csv", "top"}).command->name == "top");
  for (const Words& words : {Words{"--csv", "top"}, Words{"top", "--csv", "--by", "rss"}, Words{"--csv"}})
    CHECK(parse(words).options.format == Format::csv);
  CHECK(parse({"top", "--units", "gib"}).options.units == Units::gib);
  CHECK(parse({"backup", "-o", "x"}).options.output == "x");
  CHECK(parse({"backup", "-ox"}).options.output == "x");
  CHECK(parse({"-V"}).version);
  CHECK(parse({"top", "-V"}).version);
  CHECK(parse({"top", "-h"}).help);
  // A value is a value, however it looks.
  CHECK(parse({"top", "--filter", "comm=-n"}).options.filters == Words{"comm=-n"});
  CHECK(parse({"leaks", "--csv", "x.csv", "--json"}).options.csv == Words{"x.csv"});
  CHECK(has(refusal({"leaks", "--csv"}), "--format csv"));
  CHECK(has(refusal({"status", "--since", "-2h"}), "'status' does not take --from"));
}

TEST_CASE("What was given too much is said, and each refusal names its option or its command") {
  CHECK(refusal({"diff", "a", "b", "c"}) == "'diff' takes 2 arguments at most ([T1 [T2]]): 'c' is too much");
  CHECK(refusal({"trend", "1", "2", "3", "4", "5", "6", "7", "8", "9", "x y"}) ==
        "'trend' takes 8 arguments at most ([SUBJECT...]): '9', 'x y' are too much");
  for (const Words& words : {Words{"top", "--by", "x"}, Words{"top", "--group", "x"}, Words{"top", "--tier", "x"},
                             Words{"top", "--filter", "x"}, Words{"top", "--filter", "rss>x"},
                             Words{"top", "--limit", "x"}, Words{"top", "--format", "x"}, Words{"top", "--units", "x"},
                             Words{"top", "--at"}, Words{"top", "--utc=x"}, Words{"top", "--nonsense"}}) {
    CAPTURE(words);
    CHECK(has(refusal(words), words[1].substr(0, words[1].find('='))));
  }
}

TEST_CASE("Help and version win over everything else on the line") {
  CHECK(parse({"--help"}).help);
  CHECK(parse({"--help"}).command == nullptr);
  CHECK(parse({"--version"}).version);
  CHECK(parse({"top", "--help", "--nonsense"}).help);
  CHECK(parse({"top", "--help"}).command->name == "top");
  CHECK(parse({"help", "top"}).command->name == "top");
  CHECK(parse({"top", "--version"}).version);
}

TEST_CASE("Help fits 80 columns") {
  std::vector<std::string> texts{help()};
  for (const Command& command : commands()) texts.push_back(help(command));
  for (const std::string& text : texts) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
      CAPTURE(line);
      CHECK(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }) <= 80);
    }
  }
}

TEST_CASE("Lines of help are filled") {
  const std::string text = help();
  std::istringstream in(text.substr(text.find("Exit status: ")));
  std::string line;
  REQUIRE(std::getline(in, line));
  int lines = 1;
  for (std::string next; std::getline(in, next); line = next, ++lines)
    CHECK(line.size() + 1 + std::min(next.find(' '), next.size()) > 80);
  CHECK(lines > 1);
}

TEST_CASE("An empty value is said to be one, and swallows nothing") {
  for (const Words& words : {Words{"top", "--db=", "--utc"}, Words{"top", "--limit=", "--by", "rss"},
                             Words{"--db=", "top"}, Words{"top", "--db", ""}, Words{"top", "--filter="}}) {
    CAPTURE(words);
    CHECK(has(refusal(words), "needs a value"));
  }
}

}  // namespace command_line_test
