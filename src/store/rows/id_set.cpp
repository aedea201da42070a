#include "store/rows/id_set.h"

namespace memoir {
namespace {

constexpr std::int64_t kMostId = std::int64_t{1} << 27;

bool is_large(std::int64_t id) {
  return id < 0 || id > kMostId;
}

}  // namespace

void IdSet::add(std::int64_t id) {
  if (is_large(id)) return;
  const auto index = static_cast<std::size_t>(id);
  if (index >= ids_.size()) ids_.resize(index + 1 + index / 2);
  if (!ids_[index]) ++size_;
  ids_[index] = true;
}

bool IdSet::has(std::int64_t id) const {
  if (is_large(id)) return true;
  const auto index = static_cast<std::size_t>(id);
  return index < ids_.size() && ids_[index];
}

}  // namespace memoir
