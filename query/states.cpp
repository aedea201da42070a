#include "query/states.h"

namespace memoir::query {

const State* States::keep(Key key, std::optional<State> state) {
  const auto held = states_.emplace(key, std::move(state)).first;
  return held->second ? &*held->second : nullptr;
}

Result<const State*> States::at(std::int64_t at_ms) {
  const Key key{Tier::raw, at_ms};
  if (const auto held = states_.find(key); held != states_.end()) return held->second ? &*held->second : nullptr;
  Result<std::optional<State>> state = load_state(context_, at_ms);
  if (!state) return state.error();
  return keep(key, *std::move(state));
}

Result<const State*> States::in_bucket(Tier tier, std::int64_t at_ms) {
  const Key key{tier, at_ms - at_ms % bucket_ms(tier)};
  if (const auto held = states_.find(key); held != states_.end()) return held->second ? &*held->second : nullptr;
  Result<std::optional<State>> state = load_bucket(context_, tier, at_ms);
  if (!state) return state.error();
  return keep(key, *std::move(state));
}

}  // namespace memoir::query
