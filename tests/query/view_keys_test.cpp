// memoir view: its keys, and the words that are typed into it.

#include <set>

#include "query/view/keys.h"
#include "query/view/prompt.h"
#include "query/view_messages.h"
#include "support/catch.h"
#include "support/slurp.h"

namespace view_keys_test {

using namespace memoir::test::view;

TEST_CASE("Each key has one meaning, help lists all of them, and any other key shows what to press") {
  std::set<std::string> keys;
  for (const KeyRow& row : key_table()) {
    CAPTURE(row.shown);
    std::string_view names = row.keys;
    std::size_t count = 0;
    for (std::string_view key = memoir::cut_word(names); !key.empty(); key = memoir::cut_word(names), ++count)
      CHECK(keys.insert(std::string(key)).second);
    CHECK(count == row.actions.size());
    CHECK_FALSE(row.help.empty());
  }
  Played played;
  played.press("K");
  CHECK(played.model.message == "memoir only reads: it kills nothing");
  played.press("O");
  CHECK(played.model.message == "O has no meaning here; ? lists the keys");
  played.press("q");
  CHECK(played.quits);
}

TEST_CASE("The man page has each key") {
  std::string page = memoir::test::slurp(MEMOIR_SOURCE "/man/memoir-view.1");
  for (const auto& [roff, text] : {std::pair("\\-", "-"), std::pair("\\(aq", "'"), std::pair("\\(ha", "^")}) {
    for (std::size_t at = page.find(roff); at != std::string::npos; at = page.find(roff))
      page.replace(at, std::string_view(roff).size(), text);
  }
  for (const KeyRow& row : key_table()) {
    CAPTURE(row.shown);
    CHECK(page.find("\n" + std::string(row.help) + ".\n") != std::string::npos);
  }
}

TEST_CASE("A kill on one line starts with the victim and its limit") {
  CHECK(short_kill(
            "The OOM killer killed python3 (7) in the cgroup /a.slice/shop.service; its RSS peaked at 134.0 MiB; the "
            "cgroup /a.slice/shop.service was at its limit of 128.0 MiB; python3 invoked the OOM killer") ==
        "python3 (7) in shop.service at its limit of 128.0 MiB; its RSS peaked at 134.0 MiB; python3 invoked the OOM "
        "killer");
  CHECK(short_kill("The OOM killer killed sh (7); its RSS peaked at 1.0 MiB") == "sh (7); its RSS peaked at 1.0 MiB");
  CHECK(short_kill("in the cgroup /") == "in the cgroup /");
}

TEST_CASE("Words are split as in a shell") {
  CHECK(split_words("top --at 'yesterday 03:14'  a\\ b \"c d\"") ==
        Words{"top", "--at", "yesterday 03:14", "a b", "c d"});
  CHECK(split_words("  ") == Words{});
}

}  // namespace view_keys_test
