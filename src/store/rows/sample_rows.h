#pragma once

// Inserts samples: of processes, categories, cgroups and the machine.

#include <cstdint>
#include <optional>

#include "model/metric.h"
#include "model/tick.h"
#include "store/sqlite/statement.h"

namespace memoir {

class SampleRows {
 public:
  explicit SampleRows(SQLite::Database& database);

  // `boot_ms` is the tick's time on the boot clock.
  void insert_hot(std::int64_t tick_id, std::int64_t boot_ms, std::int64_t process_id, const ProcessSample& sample);
  void insert_reading(std::int64_t tick_id, std::int64_t process_id) { reading_.run(tick_id, process_id); }
  void insert_cold(std::int64_t tick_id, std::int64_t process_id, const ProcessSample& sample);
  void insert_hot(std::int64_t tick_id, const MachineMemory& memory);
  void insert_cold(std::int64_t tick_id, const MachineMemory& memory);
  void insert(std::int64_t tick_id, std::int64_t category_id, const CategorySample& sample);
  void insert(std::int64_t tick_id, std::int64_t cgroup_id, const CgroupSample& sample);
  void insert(std::int64_t tick_id, std::int64_t cgroup_id, const CgroupDetail& detail);
  void insert_gone_cgroup(std::int64_t tick_id, std::int64_t cgroup_id) { gone_cgroup_.run(tick_id, cgroup_id); }
  // Updates the time of a cgroup's last observation. A cgroup with samples is observed even if it has no process.
  void see_cgroup(std::int64_t cgroup_id, std::int64_t at_ms) { seen_cgroup_.run(cgroup_id, at_ms); }
  // Inserts extremes, if there are any. `at_ms` is the tick's time on the wall clock.
  void insert(std::int64_t tick_id, SubjectKind kind, std::int64_t subject_id, Metric metric, const Extremes& extremes,
              std::int64_t at_ms);
  void insert_other(std::int64_t tick_id, std::int64_t key_id, std::optional<std::int64_t> value);
  std::int64_t insert_meminfo_key(std::string_view name) { return key_.insert(name); }

 private:
  Statement hot_process_;
  Statement reading_;
  Statement state_;
  Statement rare_;
  Statement hot_machine_;
  Statement cold_machine_;
  Statement category_;
  Statement category_swap_;
  Statement cgroup_;
  Statement gone_cgroup_;
  Statement cgroup_detail_;
  Statement seen_cgroup_;
  Statement extreme_;
  Statement other_;
  Statement key_;
};

// The sources exact and held do not count as different.
bool hot_differs(const ProcessSample& a, const ProcessSample& b);
bool cold_differs(const ProcessSample& a, const ProcessSample& b);

}  // namespace memoir
