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
  samples,  // rows by tick
  rollups,  // the blocks of a tier
  marks,    // rows by UTC day
  log,      // rows in recording order: events, runs, processes …
  names,    // names that rows of other tables refer to, each stored once; deleted when unreferenced
  words,    // lists of few names, which are never deleted
  state,    // one row
};

struct StoreTable {
  std::string_view name = "";
  TableKind kind = TableKind::state;
  std::string_view age = "";  // column with the age of a row; "": none, rows do not expire
  // SQL condition of the rows in an extract. With "", an extract has the ticks, samples and rollups of the range, the
  // names that copied rows refer to, and no other rows. The condition may contain:
  //   {from} {to}     the range
  //   {first} {last}  its ticks, from a keyframe on; 1 and 0 if the raw rows have expired
  //   {tiers}         whether rollups are copied: if the range starts before the raw rows
  //   {subject}       the number of the subject kind
  //   {rolled_up}     the subjects of that kind with rollups in the extract
  std::string_view extract = "";
  Tier tier = Tier::raw;                              // rows expire with this tier
  std::optional<SubjectKind> subject = std::nullopt;  // kind of the subjects that the table's ids identify
  // Names and groups: the table with references to this one, and its column with them.
  std::string_view users = "";
  std::string_view column = "";
  std::string_view title = "";    // groups: SQL expression for the name of a group
  std::string_view process = "";  // samples: `{process} = ?` selects the rows of a process; "": there are none
};

// Returns all tables: facts first, then the names that they refer to.
std::span<const StoreTable> store_tables();
std::vector<StoreTable> tables_of(TableKind kind);
// Returns the table with the names of categories, identities or cgroups.
const StoreTable& table_of_groups(SubjectKind kind);

}  // namespace memoir
