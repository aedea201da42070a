#pragma once

// The tables of the store: what each holds, and by what it ages. What walks all of a kind walks this list.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/subject.h"
#include "store/tiers.h"

namespace memoir {

enum class TableKind : std::uint8_t {
  ticks,
  samples,  // by tick
  rollups,  // of a tier, by its blocks
  marks,    // by days of UTC
  log,      // what happened, in the order of recording
  names,    // what rows of another table are of, each stored once; they go once no row is of them
  words,    // the same of few, which stay
  state,    // one row
};

struct StoreTable {
  std::string_view name = "";
  TableKind kind = TableKind::state;
  std::string_view age = "";  // the column that it ages by; "": none, nothing goes for its age
  // What an extract takes of it, "": nothing. {from} {to}: the range; {first} {last}: its ticks, from a keyframe on (1
  // and 0 where the raw rows are gone); {tiers}: whether rollups are taken, which is where the range begins before the
  // raw rows do; {subject}: the number of its kind; {rolled_up}: the subjects of that kind that the extract has rollups
  // of. Of ticks, samples and rollups: those of the range. Of names "": those that copied rows are of.
  std::string_view extract = "";
  Tier tier = Tier::raw;                              // that it goes with
  std::optional<SubjectKind> subject = std::nullopt;  // whose numbers are its ids
  // Of names and groups: the table whose rows are of them, and its column.
  std::string_view users = "";
  std::string_view column = "";
  std::string_view title = "";  // of groups: what one is called, in SQL
};

// Facts come first, then the names that those refer to.
std::span<const StoreTable> store_tables();
std::vector<StoreTable> tables_of(TableKind kind);
// Of categories, identities and cgroups: the one that names them.
const StoreTable& table_of_groups(SubjectKind kind);

}  // namespace memoir
