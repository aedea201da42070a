// Recorded sessions of memoir view: the keys are played without a terminal, and the screens are compared.

#include <algorithm>
#include <fstream>

#include "query/ask.h"
#include "query/golden.h"
#include "query/view_shop.h"
#include "support/catch.h"

namespace view_kept_test {

using namespace memoir::test;

namespace {

struct Kept {
  std::string name;
  std::vector<std::string> options;
  std::string keys;  // each line gives a screen
};

}  // namespace

TEST_CASE("Golden screens of recorded sessions") {
  const std::vector<Kept> sessions{
      {"kill", {"--last-oom"}, "Enter\nEsc 6\n"},
      {"live-kill", {}, "E 6\nEsc 1 N\nn F\n"},
      {"growth", {}, "b 0 0 : 3 0 Enter m\nb 0 0 : 4 9 Enter d\nEnter\nEsc Esc ' B\n"},
      {"rows", {"processes"}, "/ u s e r = s h o p Enter\ns j Enter > M\nj w\nEsc f j j j Enter\nEnter y\n"},
      {"command",
       {"cgroups", "--at", "00:45"},
       "G Enter\n: m a p p i n g s Space 3 2 6 5 5 Enter\nEsc Esc 4 C u s e d Enter\nX ?\n"},
  };
  const TemporaryDirectory directory;
  const std::string keys = directory.path() + "/keys";
  for (const Kept& kept : sessions) {
    CAPTURE(kept.name);
    std::ofstream(keys, std::ios::trunc) << kept.keys;
    std::vector<std::string> words{"view"};
    words.insert(words.end(), kept.options.begin(), kept.options.end());
    words.insert(words.end(), {"--play-keys", keys, "--utc", "--color", "never"});
    const auto outcome = ask(recorded<record_shop>(), words);
    CHECK(outcome.error.empty());
    CHECK(std::ranges::count(outcome.out, '\n') == 24 * (1 + std::ranges::count(kept.keys, '\n')));
    compare_with_golden("view-session-" + kept.name + ".txt", outcome.out);
  }
}

}  // namespace view_kept_test
