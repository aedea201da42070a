#pragma once

// A step of a schedule is a line of text: a verb and words, mostly numbers. Processes are identified by serial numbers.
//
//   profile INTERVAL_MS READ_SHARE_PPM MIN_EXIT_PEAK_KIB   how the recorder is configured
//   object ID anon|file|shmem UNITS          wait MS           clock MS (steps the wall clock)
//   start SERIAL PARENT COMM UNITS UID CGROUP                  fork PARENT CHILD
//   exec SERIAL COMM UNITS                   exit SERIAL CODE  oom SERIAL
//   resize SERIAL UNITS                      write SERIAL (copy on write)
//   map SERIAL OBJECT                        unmap SERIAL OBJECT
//   swap-out SERIAL UNITS                    swap-in SERIAL    swap-object OBJECT UNITS
//   odd FILE SERIAL KEY VALUE                malformed line at the next tick; SERIAL 0: machine file
//   record, stop, crash                      the recorder     tick, scan

#include <cstdint>
#include <string>
#include <vector>

#include "world/world.h"

namespace memoir::world {

class Step {
 public:
  explicit Step(const std::string& line);

  const std::string& verb() const { return words_.front(); }
  // Returns a word after the verb; throws if it is missing.
  const std::string& word(std::size_t at) const { return words_.at(at + 1); }
  std::int64_t number(std::size_t at) const { return std::stoll(word(at)); }
  int serial(std::size_t at) const { return static_cast<int>(number(at)); }
  std::int64_t kib(std::size_t at) const { return number(at) * kUnitKib; }

 private:
  std::vector<std::string> words_;
};

// Applies a step that changes the world. Returns false for any other step, and if the step's subject does not exist.
bool apply(World& world, const Step& step, std::int64_t boot_ms);

}  // namespace memoir::world
