#include "store/replay/snapshot_replay.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <utility>

#include "store/replay/process_reader.h"
#include "store/replay/tick_cursor.h"
#include "store/rows/columns.h"
#include "store/rows/tick_rows.h"
#include "store/sqlite/pragma.h"

namespace memoir {
namespace {

const ProcessKey& process_key_of(const ProcessState& state) {
  return state.process.info.key;
}

template <typename Fields>
std::string machine_sql(const Fields& fields, const char* table) {
  return fmt::format("SELECT {} FROM {} WHERE tick_id = ?", column_list(fields), table);
}

// In a list sorted by name, inserts the sample or replaces the one with its name. Removes it if `is_there` is false.
template <typename Sample, typename GetName>
void put(std::vector<Sample>& samples, Sample sample, GetName name, bool is_there) {
  const auto at = std::ranges::lower_bound(samples, std::invoke(name, sample), {}, name);
  const bool found = at != samples.end() && std::invoke(name, *at) == std::invoke(name, sample);
  if (!is_there) {
    if (found) samples.erase(at);
  } else if (found) {
    *at = std::move(sample);
  } else {
    samples.insert(at, std::move(sample));
  }
}

}  // namespace

SnapshotReplay::SnapshotReplay(SQLite::Database& database)
    : database_(database),
      version_(database, kDataVersion),
      tick_(database, fmt::format("SELECT {} FROM tick WHERE id = ?", tick_columns())),
      hot_machine_(database, machine_sql(kHotMachineFields, "machine_sample")),
      cold_machine_(database, machine_sql(kColdMachineFields, "machine_detail")),
      has_other_(database, "SELECT 1 FROM meminfo_other WHERE tick_id = ? LIMIT 1"),
      categories_(
          database,
          "SELECT c.name, s.processes, s.inexact, s.rss_kib, s.pss_kib, s.uss_kib, s.swap_kib, s.swap_pss_kib, "
          "s.shared_swap_kib, s.hugetlb_kib FROM category_sample AS s JOIN category AS c ON c.id = s.category_id "
          "WHERE s.tick_id = ?"),
      cgroups_(database,
               "SELECT g.path, s.current_kib, s.file_kib, s.swap_kib, s.max_kib, s.high_kib, s.swap_max_kib, "
               "s.anon_kib, s.shmem_kib, s.kernel_kib, s.current_kib IS NULL FROM cgroup_sample AS s "
               "JOIN cgroup AS g ON g.id = s.cgroup_id WHERE s.tick_id = ?"),
      hot_(database, fmt::format("SELECT process_id, source, read_age_ms, {} FROM process_sample WHERE tick_id = ?",
                                 column_list(kHotProcessFields))),
      readings_(database, "SELECT process_id FROM process_reading WHERE tick_id = ?"),
      cold_(database, fmt::format("SELECT process_id, state, parent_pid, threads, {} FROM process_detail "
                                  "WHERE tick_id = ?",
                                  column_list(kColdProcessFields))),
      gone_(database, "SELECT id FROM process WHERE exited_tick_id = ?"),
      process_(database, ProcessReader::sql("WHERE p.id = ?")) {}

bool SnapshotReplay::load(std::int64_t tick_id) {
  std::optional<Snapshot> snapshot = load_snapshot(database_, tick_id);
  if (!snapshot) return false;
  start(*std::move(snapshot));
  return true;
}

void SnapshotReplay::start(Snapshot snapshot) {
  keyframe_id_ = 0;
  states_.reset();
  added_.clear();
  erased_.clear();
  snapshot_ = std::move(snapshot);
  data_version_ = version_.one().value_or(0);
  keys_.clear();
  for (const ProcessState& state : snapshot_.processes) keys_[state.process.id] = process_key_of(state);
  keyframe_id_ = keyframe_of(database_, snapshot_.tick.id);
}

bool SnapshotReplay::next() {
  const std::int64_t tick_id = snapshot_.tick.id + 1;
  // A keyframe is loaded by itself, because its rows are complete. After a failure there is no state to continue from.
  if (keyframe_id_ == 0 || keyframe_of(database_, tick_id) != keyframe_id_) return load(tick_id);
  if (!tick_.bind(tick_id).step()) return false;
  const StoredTick tick = read_tick(tick_);
  tick_.reset();
  const std::int64_t keyframe_id = std::exchange(keyframe_id_, 0);
  const std::int64_t version = version_.one().value_or(0);
  const bool is_new = version != std::exchange(data_version_, version);
  if (is_new || !states_) states_.emplace(database_);  // a name's row may have been reused
  snapshot_.tick = tick;
  if (has_other_.one(tick_id)) snapshot_.machine.other = load_meminfo_other(database_, keyframe_id, tick_id);
  apply_machine(tick_id);
  apply_groups(tick_id);
  apply_processes(keyframe_id);
  if (is_new || snapshot_.run.id != tick.run_id) snapshot_.run = load_run(database_, tick.run_id);
  if (is_new) refresh_processes();
  keyframe_id_ = keyframe_id;
  return true;
}

void SnapshotReplay::apply_machine(std::int64_t tick_id) {
  MachineMemory& memory = snapshot_.machine.memory;
  if (hot_machine_.bind(tick_id).step()) read_fields<MachineField>(hot_machine_, 0, memory, kHotMachineFields);
  if (cold_machine_.bind(tick_id).step()) read_fields<MachineField>(cold_machine_, 0, memory, kColdMachineFields);
  hot_machine_.reset();
  cold_machine_.reset();
}

void SnapshotReplay::apply_groups(std::int64_t tick_id) {
  categories_.bind(tick_id);
  while (categories_.step()) {
    CategorySample sample = read_category(categories_);
    const bool is_there = sample.processes > 0;
    put(snapshot_.categories, std::move(sample), &CategorySample::category, is_there);
  }
  cgroups_.bind(tick_id);
  while (cgroups_.step()) put(snapshot_.cgroups, read_cgroup(cgroups_), &CgroupSample::path, cgroups_.integer(10) == 0);
}

void SnapshotReplay::apply_processes(std::int64_t keyframe_id) {
  const std::int64_t tick_id = snapshot_.tick.id;
  const std::int64_t boot_ms = snapshot_.tick.begin.boot_ms;
  hot_.bind(tick_id);
  while (hot_.step()) {
    const std::int64_t process_id = hot_.integer(0);
    if (hot_.integer(1) == kAbsentSource) {
      erase(process_id);
      continue;
    }
    ProcessSample* const state = changed(process_id, keyframe_id);
    if (state == nullptr) continue;
    ProcessSample& sample = *state;
    sample.source = static_cast<Source>(hot_.integer(1));
    const auto age_ms = hot_.maybe(2);
    sample.read_boot_ms = age_ms ? std::optional(boot_ms - *age_ms) : std::nullopt;
    read_fields<ProcessField>(hot_, 3, sample.memory, kHotProcessFields);
    sample.memory = unpacked(sample.memory, sample.source);
  }
  readings_.bind(tick_id);
  while (readings_.step()) {
    if (ProcessSample* const sample = changed(readings_.integer(0), keyframe_id)) sample->read_boot_ms = boot_ms;
  }
  cold_.bind(tick_id);
  while (cold_.step()) {
    ProcessSample* const state = changed(cold_.integer(0), keyframe_id);
    if (state == nullptr) continue;
    ProcessSample& sample = *state;
    const std::string letter = cold_.text(1);
    sample.state = letter.empty() ? '?' : letter.front();
    sample.parent_pid = static_cast<std::int32_t>(cold_.integer(2));
    sample.threads = static_cast<std::int32_t>(cold_.integer(3));
    read_fields<ProcessField>(cold_, 4, sample.memory, kColdProcessFields);
  }
  gone_.bind(tick_id);
  while (gone_.step()) erase(gone_.integer(0));
  merge();
  for (ProcessState& state : snapshot_.processes) state.sample.source = source_at(state.sample, boot_ms);
}

ProcessSample* SnapshotReplay::changed(std::int64_t process_id, std::int64_t keyframe_id) {
  const auto key = keys_.find(process_id);
  if (key == keys_.end()) {
    if (auto whole = states_->one(snapshot_.tick, keyframe_id, process_id)) {
      keys_[process_id] = process_key_of(*whole);
      added_.push_back(*std::move(whole));
    }
    return nullptr;
  }
  const auto at = std::ranges::lower_bound(snapshot_.processes, key->second, {}, process_key_of);
  const bool is_new = at == snapshot_.processes.end() || at->process.id != process_id;
  return is_new ? nullptr : &at->sample;
}

void SnapshotReplay::erase(std::int64_t process_id) {
  if (keys_.erase(process_id) > 0) erased_.insert(process_id);
}

void SnapshotReplay::merge() {
  Processes& processes = snapshot_.processes;
  std::ranges::sort(added_, {}, process_key_of);
  const auto before = static_cast<std::ptrdiff_t>(processes.size());
  processes.insert(processes.end(), std::move_iterator(added_.begin()), std::move_iterator(added_.end()));
  std::ranges::inplace_merge(processes, processes.begin() + before, {}, process_key_of);
  if (!erased_.empty())
    std::erase_if(processes, [this](const ProcessState& state) { return erased_.contains(state.process.id); });
  added_.clear();
  erased_.clear();
}

// Reads the names and the lifetimes again.
void SnapshotReplay::refresh_processes() {
  ProcessReader names(database_);  // a name's row may have been reused
  for (ProcessState& state : snapshot_.processes) {
    if (process_.bind(state.process.id).step()) state.process = names.read(process_);
    process_.reset();
  }
}

}  // namespace memoir
