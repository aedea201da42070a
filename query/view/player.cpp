#include "query/view/player.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "query/view/draw.h"

namespace memoir::query::view {

Player::Player(Session& session, const Interaction& around, std::int64_t now_ms, Step first)
    : session_(session), around_(around), now_ms_(now_ms) {
  take(std::move(first));
  carry_out();
}

void Player::press(const std::string& key) {
  send(KeyPress{key});
}

void Player::send(const Msg& msg) {
  if (const auto* const ticked = std::get_if<Ticked>(&msg)) now_ms_ = ticked->recorded.now_ms;
  take(update(std::move(model_), msg));
  carry_out();
}

CellGrid Player::screen() const {
  return draw(model_);
}

void Player::take(Step step) {
  model_ = std::move(step.model);
  std::ranges::move(step.requests, std::back_inserter(waiting_));
}

void Player::carry_out() {
  while (!waiting_.empty()) {
    const Request request = std::move(waiting_.front());
    waiting_.pop_front();
    if (const auto* const question = std::get_if<AskFor>(&request)) {
      take(update(std::move(model_), answer_question(session_, around_, *question, now_ms_, {})));
    } else if (const auto* const seek = std::get_if<Seek>(&request)) {
      take(update(std::move(model_), answer_seek(session_, *seek)));
    } else if (const auto* const signal = std::get_if<Signal>(&request)) {
      ended_ = ended_ || *signal == Signal::quit;
    }
  }
}

}  // namespace memoir::query::view
