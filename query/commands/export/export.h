#pragma once

// memoir export: what was recorded, for other programs. export.cpp reads the question; rows.cpp writes series as
// CSV and JSON lines, openmetrics.cpp for Prometheus, snapshot.cpp one time in ChromeOS's shapes. fleet.cpp says what
// machines of a fleet tell of themselves, families.cpp what those series are called; textfile.cpp writes them as they
// are now.
//
// A series has one sample per tick, or with a step the first tick of each step: real ticks, nothing in between. Where
// the ticks are gone it has one per bucket of a rollup: its mean, at its begin. It is written as
// it is read, a few hours at a time, so that neither our memory nor a transaction grows with the range.

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "query/args/filter.h"
#include "query/state/command.h"
#include "query/state/state.h"

namespace memoir::query {

enum class ExportOf { machine, categories, processes, fleet };

struct ExportQuestion {
  std::vector<ExportOf> subjects;  // one, but for OpenMetrics
  Range range;                     // within what is recorded
  std::int64_t step_ms = 0;        // 0: every tick
  Filter filter;
  std::string labels;  // OpenMetrics: that all series have
  Tier tier = {};
  std::size_t most_held = 1'000'000;  // OpenMetrics: values held in memory at one time
};

// A part of the range, and the ticks to sample in it.
struct ExportChunk {
  Range range;
  std::vector<std::int64_t> ticks;  // ascending; of a rollup the begins of its buckets
  std::set<std::int64_t> ends;      // ticks after which nothing was recorded for a while
  Tier tier = {};
};

// In order. Ticks that come at or before an earlier one, because the wall clock was set back, are left out: `visit`
// never sees a time twice. Returns how many those are.
Result<std::int64_t> for_each_chunk(Reader& reader, const ExportQuestion& question,
                                    const std::function<Status(const ExportChunk&)>& visit);

// Turns intervals, which come in order of time, into samples at ticks. Value is what one holds, Key what tells subjects
// apart.
template <typename Key, typename Value>
class Resampler {
 public:
  // `emit` gets the samples in the order of ticks, and of keys within a tick.
  using Emit = std::function<void(std::size_t tick, const Key&, const Value&)>;

  Resampler(const ExportChunk& chunk, Emit emit) : chunk_(chunk), emit_(std::move(emit)) {}

  void add(const Key& key, std::int64_t at_ms, std::int64_t until_ms, const Value& value) {
    // Where the wall clock was set back, what came before it is done with.
    flush(at_ms < last_ms_ ? last_ms_ + 1 : at_ms);
    last_ms_ = at_ms;
    held_.insert_or_assign(key, Held{at_ms, until_ms, value});
  }
  void finish() { flush(chunk_.range.to_ms + 1); }

 private:
  struct Held {
    std::int64_t at_ms;
    std::int64_t until_ms;
    Value value;
  };

  bool holds(const Held& held, std::int64_t tick_ms) const {
    if (tick_ms < held.at_ms || tick_ms > held.until_ms) return false;
    // At its very end another or nothing takes its place, unless recording ended there.
    return tick_ms < held.until_ms || tick_ms == held.at_ms || chunk_.ends.contains(tick_ms);
  }
  // Emits the ticks before `end_ms`.
  void flush(std::int64_t end_ms) {
    for (; next_ < chunk_.ticks.size() && chunk_.ticks[next_] < end_ms; ++next_) {
      std::erase_if(held_, [&](const auto& entry) { return entry.second.until_ms < chunk_.ticks[next_]; });
      for (const auto& [key, held] : held_) {
        if (holds(held, chunk_.ticks[next_])) emit_(next_, key, held.value);
      }
    }
  }

  const ExportChunk& chunk_;
  Emit emit_;
  std::map<Key, Held> held_;
  std::size_t next_ = 0;
  std::int64_t last_ms_ = 0;
};

// One process at one time.
struct ExportedProcess {
  std::int64_t at_ms = 0;
  const StoredProcess& process;
  MetricValues kib;                       // of a bucket means over the time that it lived, without hwm
  const ProcessSample* sample = nullptr;  // of a tick: all of it
};

// The samples of a chunk's processes that the filter takes, of its categories, or of the machine: of its ticks, or
// means of the buckets of a rollup. Of the machine a rollup has the fields of /proc/meminfo.
using EmitProcess = std::function<void(const ExportedProcess&)>;
using EmitCategory = std::function<void(std::int64_t at_ms, const GroupState&)>;
using EmitMachine = std::function<void(std::int64_t at_ms, const MachineMemory&)>;
Status sample_processes(Reader& reader, const ExportChunk& chunk, const Filter& filter, const EmitProcess& emit);
Status sample_categories(Reader& reader, const ExportChunk& chunk, const EmitCategory& emit);
Status sample_machine(Reader& reader, const ExportChunk& chunk, const EmitMachine& emit);

// What is written to `sink`, and the ticks left out.
Result<std::int64_t> export_rows(const Context& context, const ExportQuestion& question, const Sink& sink);
Result<std::int64_t> export_openmetrics(const Context& context, const ExportQuestion& question, const Sink& sink);

// One state as text. `warnings` gets what had to be left out.
Result<std::string> rollup_json(const MachineMemory& machine, const TickState& tick, const Filter& filter,
                                std::vector<std::string>& warnings);
Result<std::string> category_metrics_json(const MachineMemory& machine, const TickState& tick, const Filter& filter,
                                          std::vector<std::string>& warnings);

}  // namespace memoir::query
