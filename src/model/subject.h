#pragma once

// The subject of a value: the machine, a process, or a group of processes with summed values.

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace memoir {

// The numbers are stored.
enum class SubjectKind : std::uint8_t { machine = 0, category = 1, process = 2, identity = 3, cgroup = 4 };

// The names of each kind, at the index of its number.
struct SubjectInfo {
  std::string_view name;  // "cgroup", the value of --group
  std::string_view one;   // "a cgroup"
  bool summed = false;    // its values are sums over its processes, and ticks have no rows for it
};
inline constexpr std::array kSubjects{SubjectInfo{"machine", "the machine"}, SubjectInfo{"category", "a category"},
                                      SubjectInfo{"process", "a process"}, SubjectInfo{"identity", "an identity", true},
                                      SubjectInfo{"cgroup", "a cgroup", true}};

constexpr const SubjectInfo& info_of(SubjectKind kind) {
  return kSubjects.at(static_cast<std::size_t>(kind));
}

// Groups: every process is a member of one group of each kind.
inline constexpr std::array kGroupKinds{SubjectKind::category, SubjectKind::identity, SubjectKind::cgroup};

inline constexpr std::array kSubjectKinds{SubjectKind::machine, SubjectKind::category, SubjectKind::process,
                                          SubjectKind::identity, SubjectKind::cgroup};

class SubjectKinds {
 public:
  constexpr SubjectKinds(std::initializer_list<SubjectKind> kinds) {
    for (const SubjectKind kind : kinds) bits_ |= bit(kind);
  }
  constexpr bool contains(SubjectKind kind) const { return (bits_ & bit(kind)) != 0; }
  constexpr bool operator==(const SubjectKinds&) const = default;

 private:
  static constexpr unsigned bit(SubjectKind kind) { return 1U << static_cast<unsigned>(kind); }

  unsigned bits_ = 0;
};

}  // namespace memoir
