#pragma once

// Runs the view without a terminal, for recorded keys and tests. Each request is carried out before the next key.

#include <deque>
#include <string>
#include <vector>

#include "query/session/session.h"
#include "query/view/grid.h"
#include "query/view/update.h"
#include "query/view/worker.h"

namespace memoir::query::view {

class Player {
 public:
  // `now_ms` is the time of all answers, until a tick brings another.
  Player(Session& session, const Interaction& around, std::int64_t now_ms, Step first);

  void press(const std::string& key);
  void send(const Msg& msg);

  const Model& model() const { return model_; }
  CellGrid screen() const;
  bool ended() const { return ended_; }

 private:
  void take(Step step);
  void carry_out();

  Session& session_;
  const Interaction& around_;
  std::int64_t now_ms_;
  Model model_;
  std::deque<Request> waiting_;
  bool ended_ = false;
};

}  // namespace memoir::query::view
