#pragma once

// What smaps_rollup and each region of smaps have in common: the lines of the rollup fields. For the parsers of the
// two.

#include "model/process.h"
#include "proc/key_lines.h"

namespace memoir {

class RollupLines {
 public:
  enum class Line { unknown, known, bad };

  // Sets the field that the line is of. An unknown line is passed over, a known one that is not a whole "N kB" is bad.
  Line read(const KeyLine& line, ProcessMemory& memory) {
    const auto field = cursor_.find(line.key);
    if (!field) return Line::unknown;
    const auto kib = line.kib();
    if (!kib) return Line::bad;
    memory.set(static_cast<ProcessField>(*field), *kib);
    return Line::known;
  }

  // The field of the known line that was read last.
  ProcessField last() const { return static_cast<ProcessField>(cursor_.last()); }
  // The field whose line is the next, if the text goes on as the last one did; pass() takes it for read.
  ProcessField next() const { return static_cast<ProcessField>(cursor_.next()); }
  void pass() { cursor_.pass(); }

 private:
  static constexpr auto kKeys = key_table<0, kRollupFields>(kProcessFields);

  KeyCursor<kRollupFields> cursor_{kKeys};
};

}  // namespace memoir
