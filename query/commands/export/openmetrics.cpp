// OpenMetrics 1.0 text (prometheus.io/docs/specs/om/open_metrics_spec): families one after the other, in a family the
// samples of one label set together and in order of time, "# EOF" at the end.

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <limits>
#include <utility>

#include "query/commands/export/export.h"
#include "query/commands/export/families.h"
#include "query/commands/export/fleet.h"
#include "query/history/tier.h"
#include "query/leaks/judged_leaks.h"

namespace memoir::query {
namespace {

// A value that held at consecutive ticks.
struct Stretch {
  std::uint32_t first = 0;  // of all ticks written
  std::uint32_t last = 0;
  std::int64_t value = 0;
};

using Stretches = std::vector<Stretch>;
using Series = std::map<std::string, Stretches>;  // by labels

void note(Stretches& stretches, std::uint32_t tick, std::int64_t value) {
  if (!stretches.empty() && stretches.back().value == value && stretches.back().last + 1 == tick) {
    stretches.back().last = tick;
  } else {
    stretches.push_back({tick, tick, value});
  }
}

std::string labels_of(const std::string& common, const StoredProcess& process) {
  const ProcessInfo& info = process.info;
  std::string labels =
      fmt::format("{},pid=\"{}\",start=\"{}.{:03}\"", common, info.key.pid, info.start_ms / 1000, info.start_ms % 1000);
  if (info.key.exec_count > 0) labels += fmt::format(",exec=\"{}\"", info.key.exec_count);
  return fmt::format("{},{},{},{},{}", labels, label("comm", info.comm), label("user", info.user),
                     label("category", info.category), label("cgroup", info.cgroup));
}

// Values of a run of families and, within them, of subjects: as many from where it begins as fit the memory.
class SampleRun {
 public:
  using Key = std::pair<std::size_t, std::int64_t>;  // number of the family, and of the subject

  explicit SampleRun(std::size_t most) : most_(most) {}

  template <typename Labels>
  void add(const Key& key, std::uint32_t tick, std::int64_t value, const Labels& labels) {
    if (key < from_ || (until_ && key >= *until_)) return;
    const auto [found, fresh] = held_.try_emplace(key);
    auto& [name, stretches] = found->second;
    if (fresh) name = labels();
    const std::size_t before = stretches.size();
    note(stretches, tick, value);
    count_ += stretches.size() - before;
    while (count_ > most_ && held_.size() > 1) leave_out_the_last();
  }

  std::map<std::size_t, Series> take() {
    std::map<std::size_t, Series> families;
    for (auto& [key, named] : held_) families[key.first].emplace(std::move(named));
    held_.clear();
    count_ = 0;
    return families;
  }

  // To what did not fit; false where all did.
  bool go_on() {
    if (!until_) return false;
    from_ = *std::exchange(until_, std::nullopt);
    return true;
  }

 private:
  void leave_out_the_last() {
    const auto last = std::prev(held_.end());
    until_ = last->first;
    count_ -= last->second.second.size();
    held_.erase(last);
  }

  std::size_t most_;
  Key from_{0, std::numeric_limits<std::int64_t>::min()};
  std::optional<Key> until_;  // where the next begins
  std::map<Key, std::pair<std::string, Stretches>> held_;
  std::size_t count_ = 0;  // of their stretches
};

class Writer {
 public:
  Writer(const Context& context, const ExportQuestion& question, const Sink& sink)
      : context_(context), question_(question), sink_(sink) {}

  Status machine() {
    const auto labels = [this] { return question_.labels; };
    return write_all(machine_families(), [&](const ExportChunk& chunk, std::uint32_t first, SampleRun& part) {
      return sample_machine(context_.reader, chunk, [&](std::int64_t at_ms, const MachineMemory& memory) {
        const std::uint32_t tick = number_of(chunk, first, at_ms);
        visit_machine(memory, [&](std::size_t family, std::int64_t value) {
          part.add({family, 0}, tick, value, labels);
        });
      });
    });
  }

  Status categories() {
    std::vector<Family> families = category_families();
    // Means have no count of those that are not exact.
    if (bucket_width(question_.tier)) families.pop_back();
    std::map<std::string, std::int64_t> numbers;
    return write_all(families, [&](const ExportChunk& chunk, std::uint32_t first, SampleRun& part) {
      return sample_categories(context_.reader, chunk, [&](std::int64_t at_ms, const GroupState& held) {
        const std::uint32_t tick = number_of(chunk, first, at_ms);
        const std::int64_t number = numbers.emplace(held.name, numbers.size()).first->second;
        const auto labels = [&] { return fmt::format("{},{}", question_.labels, label("category", held.name)); };
        visit_category(held, [&](std::size_t family, std::int64_t value) {
          part.add({family, number}, tick, value, labels);
        });
      });
    });
  }

