#pragma once

// Of whom a value is: of the machine, of a process, or of a group whose members' values are summed.

#include <array>
#include <cstdint>
#include <initializer_list>

namespace memoir {

// The numbers are the store's.
enum class SubjectKind : std::uint8_t { machine = 0, category = 1, process = 2, identity = 3, cgroup = 4 };

inline constexpr std::array kSubjectKinds{SubjectKind::machine, SubjectKind::category, SubjectKind::process,
                                          SubjectKind::identity, SubjectKind::cgroup};

class SubjectKinds {
 public:
  constexpr SubjectKinds(std::initializer_list<SubjectKind> kinds) {
    for (const SubjectKind kind : kinds) bits_ |= bit(kind);
  }
  constexpr bool contains(SubjectKind kind) const { return (bits_ & bit(kind)) != 0; }

 private:
  static constexpr unsigned bit(SubjectKind kind) { return 1U << static_cast<unsigned>(kind); }

  unsigned bits_ = 0;
};

}  // namespace memoir
