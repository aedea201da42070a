#pragma once

// The table of each field, and the columns that are NULL if other columns give their value. The build generates the
// schema's views from these lists (schema/schema_text.h).

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "model/field_rule.h"
#include "model/machine.h"
#include "model/metric.h"
#include "model/process.h"

namespace memoir {

inline constexpr auto kHotProcessFields =
    fields_with<kProcessFields>([](const ProcessFieldInfo& info) { return info.storage == ProcessStorage::sample; });
inline constexpr auto kColdProcessFields =
    fields_with<kProcessFields>([](const ProcessFieldInfo& info) { return info.storage != ProcessStorage::sample; });
inline constexpr auto kStateFields =
    fields_with<kProcessFields>([](const ProcessFieldInfo& info) { return info.storage == ProcessStorage::state; });
inline constexpr auto kRareProcessFields =
    fields_with<kProcessFields>([](const ProcessFieldInfo& info) { return info.storage == ProcessStorage::rare; });
inline constexpr auto kHotMachineFields =
    fields_with<kMachineFields>([](const MachineFieldInfo& info) { return info.storage == MachineStorage::sample; });
inline constexpr auto kColdMachineFields =
    fields_with<kMachineFields>([](const MachineFieldInfo& info) { return info.storage == MachineStorage::detail; });

// Returns whether process_sample has the fields of a metric; otherwise all of them are in the other tables.
constexpr bool is_hot(Metric metric) {
  return std::ranges::all_of(info_of(metric).rule.of,
                             [](ProcessField field) { return info_of(field).storage == ProcessStorage::sample; });
}
static_assert(std::ranges::all_of(kMetrics, [](Metric metric) {
  return is_hot(metric) || std::ranges::none_of(info_of(metric).rule.of, [](ProcessField field) {
           return info_of(field).storage == ProcessStorage::sample;
         });
}));

// The fields of rolled-up metrics that are not in process_sample.
inline constexpr auto kColdRolledFields = fields_with<kProcessFields>([](const ProcessFieldInfo& info) {
  return info.storage != ProcessStorage::sample && std::ranges::any_of(kRolledMetrics, [&](Metric metric) {
           return info_of(metric).rule.of.contains(info.field);
         });
});

// Value of the column source: the process is absent from this tick on.
inline constexpr std::int64_t kAbsentSource = 5;

// Value of a derived column: the field is absent, although the rule gives a value.
inline constexpr std::int64_t kNotKnown = -1;

// A field with a column that is NULL if its value is the rule's result.
struct DerivedField {
  ProcessField field = {};
  ProcessRule rule;
  std::optional<ProcessRule> when_exact = {};  // the rule that applies instead if the source is exact

  constexpr bool needs(ProcessField other) const {
    return rule.needs(other) || (when_exact && when_exact->needs(other));
  }
};

// Each field comes after those that it needs.
inline constexpr std::array kDerivedFields{
    DerivedField{ProcessField::pss_anon, {.of = {ProcessField::rss_anon}, .only_with = ProcessField::pss_file}},
    DerivedField{
        ProcessField::private_clean,
        {.how = ProcessRule::How::remainder, .of = {ProcessField::rss_file}, .less = ProcessField::shared_clean}},
    DerivedField{ProcessField::private_dirty,
                 {.how = ProcessRule::How::remainder,
                  .of = {ProcessField::rss_anon, ProcessField::rss_shmem},
                  .less = ProcessField::shared_dirty}},
    DerivedField{ProcessField::vm_rss,
                 {.of = {ProcessField::rss_anon, ProcessField::rss_file, ProcessField::rss_shmem}}},
    DerivedField{ProcessField::rss,
                 {.of = {ProcessField::vm_rss}},
                 ProcessRule{.of = {ProcessField::shared_clean, ProcessField::shared_dirty, ProcessField::private_clean,
                                    ProcessField::private_dirty}}},
    DerivedField{ProcessField::pss, {.of = {ProcessField::pss_anon, ProcessField::pss_file, ProcessField::pss_shmem}}},
    DerivedField{ProcessField::pss_dirty, {.of = {ProcessField::pss_anon, ProcessField::pss_shmem}}},
    DerivedField{ProcessField::anonymous, {.of = {ProcessField::rss_anon}}},
    DerivedField{ProcessField::referenced, {.of = {ProcessField::rss}}},
    DerivedField{ProcessField::vm_hwm, {.of = {ProcessField::vm_rss}}},
    DerivedField{ProcessField::vm_peak, {.of = {ProcessField::vm_size}}},
};

// Checks that a rule's parts are stored in the same table as the field, and that no later rule derives one of them.
constexpr bool is_rule_list() {
  for (std::size_t i = 0; i < kDerivedFields.size(); ++i) {
    for (const ProcessFieldInfo& other : kProcessFields) {
      if (!kDerivedFields[i].needs(other.field)) continue;
      if (other.storage != info_of(kDerivedFields[i].field).storage) return false;
      for (std::size_t j = i; j < kDerivedFields.size(); ++j)
        if (kDerivedFields[j].field == other.field) return false;
    }
  }
  return true;
}
static_assert(is_rule_list());

// The columns of mapping_sample that are derived in the same way. Each page in memory is shared or private, clean or
// dirty; PSS includes all private ones.
inline constexpr ProcessRule kMappingRss{.of = {ProcessField::shared_clean, ProcessField::shared_dirty,
                                                ProcessField::private_clean, ProcessField::private_dirty}};
inline constexpr ProcessRule kMappingPss{.of = {ProcessField::private_clean, ProcessField::private_dirty}};

// Returns the field that decides the value of a field of process_rare without a row: 0 if the returned field is
// present, otherwise unknown. Swap depends on a field of status, because VmSwap replaces it if smaps_rollup is not
// read.
constexpr ProcessField known_by(ProcessField rare) {
  const bool of_rollup = info_of(rare).file == ProcessFile::smaps_rollup && rare != ProcessField::swap;
  return of_rollup ? ProcessField::anon_huge_pages : ProcessField::vm_size;
}

}  // namespace memoir
