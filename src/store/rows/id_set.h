#pragma once

// A set of row ids, a bit each.

#include <cstdint>
#include <vector>

namespace memoir {

// Row ids are small; what is larger than any recorder comes to, as in a damaged file, counts as in it, but not as one
// of its size.
class IdSet {
 public:
  void add(std::int64_t id);
  bool has(std::int64_t id) const;
  std::int64_t size() const { return size_; }

 private:
  std::vector<bool> ids_;
  std::int64_t size_ = 0;
};

}  // namespace memoir
