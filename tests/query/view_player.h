#pragma once

// Plays memoir view on a recording, without a terminal.

#include <optional>
#include <string>

#include "base/text.h"
#include "query/command_line.h"
#include "query/commands.h"
#include "query/history.h"
#include "query/render/render.h"
#include "query/render/terminal.h"
#include "query/view/player.h"
#include "support/catch.h"
#include "support/manual_clock.h"

namespace memoir::test {

inline Result<query::Parsed> parse_words(const query::view::Words& words) {
  const query::Invocation invocation = TRY(query::parse_command_line(words));
  return query::Parsed{invocation.command, invocation.options};
}

class Screens {
 public:
  explicit Screens(const History& history, query::Screen screen = {80, 24}, query::view::Start from = {},
                   bool ascii = false)
      : session_(query::Session::open(history.path()).value()),
        player_(session_, around_, history.now_ms(), first(history, screen, from, ascii)) {}

  // Keys are separated by spaces.
  void press(std::string_view keys) {
    for (std::string_view key = cut_word(keys); !key.empty(); key = cut_word(keys)) player_.press(std::string(key));
  }
  void type(std::string_view text) {
    for (const char c : text) player_.press(c == ' ' ? "Space" : std::string(1, c));
  }
  void send(const query::view::Msg& msg) { player_.send(msg); }
  // Sends the message that a live view receives when the file has changed.
  void tick(std::int64_t now_ms) {
    REQUIRE(session_.refresh());
    send(query::view::Ticked{query::view::recorded_of(session_, now_ms)});
  }

  const query::view::Model& model() const { return player_.model(); }
  std::string text() const { return player_.screen().text(); }
  std::string styles() const { return player_.screen().styles(); }
  query::Session& session() { return session_; }

 private:
  query::view::Step first(const History& history, query::Screen screen, const query::view::Start& from, bool ascii) {
    query::use_utf8();
    query::view::Setup setup;
    setup.zone = query::Zone::utc;
    setup.ascii = ascii;
    setup.common = {"--utc"};
    setup.commands = &query::commands();
    return query::view::start(setup, screen, query::view::recorded_of(session_, history.now_ms()), from);
  }

  ManualClock clock_{{}};
  query::Interaction around_{clock_, query::commands(), parse_words,
                             [](const query::ReportContext& asked, const query::Report& report, const query::Options&) {
                               return query::render_json(asked, report);
                             }};
  query::Session session_;
  query::view::Player player_;
};

}  // namespace memoir::test
