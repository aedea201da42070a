#include "query/states.h"

namespace memoir::query {

Result<const State*> States::once(Key key, const std::function<Result<std::optional<State>>()>& load) {
  auto held = states_.find(key);
  if (held == states_.end()) {
    Result<std::optional<State>> state = load();
    if (!state) return state.error();
    held = states_.emplace(key, *std::move(state)).first;
  }
  return held->second ? &*held->second : nullptr;
}

Result<const State*> States::at(std::int64_t at_ms) {
  return once({Tier::raw, at_ms}, [&] { return load_state(context_, at_ms); });
}

Result<const State*> States::in_bucket(Tier tier, std::int64_t at_ms) {
  return once({tier, at_ms - at_ms % bucket_ms(tier)}, [&] { return load_bucket(context_, tier, at_ms); });
}

}  // namespace memoir::query
