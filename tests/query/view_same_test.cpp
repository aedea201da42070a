// A page of memoir view consists of commands. It shows exactly the answers that these commands give outside of the
// view.

#include "query/ask.h"
#include "query/render/render.h"
#include "query/view/keys.h"
#include "query/view_player.h"
#include "query/view_shop.h"
#include "support/catch.h"
#include "support/trials.h"

namespace view_same_test {

using namespace memoir::test;
using memoir::query::view::kSlots;

namespace {

// Keys of the table that lead to other pages, rows or times.
std::vector<std::string> walking_keys() {
  std::vector<std::string> keys;
  for (const auto& row : memoir::query::view::key_table()) {
    std::string_view names = row.keys;
    for (std::string_view key = memoir::cut_word(names); !key.empty(); key = memoir::cut_word(names)) {
      if (std::string_view("q F10 ^C ^Z ^L X : / F3 F4 u b J C F2 y Y").find(key) == std::string_view::npos)
        keys.emplace_back(key);
    }
  }
  return keys;
}

}  // namespace

TEST_CASE("A walk through the pages shows what the commands answer") {
  const History& history = recorded<record_shop>();
  const std::vector<std::string> keys = walking_keys();
  int compared = 0;
  for (std::uint32_t seed = 1; seed <= (all_trials() ? 1000U : 20U); ++seed) {
    std::uint32_t state = seed * 2654435761U;
    // A wide screen also shows the process of the selected row.
    const bool wide = seed % 2 == 0;
    Screens screens(history, wide ? memoir::query::Screen{160, 45} : memoir::query::Screen{80, 24});
    std::string pressed;
    for (int step = 0; step < 12; ++step) {
      state = state * 1664525 + 1013904223;
      const std::string& key = keys[(state >> 8U) % keys.size()];
      pressed += key + " ";
      screens.press(key);
    }
    for (std::size_t slot = 0; slot < kSlots; ++slot) {
      const auto& answer = screens.model().answers.at(slot);
      if (!answer.report || screens.model().asked.at(slot).words != answer.words) continue;
      std::vector<std::string> words = answer.words;
      words.insert(words.end(), {"--format", "json"});
      CAPTURE(seed, pressed, words);
      const memoir::query::ReportContext asked{answer.words.front(), "DB", "testhost"};
      // Charts are only for humans.
      memoir::query::Report report = *answer.report;
      std::erase_if(report.sections, [](const auto& section) { return section.name == "chart"; });
      CHECK(ask(history, words).out == memoir::query::render_json(asked, report));
      ++compared;
    }
  }
  CHECK(compared > 60);
}

}  // namespace view_same_test
