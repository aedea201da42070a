#pragma once

// Processes grouped for leaks: by identity, and within an identity by generations.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/reader.h"

namespace memoir::query {

struct Group {
  std::int64_t identity_id = 0;
  std::string subject;
  std::string unit;
  std::vector<StoredLife> members;  // members in order of their start
  // First tick after the exit of all members; nullopt if one of them still ran at the end of the range.
  std::optional<std::int64_t> exited_ms;
};

// Groups of the processes that ran in the range. If there are very many, groups that exited too soon to leak are left
// out and counted. If `only` is set, there is at most the group of this identity.
struct Groups {
  std::vector<Group> all;
  std::int64_t brief = 0;
};
Result<Groups> load_groups(Reader& reader, Range range, std::optional<std::int64_t> only = {});

// Returns the pid if only one member ran at that time, or if the group has only one; otherwise nullopt.
std::optional<std::int64_t> only_pid(const Group& group, std::int64_t at_ms);

// The generation of each member (`of`), and the start of each generation. A new one starts when all earlier members
// have exited.
struct Generations {
  std::vector<std::int32_t> of;
  std::vector<std::int64_t> begins_ms;
  bool together = false;  // several members ran at one time
};
Generations generations_of(const Group& group);

}  // namespace memoir::query
