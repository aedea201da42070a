#include "query/command_line.h"

#include "query/args/meant.h"
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
  CHECK(top.options.color == Color::never);
}

TEST_CASE("Options may come before the command, and their values are not mistaken for it") {
  const Invocation top = parse({"--db", "status", "top", "--filter", "category=web", "--filter", "user=root"});
  CHECK(top.command->name == "top");
  CHECK(top.options.db == "status");
  CHECK(top.options.filters == Words{"category=web", "user=root"});
  CHECK(parse({}).command->name == kDefaultCommand);
  CHECK(parse({"--utc"}).command->name == kDefaultCommand);
}

TEST_CASE("The error for an unknown word names the nearest known one") {
  CHECK(has(refusal({"tpo"}), "did you mean 'top'"));
  CHECK(has(refusal({"frobnicate"}), "memoir top frobnicate"));
  CHECK(has(refusal({"top", "--formta", "json"}), "did you mean '--format'"));
  CHECK(has(refusal({"top", "--format", "jsno"}), "did you mean 'json'"));
  CHECK(has(refusal({"top", "--by", "ps"}), "did you mean 'pss'"));
  CHECK(has(refusal({"top", "--group", "host"}),
            "process, identity, command, category, user, cgroup, unit, slice, comm, container"));
  CHECK(has(refusal({"categories", "--group", "user"}), "does not take --group"));
  CHECK(has(refusal({"status", "812"}), "does not take the argument '812'"));
  CHECK(has(refusal({"top", "--limit", "-1"}), "--limit"));
  CHECK(has(refusal({"top", "--limit", "ten"}), "--limit"));
  CHECK(refusal({"top", "--at"}) == "--at needs a value");
  CHECK(refusal({"top", "--limit", "1", "--limit", "2"}) == "--limit can be given only once");
  CHECK_FALSE(has(refusal({"\x1b[2J"}), "\x1b"));
  CHECK_FALSE(has(refusal({"top", "--\x1b[2J"}), "\x1b"));
  CHECK_FALSE(has(refusal({"top", "--utc=\x1b[2J"}), "\x1b"));
}

TEST_CASE("Names of the same options in other programs are understood") {
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
  // A value may have any form.
  CHECK(parse({"top", "--filter", "comm=-n"}).options.filters == Words{"comm=-n"});
  CHECK(parse({"leaks", "--csv", "x.csv", "--json"}).options.csv == Words{"x.csv"});
  CHECK(has(refusal({"leaks", "--csv"}), "--format csv"));
  CHECK(has(refusal({"status", "--since", "-2h"}), "'status' does not take --from"));
}

TEST_CASE("Options of other programs are understood, or their equivalent is named") {
  CHECK(parse({"top", "--start", "5m", "--end", "1m"}).options.from == "5m");
  CHECK(parse({"top", "-u", "www-data", "-p", "812"}).options.filters == Words{"user=www-data", "pid=812"});
  CHECK(parse({"top", "-uroot", "--unit=a.service", "--comm", "-n"}).options.filters ==
        Words{"user=root", "unit=a.service", "comm=-n"});
  CHECK(parse({"--user", "root", "top"}).command->name == "top");
  CHECK(parse({"top", "--by", "PSS"}).options.by == "pss");
  CHECK(parse({"top", "--group", "service"}).options.group == "unit");
  CHECK(parse({"top", "--format", "JSON"}).options.format == Format::json);
  CHECK(parse({"export", "--json"}).options.format == Format::jsonl);
  CHECK(parse({"top", "--color=always"}).options.color == Color::always);
  CHECK(has(refusal({"top", "--color", "sometimes"}), "auto, always, never"));
  CHECK(has(refusal({"ps"}), "use memoir processes"));
  CHECK(has(refusal({"top", "-s", "x"}), "--by METRIC"));
  CHECK(has(refusal({"top", "-r", "x"}), "--db F"));
  CHECK(has(refusal({"top", "--time", "03:14"}), "--at T"));
  CHECK_FALSE(has(refusal({"top", "--colour"}), "; use"));
}

