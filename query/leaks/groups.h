#pragma once

// Processes as leaks are told of them: by identity, and of an identity by generations.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/reader.h"

namespace memoir::query {

// The processes of one identity.
struct Group {
  std::int64_t identity_id = 0;
  std::string subject;
  std::string unit;
  std::vector<StoredLife> members;  // by birth
  // All of them were gone by the end of the range: the first tick without the last of them.
  std::optional<std::int64_t> ended_ms;
};

// Those that lived in the range.
Result<std::vector<Group>> load_groups(Reader& reader, Range range);

// Of the only one that lives at a time, or that ever lived.
std::optional<std::int64_t> only_pid(const Group& group, std::int64_t at_ms);

// Of each member the generation: a new one begins where all before it are gone.
struct Generations {
  std::vector<std::int32_t> of;
  std::vector<std::int64_t> begins_ms;
  bool together = false;  // several lived at one time
};
Generations generations_of(const Group& group);

}  // namespace memoir::query
