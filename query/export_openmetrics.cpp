// OpenMetrics 1.0 text (prometheus.io/docs/specs/om/open_metrics_spec): families one after the other, in a family the
// samples of one label set together and in order of time, "# EOF" at the end.

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <limits>
#include <utility>

#include "analysis/metric.h"
#include "base/text.h"
#include "query/export.h"

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

struct Family {
  std::string name;
  std::string help;
  std::string_view unit;  // bytes, seconds, ratio; empty: a count
  bool counter = false;
  double scale = 1;  // from what is stored
};

void note(Stretches& stretches, std::uint32_t tick, std::int64_t value) {
  if (!stretches.empty() && stretches.back().value == value && stretches.back().last + 1 == tick) {
    stretches.back().last = tick;
  } else {
    stretches.push_back({tick, tick, value});
  }
}

std::string label(std::string_view name, std::string_view value) {
  std::string out = fmt::format("{}=\"", name);
  for (const char c : to_utf8(value)) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string labels_of(const std::string& host, const StoredProcess& process) {
  const ProcessInfo& info = process.info;
  std::string labels = fmt::format("{},pid=\"{}\",start=\"{}.{:03}\"", label("host", host), info.key.pid,
                                   info.start_ms / 1000, info.start_ms % 1000);
  if (info.key.exec_count > 0) labels += fmt::format(",exec=\"{}\"", info.key.exec_count);
  return fmt::format("{},{},{},{},{}", labels, label("comm", info.comm), label("user", info.user),
                     label("category", info.category), label("cgroup", info.cgroup));
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// From the name that the store has for it: its ending tells the unit.
Family machine_family(const FieldName& field) {
  std::string_view column = field.column;
  Family family{"", field.key, "", false, 1};
  const auto named = [&](std::string_view suffix, std::string_view unit, double scale) {
    family.name = fmt::format("memoir_machine_{}_{}", column.substr(0, column.size() - suffix.size()), unit);
    family.unit = unit;
    family.scale = scale;
  };
  if (ends_with(column, "_kib")) {
    named("_kib", "bytes", 1024);
  } else if (ends_with(column, "_bp")) {
    named("_bp", "ratio", 1e-4);
  } else if (ends_with(column, "_total_us")) {
    named("_total_us", "seconds", 1e-6);
    family.counter = true;
  } else {
    family.name = fmt::format("memoir_machine_{}", column);
    family.counter = column != "workingset_nodes";  // a number of nodes, that of /proc/vmstat's others of events
  }
  return family;
}

class Writer {
 public:
  Writer(const Context& context, const ExportQuestion& question, const Sink& sink)
      : context_(context), question_(question), sink_(sink) {}

  Status machine();
  Status categories();
  Status processes();
  std::int64_t left_out() const { return left_out_; }

 private:
  // Goes through all chunks; `sample` gets each, and the number of its first tick.
  Status gather(const std::function<Status(const ExportChunk&, std::uint32_t first)>& sample);
  Status write_head(const Family& family);
  Status write(const Family& family, const Series& series);
  Status write_samples(const Family& family, const Series& series);
  Status machine_fields(std::size_t first, std::size_t last);
  struct Members;
  Status gather_members(Metric metric, Members& part);
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

Status Writer::gather(const std::function<Status(const ExportChunk&, std::uint32_t first)>& sample) {
  ticks_.clear();
  const Result<std::int64_t> left_out =
      for_each_chunk(context_.reader, question_, [&](const ExportChunk& chunk) -> Status {
        const auto first = static_cast<std::uint32_t>(ticks_.size());
        ticks_.insert(ticks_.end(), chunk.ticks.begin(), chunk.ticks.end());
        return sample(chunk, first);
      });
  if (!left_out) return left_out.error();
  left_out_ = *left_out;
  return Done{};
}

Status Writer::write_head(const Family& family) {
  std::string text = fmt::format("# TYPE {} {}\n", family.name, family.counter ? "counter" : "gauge");
  if (!family.unit.empty()) text += fmt::format("# UNIT {} {}\n", family.name, family.unit);
  return sink_(text + fmt::format("# HELP {} {}\n", family.name, family.help));
}

Status Writer::write(const Family& family, const Series& series) {
  if (series.empty()) return Done{};
  const Status written = write_head(family);
  return written ? write_samples(family, series) : written;
}

Status Writer::write_samples(const Family& family, const Series& series) {
  std::string text;
  for (const auto& [labels, stretches] : series) {
    const std::string head = fmt::format("{}{}{{{}}} ", family.name, family.counter ? "_total" : "", labels);
    for (const Stretch& stretch : stretches) {
      const double value = static_cast<double>(stretch.value) * family.scale;
      for (std::uint32_t tick = stretch.first; tick <= stretch.last; ++tick) {
        const std::int64_t at_ms = ticks_[tick];
        fmt::format_to(std::back_inserter(text), "{}{} {}.{:03}\n", head, value, at_ms / 1000, at_ms % 1000);
      }
    }
    constexpr std::size_t enough = 65'536;
    if (text.size() < enough) continue;
    const Status written = sink_(text);
    if (!written) return written.error();
    text.clear();
  }
  return sink_(text);
}

// A few fields at a time: all of them over a week would not fit the memory.
Status Writer::machine() {
  constexpr std::size_t at_once = 16;
  const std::size_t all = kMachineFields.size() + 1;
  for (std::size_t first = 0; first < all; first += at_once) {
    const Status written = machine_fields(first, std::min(first + at_once, all));
    if (!written) return written.error();
  }
  return Done{};
}

// The first is what is used; then come those that the kernel tells.
Status Writer::machine_fields(std::size_t first, std::size_t last) {
  std::vector<Series> series(last - first);
  const std::string labels = label("host", question_.host);
  const Status gathered = gather([&](const ExportChunk& chunk, std::uint32_t first_tick) {
    return sample_machine(context_.reader, chunk, [&](std::int64_t at_ms, const MachineMemory& memory) {
      const std::uint32_t tick = number_of(chunk, first_tick, at_ms);
      for (std::size_t i = first; i < last; ++i) {
        const auto value = i == 0 ? used_kib(memory) : memory.get(static_cast<MachineField>(i - 1));
        if (value) note(series[i - first][labels], tick, *value);
      }
    });
  });
  if (!gathered) return gathered.error();
  const Family used{"memoir_machine_used_bytes", "MemTotal less MemAvailable", "bytes", false, 1024};
  for (std::size_t i = first; i < last; ++i) {
    const Status written = write(i == 0 ? used : machine_family(kMachineFields[i - 1]), series[i - first]);
    if (!written) return written.error();
  }
  return Done{};
}

Status Writer::categories() {
  struct Part {
    Family family;
    std::int64_t CategorySample::*member;
  };
  const std::vector<Part> parts{
      {{"memoir_category_pss_bytes", "PSS of its processes", "bytes", false, 1024}, &CategorySample::pss_kib},
      {{"memoir_category_rss_bytes", "RSS of its processes", "bytes", false, 1024}, &CategorySample::rss_kib},
      {{"memoir_category_uss_bytes", "USS of its processes", "bytes", false, 1024}, &CategorySample::uss_kib},
      {{"memoir_category_swap_bytes", "swap of its processes", "bytes", false, 1024}, &CategorySample::swap_kib},
      {{"memoir_category_swap_pss_bytes", "SwapPss of its processes", "bytes", false, 1024},
       &CategorySample::swap_pss_kib},
      {{"memoir_category_processes", "processes in it", "", false, 1}, &CategorySample::processes},
      {{"memoir_category_inexact_processes", "of them, those whose values are not exact", "", false, 1},
       &CategorySample::inexact},
  };
  // How many are not exact, which comes last, is not in rollups.
  std::vector<Series> series(parts.size() - (question_.tier == Tier::raw ? 0 : 1));
  const Status gathered = gather([&](const ExportChunk& chunk, std::uint32_t first) {
    return sample_categories(context_.reader, chunk, [&](std::int64_t at_ms, const CategorySample& sample) {
      const std::uint32_t tick = number_of(chunk, first, at_ms);
      const std::string labels =
          fmt::format("{},{}", label("host", question_.host), label("category", sample.category));
      for (std::size_t i = 0; i < series.size(); ++i) note(series[i][labels], tick, sample.*parts[i].member);
    });
  });
  if (!gathered) return gathered.error();
  for (std::size_t i = 0; i < series.size(); ++i) {
    const Status written = write(parts[i].family, series[i]);
    if (!written) return written.error();
  }
  return Done{};
}

// Processes by their number: from from_id on, and before until_id.
struct Writer::Members {
  static constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();

  std::int64_t from_id = std::numeric_limits<std::int64_t>::min();
  std::int64_t until_id = kAll;
  std::map<std::int64_t, std::pair<std::string, Stretches>> by_id;
};

// As many processes from from_id on as fit the memory; until_id tells where the next part begins.
Status Writer::gather_members(Metric metric, Members& part) {
  std::size_t held = 0;
  const auto add = [&](const StoredProcess& process, std::uint32_t tick, std::int64_t value) {
    if (process.id < part.from_id || process.id >= part.until_id) return;
    auto& [labels, stretches] = part.by_id[process.id];
    if (labels.empty()) labels = labels_of(question_.host, process);
    const std::size_t before = stretches.size();
    note(stretches, tick, value);
    held += stretches.size() - before;
    while (held > question_.most_held && part.by_id.size() > 1) {
      const auto last = std::prev(part.by_id.end());
      held -= last->second.second.size();
      part.until_id = last->first;
      part.by_id.erase(last);
    }
  };
  return gather([&](const ExportChunk& chunk, std::uint32_t first) {
    return sample_processes(context_.reader, chunk, question_.filter,
                            [&](std::int64_t at_ms, const StoredProcess& process, const ProcessSample& sample) {
                              const auto value = metric_kib(sample.memory, metric);
                              if (value) add(process, number_of(chunk, first, at_ms), *value);
                            });
  });
}

// One metric at a time, and of that as many processes as fit the memory: the others are read in another pass.
Status Writer::processes() {
  for (const Metric metric : kMetrics) {
    if (metric == Metric::hwm && question_.tier != Tier::raw) continue;
    const Family family{fmt::format("memoir_process_{}_bytes", to_string(metric)), std::string(metric_title(metric)),
                        "bytes", false, 1024};
    bool begun = false;
    Members part;
    while (part.from_id != Members::kAll) {
      const Status gathered = gather_members(metric, part);
      if (!gathered) return gathered.error();
      Series series;
      for (auto& [id, named] : part.by_id) series.emplace(std::move(named));
      const Status written = begun ? write_samples(family, series) : write(family, series);
      if (!written) return written.error();
      begun = begun || !series.empty();
      part.by_id.clear();
      part.from_id = std::exchange(part.until_id, Members::kAll);
    }
  }
  return Done{};
}

}  // namespace

Result<std::int64_t> export_openmetrics(const Context& context, const ExportQuestion& question, const Sink& sink) {
  Writer writer(context, question, sink);
  for (const ExportOf subject : question.subjects) {
    const Status written = subject == ExportOf::machine      ? writer.machine()
                           : subject == ExportOf::categories ? writer.categories()
                                                             : writer.processes();
    if (!written) return written.error();
  }
  const Status ended = sink("# EOF\n");
  if (!ended) return ended.error();
  return writer.left_out();
}

}  // namespace memoir::query