TEST_CASE("The value decides what a letter of other programs means") {
  CHECK(parse({"top", "-s", "RES"}).options.by == "rss");
  CHECK(parse({"top", "-s", "03:14", "-e", "now"}).options.from == "03:14");
  CHECK(parse({"top", "-s", "03:14", "-e", "now"}).options.to == "now");
  CHECK(parse({"top", "-b", "03:14"}).options.from == "03:14");
  CHECK(parse({"-r", "/tmp/x.db", "top"}).options.db == "/tmp/x.db");
  CHECK(parse({"top", "-f", "x.db"}).options.db == "x.db");
  CHECK(parse({"top", "-u", "nginx.service", "-u", "root"}).options.filters ==
        Words{"unit=nginx.service", "user=root"});
  CHECK(parse({"backup", "-o", "rss"}).options.output == "rss");
}

TEST_CASE("A time may have several words without quotes") {
  CHECK(parse({"top", "--at", "2", "minutes", "ago"}).options.at == "2 minutes ago");
  const Invocation top = parse({"top", "--from", "yesterday", "03:14", "--to", "now", "nginx"});
  CHECK(top.options.from == "yesterday 03:14");
  CHECK(top.options.to == "now");
  CHECK(top.options.subjects == Words{"nginx"});
}

TEST_CASE("An error has the command to type") {
  CHECK(has(refusal({"show", "1234"}), "; use memoir process 1234"));
  CHECK(refusal({"show"}).ends_with("; use memoir process"));
  CHECK(has(refusal({"day", "yesterday"}), "; use memoir summary --day yesterday"));
  CHECK(has(refusal({"sar", "-r", "1", "5"}), "; use memoir trend machine"));
  CHECK(has(refusal({"log", "--since", "-5m", "--json"}), "; use memoir events"));
  CHECK(has(refusal({"yesterday"}), "memoir top --at yesterday"));
  CHECK(has(refusal({"1234"}), "; use memoir process 1234"));
  CHECK(has(refusal({"03:14"}), "memoir incident --at 03:14"));
  CHECK(has(refusal({"a b"}), "; for processes of that name use memoir top 'a b'"));
  CHECK(has(refusal({"top", "--rss"}), "; use --by rss"));
  CHECK(has(refusal({"status", "--since", "5m"}), "; these take it: incidents, top, trend"));
  CHECK(has(refusal({"-k", "err"}),
            "has no option '-k'; use memoir top --by METRIC; for OOM kills memoir events --kind oom"));
  CHECK(has(refusal({"events", "yesterday"}), "; use --day yesterday"));
  CHECK(has(refusal({"summary", "today"}), "; use --day today"));
  CHECK(has(refusal({"events", "-u", "root"}), "; use memoir incidents SUBJECT or memoir exits SUBJECT"));
  CHECK(has(refusal({"events", "-p", "1"}), "; use memoir incidents SUBJECT or memoir exits SUBJECT"));
  CHECK(has(refusal({"status", "-p", "1"}), "; these take it: top, "));
  CHECK(has(refusal({"top", "--all"}), "; use --limit 0"));
  CHECK(has(refusal({"top", "--author", "root"}), "; use --user NAME"));
  CHECK(has(refusal({"top", "5", "3"}), "; memoir watch top repeats it"));
  CHECK(has(refusal({"ls-files"}), "; use memoir processes"));
  CHECK(refusal({"show", "HEAD"}).ends_with("; use memoir process"));
  CHECK(has(refusal({"rss"}), "; use memoir top --by rss"));
  CHECK(has(refusal({"top", "-p"}), "--filter needs a value: KEY=VALUE (--user NAME, -p PID)"));
  CHECK(has(refusal({"top", "--sort-key=PSS"}), "; use --by METRIC"));
}

TEST_CASE("The error for a word of Git or of a shell in place of a subject has a hint") {
  CHECK(has(std::string(subject_hint("HEAD~1")), "a time is -1h"));
  CHECK(has(std::string(subject_hint("-5")), "--limit N"));
  CHECK(has(std::string(subject_hint("memory")), "'machine'"));
  CHECK(has(std::string(subject_hint("aux")), "without a SUBJECT"));
  CHECK(has(std::string(subject_hint("-1h")), "--last 1h"));
  CHECK(subject_hint("-x").empty());
  CHECK(subject_hint("worker.py").empty());
}

