#pragma once

// States by time, each loaded once.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "query/state.h"

namespace memoir::query {

class States {
 public:
  explicit States(const Context& context) : context_(context) {}

  // At the last recorded time up to `at_ms`, of its tick or its bucket; or of the tier's bucket that holds it. Null if
  // there is none. It stays until this object ends.
  Result<const State*> at(std::int64_t at_ms);
  Result<const State*> in_bucket(Tier tier, std::int64_t at_ms);

 private:
  using Key = std::pair<Tier, std::int64_t>;

  Result<const State*> once(Key key, const std::function<Result<std::optional<State>>()>& load);

  const Context& context_;
  std::map<Key, std::optional<State>> states_;
};

}  // namespace memoir::query
