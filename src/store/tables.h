#pragma once

// The tables of the store: the content of each, and what determines its age. All code that visits the tables of a kind
// uses this list.

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
  rollups,  // the blocks of a tier
  marks,    // by UTC day
  log,      // events, in recording order
  names,    // subjects of other tables' rows, each stored once; deleted when unreferenced
  words,    // names of few values, which are never deleted
  state,    // one row
};

struct StoreTable {
  std::string_view name = "";
  TableKind kind = TableKind::state;
  std::string_view age = "";  // column of its age; "": none, rows do not expire
  // SQL condition of the rows in an extract. With "", an extract has the ticks, samples and rollups of the range, the
  // names that copied rows refer to, and no other rows. The condition may contain:
  //   {from} {to}     the range
  //   {first} {last}  its ticks, from a keyframe on; 1 and 0 if the raw rows have expired
  //   {tiers}         whether rollups are copied: if the range starts before the raw rows
  //   {subject}       the number of the subject kind
  //   {rolled_up}     the subjects of that kind with rollups in the extract
  std::string_view extract = "";
  Tier tier = Tier::raw;                              // tier with which it expires
  std::optional<SubjectKind> subject = std::nullopt;  // subject kind that has the table's ids
  // Names and groups: the referring table, and its column.
  std::string_view users = "";
  std::string_view column = "";
  std::string_view title = "";    // groups: name of a group, in SQL
  std::string_view process = "";  // samples: `{process} = ?` are those of a process; "": there are none
};

// Facts come first, then the names that they refer to.
std::span<const StoreTable> store_tables();
std::vector<StoreTable> tables_of(TableKind kind);
// Returns the table with the names of categories, identities or cgroups.
const StoreTable& table_of_groups(SubjectKind kind);

}  // namespace memoir
