#pragma once

// memoir tmpfs: how full the tmpfs mounts are at one time, what is largest in them, and how it grew.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "query/names/people.h"
#include "query/state/command.h"

namespace memoir::query {

struct TmpfsState {
  const State& state;
  std::vector<TmpfsAt> mounts;
  std::optional<std::int64_t> since_ms;  // what there was then is told, too
};

struct EntryRow {
  const TmpfsAt* mount = nullptr;
  const TmpfsEntryAt* at = nullptr;
  std::string owner;
  std::string name;  // within the directory that it is shown below

  std::int64_t kib() const { return at->entry.allocated_kib; }
};

// Columns of what lies in the mounts; the name comes after them.
Columns<EntryRow> entry_columns(bool since);

// The state in words: "cut" …
std::string_view walk_word(TmpfsWalk walk);

// What is known of one mount: a tree, siblings with the largest first.
void show_mount(const Context& context, const TmpfsState& state, const TmpfsAt& mount, Report& report);

}  // namespace memoir::query
