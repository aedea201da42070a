#pragma once

// memoir tmpfs: usage of the tmpfs mounts at one time, their largest entries, and growth.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "query/names/owners.h"
#include "query/state/command.h"

namespace memoir::query {

struct TmpfsState {
  const State& state;
  std::vector<TmpfsAt> mounts;
  std::optional<std::int64_t> since_ms;  // an earlier time, to show its usage too; nullopt: none
};

struct EntryRow {
  const TmpfsAt* mount = nullptr;
  const TmpfsEntryAt* at = nullptr;
  std::string owner;
  std::string name;  // name within its parent directory in the table

  std::int64_t kib() const { return at->entry.allocated_kib; }
};

// Returns the columns of the mounts' entries, except the name, which the caller adds.
Columns<EntryRow> entry_columns(bool since);

// Returns the state of a walk as text: "whole", "not read" …
std::string_view walk_word(TmpfsWalk walk);

// Shows one mount as a tree. Siblings are sorted by size, the largest first.
void show_mount(const Context& context, const TmpfsState& state, const TmpfsAt& mount, Report& report);

}  // namespace memoir::query
