#include "store/tables.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace memoir {
namespace {

// Selects the buckets in the range from activity_TIER, which has a row for each bucket.
constexpr std::string_view kActivityBuckets =
    "{tiers} AND {age} * {block_ms} + slot * {width_ms} <= {to} AND {age} * {block_ms} + (slot + 1) * {width_ms} > "
    "{from}";

constexpr StoreTable sample_of_process(std::string_view name, std::string_view process = "process_id") {
  return {.name = name, .kind = TableKind::samples, .age = "tick_id", .process = process};
}

constexpr std::array kTables{
    StoreTable{"tick", TableKind::ticks, "id"},
    StoreTable{"recorder_memory", TableKind::samples, "tick_id"},
    sample_of_process("process_sample"),
    sample_of_process("process_reading"),
    sample_of_process("process_state"),
    sample_of_process("process_rare"),
    StoreTable{"machine_sample", TableKind::samples, "tick_id"},
    StoreTable{"machine_detail", TableKind::samples, "tick_id"},
    StoreTable{"meminfo_other", TableKind::samples, "tick_id"},
    StoreTable{"category_total", TableKind::samples, "tick_id"},
    StoreTable{"category_swap", TableKind::samples, "tick_id"},
    StoreTable{"cgroup_sample", TableKind::samples, "tick_id"},
    StoreTable{"cgroup_detail", TableKind::samples, "tick_id"},
    sample_of_process("mapping_summary"),
    sample_of_process("mapping_sample"),
    StoreTable{"sysv_sample", TableKind::samples, "tick_id"},
    StoreTable{"tmpfs_sample", TableKind::samples, "tick_id"},
    StoreTable{"tmpfs_entry_sample", TableKind::samples, "tick_id"},
    sample_of_process("extreme", "subject = 2 AND subject_id"),
    sample_of_process("process_exit"),
    StoreTable{"exit_sum", TableKind::samples, "tick_id"},
    // Swap rows are deleted before the rows that they belong to, so that a new row of the same key finds no old swap
    // row.
    StoreTable{"swap_5min", TableKind::rollups, "hour", "", Tier::five_minutes},
    StoreTable{"rollup_5min", TableKind::rollups, "hour", "", Tier::five_minutes},
    StoreTable{"machine_5min", TableKind::rollups, "hour", "", Tier::five_minutes},
    StoreTable{"activity_5min", TableKind::rollups, "hour", kActivityBuckets, Tier::five_minutes},
    StoreTable{"swap_hour", TableKind::rollups, "day", "", Tier::hour},
    StoreTable{"rollup_hour", TableKind::rollups, "day", "", Tier::hour},
    StoreTable{"machine_hour", TableKind::rollups, "day", "", Tier::hour},
    StoreTable{"activity_hour", TableKind::rollups, "day", kActivityBuckets, Tier::hour},
    StoreTable{"swap_day", TableKind::rollups, "day", "", Tier::day},
    StoreTable{"rollup_day", TableKind::rollups, "day", "", Tier::day},
    StoreTable{"machine_day", TableKind::rollups, "day", "", Tier::day},
    StoreTable{"activity_day", TableKind::rollups, "day", kActivityBuckets, Tier::day},
    // An extract has only the marks that were reached within the range.
    StoreTable{"mark", TableKind::marks, "day", "day <> -1 AND day * 86400000 + after_ms BETWEEN {from} AND {to}",
               Tier::day},
    // An extract recomputes the marks of its ticks.
    StoreTable{"raised_mark", TableKind::log},
    StoreTable{"stretch", TableKind::log, "recorded_ms", "{tiers} AND from_ms <= {to} AND to_ms >= {from}"},
    StoreTable{"event", TableKind::log, "boot_ms", "wall_ms BETWEEN {from} AND {to}", Tier::hour},
    StoreTable{"process", TableKind::log, "exited_tick_id",
               "(first_tick_id <= {last} AND (exited_tick_id IS NULL OR exited_tick_id > {first} "
               "OR first_tick_id >= {first})) "
               "OR ({tiers} AND first_ms <= {to} AND (last_ms IS NULL OR last_ms >= {from})) OR id IN ({rolled_up})",
               Tier::raw, SubjectKind::process},
    StoreTable{"run", TableKind::log, "id",
               "id IN (SELECT run_id FROM copy.tick UNION SELECT run_id FROM copy.stretch "
               "UNION SELECT run_id FROM copy.event)"},
    StoreTable{"odd_line", TableKind::log, "run_id",
               "run_id IN (SELECT id FROM copy.run) AND first_ms <= {to} AND last_ms >= {from}"},
    StoreTable{"boot", TableKind::log, "id",
               "id IN (SELECT boot_id FROM copy.run UNION SELECT boot_id FROM copy.process)"},
    StoreTable{"store_size", TableKind::log, "recorded_day"},
    StoreTable{.name = "command", .kind = TableKind::names, .users = "process", .column = "command_id"},
    StoreTable{.name = "directory", .kind = TableKind::names, .users = "process", .column = "cwd_id"},
    StoreTable{.name = "setting", .kind = TableKind::names, .users = "process", .column = "setting_id"},
    StoreTable{.name = "user", .kind = TableKind::names, .users = "process", .column = "user_id"},
    StoreTable{"identity", TableKind::names, "last_ms",
               "id IN (SELECT identity_id FROM copy.process UNION {rolled_up} "
               "UNION SELECT subject_id FROM copy.mark WHERE subject = {subject})",
               Tier::raw, SubjectKind::identity, "process", "identity_id", "TRIM(unit || ' ' || command)"},
    StoreTable{"cgroup", TableKind::names, "last_ms",
               "id IN (SELECT cgroup_id FROM copy.process UNION SELECT cgroup_id FROM copy.cgroup_sample "
               "UNION SELECT cgroup_id FROM copy.exit_sum "
               "UNION {rolled_up} UNION SELECT subject_id FROM copy.mark WHERE subject = {subject})",
               Tier::raw, SubjectKind::cgroup, "process", "cgroup_id", "path"},
    StoreTable{.name = "container", .kind = TableKind::names, .users = "cgroup", .column = "container_id"},
    StoreTable{.name = "mapping", .kind = TableKind::names, .users = "mapping_sample", .column = "mapping_id"},
    StoreTable{.name = "sysv_segment", .kind = TableKind::names, .users = "sysv_sample", .column = "segment_id"},
    StoreTable{.name = "tmpfs_entry", .kind = TableKind::names, .users = "tmpfs_entry_sample", .column = "entry_id"},
    StoreTable{.name = "tmpfs", .kind = TableKind::names, .users = "tmpfs_sample", .column = "tmpfs_id"},
    StoreTable{"category", TableKind::words, "",
               "id IN (SELECT category_id FROM copy.process UNION SELECT category_id FROM copy.category_total "
               "UNION {rolled_up} UNION SELECT subject_id FROM copy.mark WHERE subject = {subject})",
               Tier::raw, SubjectKind::category, "process", "category_id", "name"},
    StoreTable{"meminfo_key", TableKind::words, "", "id IN (SELECT key_id FROM copy.meminfo_other)"},
    StoreTable{"metric", TableKind::words},
    StoreTable{"rollup_progress", TableKind::state},
    StoreTable{"retention", TableKind::state, "", "1"},
};

}  // namespace

std::span<const StoreTable> store_tables() {
  return kTables;
}

std::vector<StoreTable> tables_of(TableKind kind) {
  std::vector<StoreTable> tables;
  std::ranges::copy_if(kTables, std::back_inserter(tables),
                       [kind](const StoreTable& table) { return table.kind == kind; });
  return tables;
}

const StoreTable& table_of_groups(SubjectKind kind) {
  return *std::ranges::find(kTables, kind, &StoreTable::subject);
}

}  // namespace memoir
