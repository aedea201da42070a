// OpenMetrics 1.0 text (prometheus.io/docs/specs/om/open_metrics_spec): families one after the other, within a family
// the samples of one label set together and in time order, "# EOF" at the end.

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <limits>
#include <memory>
#include <unordered_map>
#include <utility>

#include "query/commands/export/export.h"
#include "query/commands/export/families.h"
#include "query/commands/export/fleet.h"
#include "query/leaks/judged_leaks.h"

namespace memoir::query {
namespace {

// A constant value at consecutive ticks.
struct Stretch {
  std::uint32_t first = 0;  // index among all ticks written
  std::uint32_t last = 0;
  std::int64_t value = 0;
};

using Stretches = std::vector<Stretch>;

struct LabeledSeries {
  std::shared_ptr<const std::string> labels;  // labels of the subject; its families share one text
  Stretches stretches = {};
};

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

// Collects the values of consecutive families and, within a family, of consecutive subjects: as many as fit into
// memory. The labels depend only on the subject.
class SampleRun {
 public:
  using Key = std::pair<std::size_t, std::int64_t>;  // family number and subject number

  explicit SampleRun(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  template <typename Labels>
  void add(const Key& key, std::uint32_t tick, std::int64_t value, const Labels& labels) {
    if (key < from_ || (until_ && key >= *until_)) return;
    const auto [found, fresh] = held_.try_emplace(key);
    LabeledSeries& series = found->second;
    const std::size_t before = fresh ? 0 : bytes_of(series);
    if (fresh) series.labels = labels_of(key.second, labels);
    note(series.stretches, tick, value);
    bytes_ += bytes_of(series) - before;
    while (bytes_ > max_bytes_ && held_.size() > 1) leave_out_the_last();
  }

  // Returns the series of each family, sorted by their labels.
  std::map<std::size_t, std::vector<LabeledSeries>> take() {
    std::map<std::size_t, std::vector<LabeledSeries>> families;
    for (auto& [key, series] : held_) families[key.first].push_back(std::move(series));
    for (auto& [family, all] : families)
      std::ranges::sort(all, {}, [](const LabeledSeries& series) -> const std::string& { return *series.labels; });
    held_.clear();
    labels_.clear();
    bytes_ = 0;
    return families;
  }

  // Continues with the values that did not fit. Returns false if all have been collected.
  bool go_on() {
    if (!until_) return false;
    from_ = *std::exchange(until_, std::nullopt);
    return true;
  }

 private:
  // Includes the nodes of both maps. The families of a subject share its labels, so each counts a part of them.
  static std::size_t bytes_of(const LabeledSeries& series) {
    constexpr std::size_t nodes = 256;
    return nodes + series.labels->size() / kMetrics.size() + series.stretches.capacity() * sizeof(Stretch);
  }

  template <typename Labels>
  std::shared_ptr<const std::string> labels_of(std::int64_t subject, const Labels& labels) {
    std::weak_ptr<const std::string>& known = labels_[subject];
    std::shared_ptr<const std::string> text = known.lock();
    if (text == nullptr) known = text = std::make_shared<const std::string>(labels());
    return text;
  }

  void leave_out_the_last() {
    const auto last = std::prev(held_.end());
    until_ = last->first;
    bytes_ -= bytes_of(last->second);
    held_.erase(last);
  }

  std::size_t max_bytes_;
  Key from_{0, std::numeric_limits<std::int64_t>::min()};
  std::optional<Key> until_;  // start of the next run
  std::map<Key, LabeledSeries> held_;
  std::unordered_map<std::int64_t, std::weak_ptr<const std::string>> labels_;  // labels by subject number
  std::size_t bytes_ = 0;
};

class Writer {
 public:
  Writer(const Context& context, const ExportQuery& question, const Sink& sink)
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
    std::map<std::string, std::int64_t> numbers;
    return write_all(category_families(), [&](const ExportChunk& chunk, std::uint32_t first, SampleRun& part) {
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
    const auto families = transformed(kMetrics, [](Metric metric) {
      return Family{fmt::format("memoir_process_{}_bytes", to_string(metric)), std::string(metric_title(metric)),
                    "bytes", false, 1024};
    });
    return write_all(families, [&](const ExportChunk& chunk, std::uint32_t first, SampleRun& part) {
      return sample_processes(context_.reader, chunk, question_.filter, [&](const ExportedProcess& row) {
        const std::uint32_t tick = number_of(chunk, first, row.at_ms);
        const auto labels = [&] { return labels_of(question_.labels, row.process); };
        for (std::size_t i = 0; i < kMetrics.size(); ++i) {
          if (const auto value = row.kib[kMetrics[i]]) part.add({i, row.process.id}, tick, *value, labels);
        }
      });
    });
  }

  // Writes the series as --textfile would have written them at each tick. Leaks are judged once an hour.
  Status fleet() {
    std::vector<std::string> warnings;
    const LeakSettings settings = TRY(leak_settings(context_.options, warnings));
    const std::size_t most = fleet_rows(context_.options);
    std::map<std::int64_t, FleetLeaks> judged;  // verdicts by the hour for which they are valid
    std::map<std::string, std::int64_t> numbers;
    std::optional<std::int64_t> before_ms;
    return write_all(fleet_families(), [&](const ExportChunk& chunk, std::uint32_t first, SampleRun& part) -> Status {
      if (first == 0) before_ms.reset();
      for (const std::int64_t tick_ms : chunk.ticks) {
        const std::int64_t hour = tick_ms / settings.hour_ms;
        if (!judged.contains(hour))
          judged[hour] = TRY(judge_leaks(context_, tick_ms, settings, most, question_.labels));
        const FleetQuery question{tick_ms, before_ms, most, question_.labels, question_.tier};
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
  // Writes the families in as many passes as the memory requires. `sample` gets each chunk, and the number of its first
  // tick.
  Status write_all(const std::vector<Family>& families,
                   const std::function<Status(const ExportChunk&, std::uint32_t first, SampleRun&)>& sample) {
    SampleRun part(question_.max_bytes);
    std::size_t begun = 0;  // number of families that have a head
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

  Status write_samples(const Family& family, const std::vector<LabeledSeries>& all) {
    std::string text;
    for (const LabeledSeries& series : all) {
      const std::string head = fmt::format("{}{{{}}} ", series_name(family), *series.labels);
      for (const Stretch& stretch : series.stretches) {
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
  const ExportQuery& question_;
  const Sink& sink_;
  std::vector<std::int64_t> ticks_;
  std::int64_t left_out_ = 0;
};
}  // namespace

Result<std::int64_t> export_openmetrics(const Context& context, const ExportQuery& question, const Sink& sink) {
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
