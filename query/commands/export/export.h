#pragma once

// memoir export: recorded data for other programs. export.cpp parses the query. rows.cpp writes series as CSV and JSON
// lines, and openmetrics.cpp writes them for Prometheus. snapshot.cpp writes one time in ChromeOS's formats. fleet.cpp
// selects the series of a machine in a fleet, families.cpp names them, and textfile.cpp writes their current values.
//
// A series has one sample per tick. With a step, it has only the first tick of each step, without interpolation. Where
// ticks have expired, it has one sample per rollup bucket: the mean, at the start of the bucket. It is read and written
// a few hours at a time, so that neither memory nor a transaction grows with the range.

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

struct ExportQuery {
  std::vector<ExportOf> subjects;  // one, except for OpenMetrics
  Range range;                     // within the recorded time
  std::int64_t step_ms = 0;        // 0: every tick
  Filter filter;
  std::string labels;  // OpenMetrics: labels of all series
  Tier tier = {};
  std::size_t max_bytes = std::size_t{64} << 20U;  // OpenMetrics: maximum memory of the series of one pass
};

// A part of the range, with the ticks to sample in it.
struct ExportChunk {
  Range range;
  std::vector<std::int64_t> ticks;    // ascending; for a rollup the starts of its buckets
  std::vector<std::int64_t> boot_ms;  // boot-clock time of each tick; 0 for a rollup
  std::set<std::int64_t> ends;        // ticks before a gap
  Tier tier = {};
};

// Returns at most `most` ticks of a chunk, starting with the tick `first`.
ExportChunk part_of(const ExportChunk& chunk, std::size_t first, std::size_t most);

// Visits the chunks in order. After the wall clock was set back, omits the ticks until it passes the latest time:
// `visit` never gets a time twice. Returns the number of omitted ticks.
Result<std::int64_t> for_each_chunk(Reader& reader, const ExportQuery& question,
                                    const std::function<Status(const ExportChunk&)>& visit);

// Turns intervals in time order into samples at ticks. Value is the value of an interval, Key identifies the subject.
template <typename Key, typename Value>
class Resampler {
 public:
  // `emit` gets the samples in tick order, and in key order within a tick.
  using Emit = std::function<void(std::size_t tick, const Key&, const Value&)>;

  Resampler(const ExportChunk& chunk, Emit emit) : chunk_(chunk), emit_(std::move(emit)) {}

  void add(const Key& key, std::int64_t at_ms, std::int64_t until_ms, const Value& value) {
    // If the wall clock was set back, all samples up to the latest time are complete.
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
    // At the end of its interval, a value is no longer valid, unless recording ended there.
    return tick_ms < held.until_ms || tick_ms == held.at_ms || chunk_.ends.contains(tick_ms);
  }
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

struct ExportedProcess {
  std::int64_t at_ms = 0;
  const StoredProcess& process;
  MetricValues kib;                       // for a bucket: means over the process's lifetime, without hwm
  const ProcessSample* sample = nullptr;  // the complete sample of a tick; nullptr for a bucket
  std::int64_t boot_ms = 0;               // boot-clock time of the tick
};

// Emit the samples of a chunk: of its processes (filtered), its categories, or the machine. A sample has the values of
// a tick, or the means of a rollup bucket. A rollup of the machine has only the fields of /proc/meminfo.
using EmitProcess = std::function<void(const ExportedProcess&)>;
using EmitCategory = std::function<void(std::int64_t at_ms, const GroupState&)>;
using EmitMachine = std::function<void(std::int64_t at_ms, const MachineMemory&)>;
Status sample_processes(Reader& reader, const ExportChunk& chunk, const Filter& filter, const EmitProcess& emit);
Status sample_categories(Reader& reader, const ExportChunk& chunk, const EmitCategory& emit);
Status sample_machine(Reader& reader, const ExportChunk& chunk, const EmitMachine& emit);

// Write the samples to `sink`. Return the number of omitted ticks.
Result<std::int64_t> export_rows(const Context& context, const ExportQuery& question, const Sink& sink);
Result<std::int64_t> export_openmetrics(const Context& context, const ExportQuery& question, const Sink& sink);

// Return the state of a tick as JSON. Add a warning for each kind of omitted data to `warnings`.
Result<std::string> rollup_json(const State& state, const Filter& filter, std::vector<std::string>& warnings);
// `suffix` is inserted between a category and its metric: other_login_pss.
Result<std::string> category_metrics_json(const State& state, const Filter& filter, std::string_view suffix,
                                          std::vector<std::string>& warnings);

}  // namespace memoir::query
