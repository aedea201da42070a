// Completion by TAB in the real shells, with category names that an unquoted completion would execute.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "query/history.h"
#include "support/catch.h"
#include "support/slurp.h"

namespace completion_test {

using memoir::test::History;
using memoir::test::recorded;
using memoir::test::slurp;
using memoir::test::TemporaryDirectory;

namespace {

const std::vector<std::string> kHostile{"$(touch x)",
                                        "`touch x`",
                                        "a;touch x",
                                        "a|touch x",
                                        "a&touch x",
                                        "'; touch x; '",
                                        "\"; touch x; \"",
                                        "zz\ntouch x",
                                        "zz\n$(touch x)",
                                        "\\`touch x",
                                        "*",
                                        "?",
                                        "[a-z]",
                                        "{a,b}",
                                        "-rf",
                                        "~",
                                        "$HOME",
                                        "<(touch x)",
                                        "zz$(touch x)",
                                        "zz,$(touch x)",
                                        "#x",
                                        "!touch",
                                        "=touch",
                                        "zz\ttouch x"};

void record(History& history) {
  history.begin_run();
  std::int32_t pid = 100;
  for (const std::string& name : kHostile) history.birth(++pid, {"worker", "worker", name}, 1000);
  history.birth(++pid, {"worker", "worker", "zz top"}, 1000);
  history.birth(++pid, {"worker", "worker", "web"}, 1000);
  history.tick(3);
  history.end_run();
}

bool is_installed(const std::string& program) {
  if (std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0) return true;
  WARN("skipped: " << program << " is not installed");
  return false;
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Runs a command in an empty folder with memoir in the PATH. A category name that is executed would create the file x.
class Shell {
 public:
  std::string run(const std::string& command, const std::string& input = "") {
    std::ofstream(folder_.path() + "/input") << input;
    std::filesystem::create_directory(folder_.path() + "/work");
    const std::string program = MEMOIR;
    const std::string line = "cd " + folder_.path() + "/work && env -i HOME=" + folder_.path() +
                             " TERM=dumb LC_ALL=C.UTF-8 PATH=" + program.substr(0, program.rfind('/')) +
                             ":/usr/bin:/bin MEMOIR_DB=" + recorded<record>().path() + " " + command + " <" +
                             folder_.path() + "/input >" + folder_.path() + "/out 2>&1";
    static_cast<void>(std::system(line.c_str()));
    return slurp(folder_.path() + "/out");
  }
  bool ran_something() const { return !std::filesystem::is_empty(folder_.path() + "/work"); }

 private:
  TemporaryDirectory folder_;
};

// Types the text on a terminal; "\t" is the TAB key.
std::string type(Shell& shell, const std::string& program, const std::string& typed) {
  return shell.run("script -qec '" + program + "' /dev/null", typed + "\nexit\n");
}

}  // namespace

TEST_CASE("bash: a completion from the file is one word and is never executed") {
  Shell shell;
  const std::string words =
      "bash --norc -c 'source " MEMOIR_COMPLETIONS
      "/memoir.bash 2>/dev/null\n"
      "ask() { COMP_WORDS=(memoir \"$@\"); COMP_CWORD=$#; COMPREPLY=(); _memoir 2>/dev/null;\n"
      "  for reply in \"${COMPREPLY[@]}\"; do eval \"set -- $reply\"; printf \"%s:<%s>\\n\" $# \"$1\"; done; }\n"
      "ask trend \"\"; ask top --filter category = \"\"; ask trend zz; ask trend \"\\$(touch x)\"'";
  const std::string replies = shell.run(words);
  CAPTURE(replies);
  CHECK_FALSE(shell.ran_something());
  CHECK(says(replies, "1:<zz top>"));
  CHECK(says(replies, "1:<web>"));
  CHECK(says(replies, "1:<machine>"));
  std::istringstream lines(replies);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK((line == "1:<zz top>" || line == "1:<web>" || line == "1:<machine>"));
  }
}

TEST_CASE("bash, zsh: TAB on a terminal completes a quoted name and executes nothing") {
  if (!is_installed("script")) return;
  struct Program {
    const char* name;
    const char* start;
    const char* load;
  };
  for (const Program& program :
       {Program{"bash", "bash --norc --noprofile -i", "source " MEMOIR_COMPLETIONS "/memoir.bash"},
        Program{"zsh", "zsh -f -i", "fpath=(" MEMOIR_COMPLETIONS " $fpath); autoload -Uz compinit; compinit -u -D"}}) {
    if (!is_installed(program.name)) continue;
    CAPTURE(program.name);
    Shell shell;
    // Two TABs list all names. A TAB after "zz" completes the only name with this prefix.
    const std::string shown = type(shell, program.start,
                                   std::string(program.load) + "\nmemoir trend \t\t\x15" +
                                       "memoir top --filter category=\t\t\x15" + "memoir trend zz\t --no-pager\n");
    CAPTURE(shown);
    CHECK_FALSE(shell.ran_something());
    CHECK(says(shown, "category zz top"));
  }
}

TEST_CASE("fish: a completion from the file is never executed") {
  if (!is_installed("fish")) return;
  Shell shell;
  const std::string shown = shell.run("fish --no-config -c 'source " MEMOIR_COMPLETIONS
                                      "/memoir.fish; complete -C \"memoir trend \"; complete -C \"memoir "
                                      "top --filter category=\"'");
  CAPTURE(shown);
  CHECK_FALSE(shell.ran_something());
  CHECK(says(shown, "zz top"));
  CHECK(says(shown, "category=web"));
  std::istringstream lines(shown);
  for (std::string line; std::getline(lines, line);) {
    const std::string word = line.substr(0, line.find('\t'));  // a description follows
    for (const char* part : {"touch", "-rf", "$", "`", "*", "~"}) {
      CAPTURE(word, part);
      CHECK_FALSE(says(word, part));
    }
  }
}

}  // namespace completion_test