TEST_CASE("A hint for an option names a command that takes it") {
  CHECK(has(refusal({"status", "-s"}), "; use memoir status | head -1"));
  CHECK(has(refusal({"status", "--short"}), "; use memoir status | head -1"));
  CHECK(has(refusal({"-A"}), "; use memoir top --limit 0, memoir processes"));
  CHECK(has(refusal({"events", "--time", "03:14"}), "; use memoir top --at T"));
  CHECK(has(refusal({"events", "-p", "err"}), "; use --kind KIND"));
  CHECK(has(refusal({"incident", "--since", "1h"}), "; use --at T --window DURATION, memoir incidents --from T"));
  CHECK(has(refusal({"top", "--hours=2"}), "; use --last DURATION"));
  CHECK(has(refusal({"memory", "-m"}), "; use --units mib"));
  CHECK(has(refusal({"events", "-20"}), "; use --limit 20 (rows), --last 20m"));
  CHECK(has(refusal({"5"}), "; use memoir process 5; memoir watch top"));
}

TEST_CASE("Values as in ps and journalctl are understood") {
  CHECK(parse({"events", "-o", "json-pretty"}).options.format == Format::json);
  CHECK(parse({"processes", "-o", "pid,comm"}).options.columns == Words{"pid", "comm"});
  CHECK(parse({"top", "--sort", "-rss"}).options.by == "rss");
  CHECK(parse({"top", "--sort=-%mem"}).options.by == "pss");
  CHECK(parse({"trend", "machine", "--by", "%memused"}).options.by == "used");
}

TEST_CASE("A part of a command has a name of its own") {
  const auto name_of = [](const Words& words) { return parse(words).command->name; };
  CHECK(name_of({"memory"}) == "memory");
  CHECK(name_of({"memory", "shm"}) == "shm");
  CHECK(name_of({"memory", "--json", "tmpfs"}) == "tmpfs");
  CHECK(name_of({"memory", "--db", "shm"}) == "memory");
  CHECK(name_of({"memory", "shared", "--ownerless"}) == "objects");
  CHECK(name_of({"help", "memory", "mappings"}) == "mappings");
  CHECK(parse({"memory", "mappings", "nginx"}).options.subjects == Words{"nginx"});
  CHECK(name_of({"processes", "nginx", "--exited"}) == "exits");
  CHECK(name_of({"extract", "--all", "-o", "x"}) == "backup");
  CHECK(has(refusal({"memory", "cache"}), "does not take the argument 'cache'"));
  for (const Command& command : commands()) {
    if (command.full_name.empty()) continue;
    const std::string whole = command.full_name.substr(0, command.full_name.find(' '));
    CHECK(has(help(*find_command(whole)), command.full_name));
    CHECK(has(help(command), "Short: memoir " + command.name));
  }
}

TEST_CASE("Excess arguments are reported, and each error names its option or its command") {
  CHECK(refusal({"diff", "a", "b", "c", "d"}) ==
        "'diff' takes at most 3 arguments ([SUBJECT] [T1 [T2]]): leave out 'd'");
  CHECK(refusal({"trend", "1", "2", "3", "4", "5", "6", "7", "8", "9", "x y"}) ==
        "'trend' takes at most 8 arguments ([SUBJECT...]): leave out '9', 'x y'");
  for (const Words& words : {Words{"top", "--by", "x"}, Words{"top", "--group", "x"}, Words{"top", "--tier", "x"},
                             Words{"top", "--filter", "x"}, Words{"top", "--filter", "rss>x"},
                             Words{"top", "--limit", "x"}, Words{"top", "--format", "x"}, Words{"top", "--units", "x"},
                             Words{"top", "--at"}, Words{"top", "--utc=x"}, Words{"top", "--nonsense"}}) {
    CAPTURE(words);
    CHECK(has(refusal(words), words[1].substr(0, words[1].find('='))));
  }
}

TEST_CASE("Help and version override all other arguments") {
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

TEST_CASE("The first page of help fits a screen, and has every command") {
  CHECK(std::ranges::count(help(), '\n') <= 23);
  for (const Command& command : commands()) {
    if (command.full_name.empty()) CHECK(has(help(), command.name));
  }
}

TEST_CASE("An empty value is reported as such and consumes nothing") {
  for (const Words& words : {Words{"top", "--db=", "--utc"}, Words{"top", "--limit=", "--by", "rss"},
                             Words{"--db=", "top"}, Words{"top", "--db", ""}, Words{"top", "--filter="}}) {
    CAPTURE(words);
    CHECK(has(refusal(words), "needs a value"));
  }
}

}  // namespace command_line_test
