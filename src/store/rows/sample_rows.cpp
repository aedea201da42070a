#include "store/rows/sample_rows.h"

#include <algorithm>

#include "store/rows/columns.h"

namespace memoir {
namespace {

constexpr std::span<const ProcessField> kHotProcess = kHotProcessFields;
constexpr std::span<const ProcessField> kColdProcess = kColdProcessFields;
constexpr std::span<const ProcessField> kState = kStateFields;
constexpr std::span<const ProcessField> kRare = kRareProcessFields;
constexpr std::span<const MachineField> kHotMachine = kHotMachineFields;
constexpr std::span<const MachineField> kColdMachine = kColdMachineFields;

template <typename E>
std::string insert_sql(const std::string& table, const std::string& first, std::size_t first_count,
                       std::span<const E> fields) {
  return "INSERT INTO " + table + " (" + first + ", " + column_list(fields) + ") VALUES (" +
         placeholders(first_count + fields.size()) + ")";
}

}  // namespace

SampleRows::SampleRows(SQLite::Database& database)
    : hot_process_(database, insert_sql("process_sample", "tick_id, process_id, source, read_age_ms", 4, kHotProcess)),
      reading_(database, "INSERT INTO process_reading (tick_id, process_id) VALUES (?, ?)"),
      state_(database, insert_sql("process_state", "tick_id, process_id, state, parent_pid, threads", 5, kState)),
      rare_(database, insert_sql("process_rare", "tick_id, process_id", 2, kRare)),
      hot_machine_(database, insert_sql("machine_sample", "tick_id", 1, kHotMachine)),
      cold_machine_(database, insert_sql("machine_detail", "tick_id", 1, kColdMachine)),
      category_(database,
                "INSERT INTO category_total (tick_id, category_id, processes, inexact, rss_kib, pss_kib, uss_kib) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)"),
      category_swap_(database,
                     "INSERT INTO category_swap (tick_id, category_id, swap_kib, swap_pss_kib, shared_swap_kib, "
                     "hugetlb_kib) VALUES (?, ?, ?, ?, ?, ?)"),
      cgroup_(database,
              "INSERT INTO cgroup_sample (tick_id, cgroup_id, current_kib, file_kib, swap_kib, max_kib, high_kib, "
              "swap_max_kib, anon_kib, shmem_kib, kernel_kib) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      gone_cgroup_(database, "INSERT INTO cgroup_sample (tick_id, cgroup_id) VALUES (?, ?)"),
      cgroup_detail_(database,
                     "INSERT INTO cgroup_detail (tick_id, cgroup_id, min_kib, low_kib, peak_kib, swap_peak_kib, "
                     "low_events, high_events, max_events, oom_events, oom_kills, own_oom_kills, psi_some_total_us, "
                     "psi_full_total_us) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      seen_cgroup_(database, "UPDATE cgroup SET last_ms = MAX(last_ms, ?2) WHERE id = ?1"),
      extreme_(database,
               "INSERT INTO extreme (tick_id, subject, subject_id, metric, low_kib, low_before_ms, high_kib, "
               "high_before_ms, high_after_ms, high_seen_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
               // A scan may already have stored a row, with the time at which VmHWM rose.
               "ON CONFLICT DO UPDATE SET high_kib = excluded.high_kib, high_before_ms = excluded.high_before_ms, "
               "high_after_ms = excluded.high_after_ms, high_seen_by = excluded.high_seen_by "
               "WHERE excluded.high_kib > COALESCE(high_kib, 0)"),
      other_(database, "INSERT INTO meminfo_other (tick_id, key_id, value) VALUES (?, ?, ?)"),
      key_(database, "INSERT INTO meminfo_key (name) VALUES (?)") {}

void SampleRows::insert(std::int64_t tick_id, SubjectKind kind, std::int64_t subject_id, Metric metric,
                        const Extremes& extremes, std::int64_t at_ms) {
  if (!extremes.any()) return;
  extreme_.bind(tick_id, static_cast<int>(kind), subject_id, info_of(metric).number);
  for (const auto& seen : {extremes.lowest, extremes.highest}) {
    extreme_.add(seen ? std::optional(seen->kib) : std::nullopt);
    extreme_.add(seen ? std::optional(at_ms - seen->at_ms) : std::nullopt);
  }
  const auto after_ms = extremes.highest ? extremes.highest->after_ms : std::nullopt;
  extreme_.add(after_ms ? std::optional(at_ms - *after_ms) : std::nullopt);
  const bool by_scan = !extremes.highest || extremes.highest->by == Origin::scan;
  extreme_.add(by_scan ? std::nullopt : std::optional(static_cast<std::int64_t>(extremes.highest->by)));
  extreme_.finish();
}

void SampleRows::insert_hot(std::int64_t tick_id, std::int64_t boot_ms, std::int64_t process_id,
                            const ProcessSample& sample) {
  const auto age_ms = sample.read_boot_ms ? std::optional(boot_ms - *sample.read_boot_ms) : std::nullopt;
  hot_process_.bind(tick_id, process_id, static_cast<int>(sample.source), age_ms);
  add_fields(hot_process_, packed(sample.memory, sample.source), kHotProcess);
  hot_process_.finish();
}

void SampleRows::insert_cold(std::int64_t tick_id, std::int64_t process_id, const ProcessSample& sample) {
  const std::string_view state(&sample.state, 1);
  const ProcessMemory& memory = sample.memory;
  state_.bind(tick_id, process_id, state, sample.parent_pid, sample.threads);
  add_fields(state_, packed(memory, sample.source), kState);
  state_.finish();
  const auto is_usual = [&](ProcessField field) { return memory.get(field) == usual_value(memory, field); };
  if (std::ranges::all_of(kRare, is_usual)) return;
  rare_.bind(tick_id, process_id);
  add_fields(rare_, memory, kRare);
  rare_.finish();
}

void SampleRows::insert_hot(std::int64_t tick_id, const MachineMemory& memory) {
  hot_machine_.bind(tick_id);
  add_fields(hot_machine_, memory, kHotMachine);
  hot_machine_.finish();
}

void SampleRows::insert_cold(std::int64_t tick_id, const MachineMemory& memory) {
  cold_machine_.bind(tick_id);
  add_fields(cold_machine_, memory, kColdMachine);
  cold_machine_.finish();
}

void SampleRows::insert(std::int64_t tick_id, std::int64_t category_id, const CategorySample& sample) {
  category_.run(tick_id, category_id, sample.processes, sample.inexact, sample.rss_kib, sample.pss_kib, sample.uss_kib);
  if ((sample.swap_kib | sample.swap_pss_kib | sample.shared_swap_kib | sample.hugetlb_kib) == 0) return;
  category_swap_.run(tick_id, category_id, sample.swap_kib, sample.swap_pss_kib, sample.shared_swap_kib,
                     sample.hugetlb_kib);
}

void SampleRows::insert(std::int64_t tick_id, std::int64_t cgroup_id, const CgroupSample& sample) {
  cgroup_.run(tick_id, cgroup_id, sample.current_kib, sample.file_kib, sample.swap_kib, sample.max_kib, sample.high_kib,
              sample.swap_max_kib, sample.anon_kib, sample.shmem_kib, sample.kernel_kib);
}

void SampleRows::insert(std::int64_t tick_id, std::int64_t cgroup_id, const CgroupDetail& of) {
  cgroup_detail_.run(tick_id, cgroup_id, of.min_kib, of.low_kib, of.peak_kib, of.swap_peak_kib, of.low_events,
                     of.high_events, of.max_events, of.oom_events, of.oom_kills, of.own_oom_kills, of.psi_some_total_us,
                     of.psi_full_total_us);
}

void SampleRows::insert_other(std::int64_t tick_id, std::int64_t key_id, std::optional<std::int64_t> value) {
  other_.run(tick_id, key_id, value);
}

bool hot_differs(const ProcessSample& a, const ProcessSample& b) {
  const bool same_source = a.source == b.source || (is_known(a.source) && is_known(b.source));
  return !same_source || differ(a.memory, b.memory, kHotProcess);
}

bool cold_differs(const ProcessSample& a, const ProcessSample& b) {
  return a.state != b.state || a.parent_pid != b.parent_pid || a.threads != b.threads ||
         differ(a.memory, b.memory, kColdProcess);
}

}  // namespace memoir
