#pragma once

// A capability of this thread (capabilities(7)), and of those that it starts later: what is needed for a moment is
// given up before anything is read that a user made. For a program that is taken over.

#include <cstdint>

namespace memoir {

class Capability {
 public:
  // CAP_… of linux/capability.h.
  explicit Capability(std::uint32_t number) : number_(number) {}

  // Whether it has effect, if it is permitted. False: that could not be changed.
  bool enable(bool effective) const;
  // For good.
  bool give_up() const;

 private:
  const std::uint32_t number_;
};

// Programs that this thread starts from now on have none of its capabilities, but root's own.
void keep_capabilities_from_programs();

}  // namespace memoir
