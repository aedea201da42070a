#pragma once

// Drops or toggles one capability of the calling thread (capabilities(7)), and of threads that it starts later, before
// user-controlled data is read. Limits the damage if the program is taken over.

#include <cstdint>

namespace memoir {

class Capability {
 public:
  // `number` is CAP_… of linux/capability.h.
  explicit Capability(std::uint32_t number) : number_(number) {}

  // Sets or clears the effective bit. Returns false if capset(2) fails.
  bool enable(bool effective) const;
  // Drops the capability permanently. Returns false if capset(2) fails.
  bool give_up() const;

 private:
  const std::uint32_t number_;
};

// Makes programs that this thread starts from now on run without its capabilities, unless they run as root.
void clear_inheritable_caps();

}  // namespace memoir
