#include "query/view/loop.h"

#include <array>
#include <chrono>
#include <fmt/format.h>
#include <fstream>
#include <poll.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "query/view/draw.h"
#include "query/view/terminal.h"

namespace memoir::query::view {
namespace {

using Steady = std::chrono::steady_clock;

// Minimum time between two screens.
constexpr std::chrono::milliseconds kFrame{50};
// A screen waits this long for the answer of its page: most answers arrive in time, so that the cursor and the page
// change together.
constexpr std::chrono::milliseconds kQuickAnswer{15};
// The page is dimmed when its answer takes longer.
constexpr std::chrono::milliseconds kSlowAnswer{100};

class Loop {
 public:
  Loop(Terminal& terminal, Worker& worker, Step first, std::ostream& record)
      : terminal_(terminal), worker_(worker), model_(std::move(first.model)), record_(record) {
    carry_out(first.requests);
    if (!terminal.notice().empty()) model_.message = terminal.notice();
  }

  std::string run() {
    while (!ended_) {
      wait();
      const TerminalSignals::Seen seen = signals_.take();
      if (seen.ends) break;
      if (seen.continued) terminal_.repaint();
      if (seen.resized) {
        terminal_.resize();
        send(Resized{terminal_.screen()});
      }
      for (Msg& msg : worker_.take()) send(msg);
      // All pressed keys are handled before the next screen, so that a held key draws only its last state.
      while (const auto key = ended_ ? std::nullopt : terminal_.read_key()) {
        record_ << *key << '\n';
        send(KeyPress{*key});
      }
      show(seen.continued);
    }
    return model_.last_command;
  }

 private:
  void send(const Msg& msg) {
    Step step = update(std::move(model_), msg);
    model_ = std::move(step.model);
    is_shown_ = false;
    carry_out(step.requests);
  }

  void carry_out(std::vector<Request>& requests) {
    for (Request& request : requests) {
      if (auto* const question = std::get_if<AskFor>(&request)) {
        worker_.ask(std::move(*question));
      } else if (const auto* const seek = std::get_if<Seek>(&request)) {
        worker_.seek(*seek);
      } else if (const auto* const copied = std::get_if<Copy>(&request)) {
        terminal_.copy(copied->text);
      } else {
        obey(std::get<Signal>(request));
      }
    }
  }

  void obey(Signal signal) {
    switch (signal) {
      case Signal::redraw:
        terminal_.repaint();
        break;
      case Signal::suspend:
        terminal_.suspend();
        send(Resized{terminal_.screen()});
        break;
      case Signal::quit:
        ended_ = true;
        break;
    }
  }

  // Waits until there is something to do, or a screen may be drawn.
  void wait() {
    std::array<pollfd, 3> files{pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{worker_.file(), POLLIN, 0},
                                pollfd{signals_.file(), POLLIN, 0}};
    int timeout_ms = -1;
    if (const auto next = next_screen()) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*next - Steady::now());
      timeout_ms = static_cast<int>(std::max<std::int64_t>(left.count() + 1, 1));
    }
    if (poll(files.data(), files.size(), timeout_ms) <= 0) return;
    // A closed terminal sends no signal to a process in another session.
    if ((files[0].revents & (POLLHUP | POLLERR)) != 0) ended_ = true;
  }

  // Time at which the next screen may be drawn; nullopt if nothing has changed.
  std::optional<Steady::time_point> next_screen() const {
    if (!is_shown_) return std::max(shown_at_ + kFrame, waits_since_ ? *waits_since_ + kQuickAnswer : shown_at_);
    if (waits_since_ && !is_dimmed_) return std::max(shown_at_ + kFrame, *waits_since_ + kSlowAnswer);
    return std::nullopt;
  }

  void show(bool now) {
    const Steady::time_point at = Steady::now();
    if (!waits_for_page(model_)) {
      waits_since_.reset();
    } else if (!waits_since_) {
      waits_since_ = at;
    }
    const auto next = next_screen();
    if (ended_ || (!now && (!next || at < *next))) return;
    shown_at_ = at;
    if (!now && terminal_.is_busy()) return;
    is_dimmed_ = waits_since_ && at >= *waits_since_ + kSlowAnswer;
    terminal_.show(draw(model_, is_dimmed_));
    is_shown_ = true;
  }

  TerminalSignals signals_;
  Terminal& terminal_;
  Worker& worker_;
  Model model_;
  std::ostream& record_;
  Steady::time_point shown_at_ = Steady::now() - kFrame;
  std::optional<Steady::time_point> waits_since_;  // since when the page waits for an answer
  bool is_dimmed_ = false;
  bool is_shown_ = false;
  bool ended_ = false;
};

}  // namespace

Result<std::string> run_on_terminal(Session session, const Setup& setup, const Start& from, const Interaction& around,
                                    const std::optional<std::string>& record) {
  std::ofstream keys;
  if (record) {
    keys.open(*record);
    if (!keys) return Error{ErrorKind::io, fmt::format("{}: cannot be written", *record)};
  }
  const std::unique_ptr<Terminal> terminal = TRY(Terminal::open(setup.color, setup.mouse));
  const RecordingInfo recorded = recorded_of(session, around.clock.now().wall_ms);
  Step first = start(setup, terminal->screen(), recorded, from);
  Worker worker(std::move(session), around);
  return Loop(*terminal, worker, std::move(first), keys).run();
}

}  // namespace memoir::query::view
