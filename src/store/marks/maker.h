#pragma once

// Raises high-water marks as ticks are stored: of the machine, categories, cgroups' own counters, processes, and the
// sums over the processes of each identity and cgroup. Changed processes update the sums. Pure, and copied at each
// tick with the WriterState.

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "model/tick.h"
#include "store/marks/mark.h"

namespace memoir {

class MarkMaker {
 public:
  // The groups of a process that have marks of sums.
  struct Groups {
    std::int64_t identity_id = 0;
    std::int64_t cgroup_id = 0;

    bool operator==(const Groups&) const = default;
  };

  // Returns true for the first tick and on a new UTC day: each process has to be observed then, changed or not.
  bool begin_tick(MarkTime time);

  void observe(const MachineMemory& memory);
  void observe_category(std::int64_t id, const CategorySample& sample);
  // Call it for each cgroup with counters, changed or not.
  void observe_cgroup(std::int64_t id, const CgroupSample& sample);
  // Call it for a new or changed process. `hwm_time` is the time of its VmHWM.
  void observe_process(std::int64_t id, const Groups& groups, const ProcessMemory& memory, Source source,
                       MarkTime hwm_time);
  void remove_process(std::int64_t id);

  // Observes a value between two ticks. It counts for the UTC day of its own time.
  void observe(SubjectKind subject, std::int64_t id, Metric metric, std::int64_t kib, MarkTime time);
  // Observes the peak of a process at its exit, which counts for its identity too. The process may be unsampled.
  void observe_exit(std::int64_t id, const Groups& groups, std::int64_t peak_kib, MarkTime time);

  // Raises the marks of the sums. Returns all marks raised since begin_tick, or the last take_raised().
  std::vector<Mark> end_tick();
  // Returns the number of raised marks that were not taken yet. The first tick of a day raises several marks of each
  // process, so the caller takes them before they use much memory.
  std::size_t raised() const { return raised_.size(); }
  std::vector<Mark> take_raised() { return std::exchange(raised_, {}); }

 private:
  static constexpr std::array kSummed{Metric::pss, Metric::rss, Metric::uss, Metric::swap, Metric::hugetlb};
  static constexpr std::size_t kMaxProcessMarks = 5;
  static constexpr std::size_t kMaxMarks = 8;

  // One value per metric: today's marks in the order of marked_metrics(), or parts of sums in the order of kSummed.
  // kNone replaces nullopt.
  template <std::size_t N>
  using Values = std::array<std::int64_t, N>;
  using Parts = Values<kSummed.size()>;

  struct Member {
    std::int64_t id = 0;
    Groups groups;
    Parts parts{};  // the process's part in the sums
    Values<kMaxProcessMarks> marks{};
  };
  struct Subject {
    SubjectKind kind = SubjectKind::machine;
    bool changed = false;
    bool counted = false;  // whether it is a cgroup with counters in this tick
    std::int32_t members = 0;
    std::int64_t id = 0;
    Parts sums{};
    std::array<std::int32_t, kSummed.size()> known{};  // number of members with a value
    Values<kMaxMarks> marks{};

    auto key() const { return std::pair(kind, id); }
  };

  Subject& subject(SubjectKind kind, std::int64_t id);
  Member* find_member(std::int64_t id);
  void count(Subject& group, const Parts& parts, int sign);
  // Replaces a process's previous part in the sums by its current one. nullptr: the process is absent.
  void count(SubjectKind kind, std::int64_t Groups::*id, const Member* before, const Member* now);
  void count(const Member* before, const Member* now);
  void raise(SubjectKind kind, std::int64_t id, Metric metric, std::optional<std::int64_t> value, MarkTime time,
             std::int64_t& mark);
  void raise_sums(Subject& group);
  void raise_identity(std::int64_t identity_id, std::int64_t peak_kib, MarkTime time);
  void drop_absent();

  std::vector<Member> members_;    // sorted by id
  std::vector<Subject> subjects_;  // sorted by key; at most a thousand groups without members
  std::vector<Mark> raised_;
  std::optional<std::int64_t> day_ms_;
  MarkTime time_;
};

}  // namespace memoir