  Status processes() {
    std::vector<Metric> metrics;
    std::vector<Family> families;
    for (const Metric metric : kMetrics) {
      if (!holds_metric(question_.tier, metric)) continue;
      metrics.push_back(metric);
      families.push_back({fmt::format("memoir_process_{}_bytes", to_string(metric)), std::string(metric_title(metric)),
                          "bytes", false, 1024});
    }
    return write_all(families, [&](const ExportChunk& chunk, std::uint32_t first, SampleRun& part) {
      return sample_processes(context_.reader, chunk, question_.filter, [&](const ExportedProcess& row) {
        const std::uint32_t tick = number_of(chunk, first, row.at_ms);
        const auto labels = [&] { return labels_of(question_.labels, row.process); };
        for (std::size_t i = 0; i < metrics.size(); ++i) {
          if (const auto value = row.kib[metrics[i]]) part.add({i, row.process.id}, tick, *value, labels);
        }
      });
    });
  }

  // As they would have been written at each of the ticks. What leaks is judged once an hour.
  Status fleet() {
    std::vector<std::string> warnings;
    const LeakSettings settings = TRY(leak_settings(context_.options, warnings));
    const std::size_t most = fleet_rows(context_.options);
    std::map<std::int64_t, FleetLeaks> judged;  // by the hours that they hold for
    std::map<std::string, std::int64_t> numbers;
    std::optional<std::int64_t> before_ms;
    return write_all(fleet_families(), [&](const ExportChunk& chunk, std::uint32_t first, SampleRun& part) -> Status {
      if (first == 0) before_ms.reset();
      for (const std::int64_t tick_ms : chunk.ticks) {
        const std::int64_t hour = tick_ms / settings.hour_ms;
        if (!judged.contains(hour))
          judged[hour] = TRY(judge_leaks(context_, tick_ms, settings, most, question_.labels));
        const FleetQuestion question{tick_ms, before_ms, most, question_.labels, question_.tier};
        const FleetAnswer answer = TRY(fleet_at(context_, question, judged[hour]));
        for (const FleetSample& sample : answer.samples) {
          const std::int64_t number = numbers.emplace(sample.labels, numbers.size()).first->second;
          part.add({sample.family, number}, number_of(chunk, first, tick_ms), sample.value,
                   [&sample] { return sample.labels; });
        }
        before_ms = tick_ms;
      }
      return Done{};
    });
  }

  std::int64_t left_out() const { return left_out_; }

 private:
  // Writes the families, in as many passes as it takes for what is held to fit the memory. `sample` gets each chunk,
  // and the number of its first tick.
  Status write_all(const std::vector<Family>& families,
                   const std::function<Status(const ExportChunk&, std::uint32_t first, SampleRun&)>& sample) {
    SampleRun part(question_.most_held);
    std::size_t begun = 0;  // families
    do {
      ticks_.clear();
      left_out_ = TRY(for_each_chunk(context_.reader, question_, [&](const ExportChunk& chunk) -> Status {
        const auto first = static_cast<std::uint32_t>(ticks_.size());
        ticks_.insert(ticks_.end(), chunk.ticks.begin(), chunk.ticks.end());
        return sample(chunk, first, part);
      }));
      for (auto& [family, series] : part.take()) {
        if (family >= begun) {
          TRY(write_head(families[family]));
          begun = family + 1;
        }
        TRY(write_samples(families[family], series));
      }
    } while (part.go_on());
    return Done{};
  }

  Status write_head(const Family& family) {
    std::string text = fmt::format("# TYPE {} {}\n", family.name, family.counter ? "counter" : "gauge");
    if (!family.unit.empty()) text += fmt::format("# UNIT {} {}\n", family.name, family.unit);
    return sink_(text + fmt::format("# HELP {} {}\n", family.name, family.help));
  }

  Status write_samples(const Family& family, const Series& series) {
    std::string text;
    for (const auto& [labels, stretches] : series) {
      const std::string head = fmt::format("{}{{{}}} ", series_name(family), labels);
      for (const Stretch& stretch : stretches) {
        const double value = static_cast<double>(stretch.value) * family.scale;
        for (std::uint32_t tick = stretch.first; tick <= stretch.last; ++tick) {
          const std::int64_t at_ms = ticks_[tick];
          fmt::format_to(std::back_inserter(text), "{}{} {}.{:03}\n", head, value, at_ms / 1000, at_ms % 1000);
        }
      }
      constexpr std::size_t enough = 65'536;
      if (text.size() < enough) continue;
      TRY(sink_(text));
      text.clear();
    }
    return sink_(text);
  }

  std::uint32_t number_of(const ExportChunk& chunk, std::uint32_t first, std::int64_t tick_ms) const {
    const auto found = std::ranges::lower_bound(chunk.ticks, tick_ms);
    return first + static_cast<std::uint32_t>(found - chunk.ticks.begin());
  }

  const Context& context_;
  const ExportQuestion& question_;
  const Sink& sink_;
  std::vector<std::int64_t> ticks_;
  std::int64_t left_out_ = 0;
};
}  // namespace

Result<std::int64_t> export_openmetrics(const Context& context, const ExportQuestion& question, const Sink& sink) {
  Writer writer(context, question, sink);
  for (const ExportOf subject : question.subjects) {
    TRY(subject == ExportOf::machine      ? writer.machine()
        : subject == ExportOf::categories ? writer.categories()
        : subject == ExportOf::fleet      ? writer.fleet()
                                          : writer.processes());
  }
  TRY(sink("# EOF\n"));
  return writer.left_out();
}

}  // namespace memoir::query
