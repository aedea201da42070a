#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "model/identity.h"
#include "query/commands/cgroups/cgroups.h"
#include "query/history/marks.h"

namespace memoir::query {
namespace {

using Maybe = std::optional<std::int64_t>;

constexpr std::int64_t kUsPerMs = 1000;

template <Maybe CgroupSample::*member>
Maybe held(const CgroupRow& row) {
  return row.now ? (*row.now).*member : std::nullopt;
}

Maybe usage(const CgroupRow& row) {
  return row.now ? std::optional(row.now->current_kib) : std::nullopt;
}

Maybe limit(const CgroupRow& row) {
  const Maybe max = held<&CgroupSample::max_kib>(row);
  return max ? max : held<&CgroupSample::high_kib>(row);
}

// v1 counts those of the cgroup itself only.
Maybe kills(const CgroupRow& row) {
  return row.detail.oom_kills ? row.detail.oom_kills : row.detail.own_oom_kills;
}

template <std::optional<HighWater> CgroupRow::*mark>
Maybe mark_kib(const CgroupRow& row) {
  return row.*mark ? std::optional((row.*mark)->value_kib) : std::nullopt;
}

template <Maybe (*get)(const CgroupRow&)>
std::optional<double> number(const CgroupRow& row) {
  const Maybe value = get(row);
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

// It is read more seldom than usage.
Maybe peak(const CgroupRow& row) {
  return row.detail.peak_kib ? std::max(row.detail.peak_kib, usage(row)) : std::nullopt;
}

constexpr std::array kRanks{
    CgroupRank{"usage", "usage_kib", "usage", number<usage>},
    CgroupRank{"anon", "anon_kib", "anonymous memory", number<held<&CgroupSample::anon_kib>>},
    CgroupRank{"file", "file_kib", "page cache", number<held<&CgroupSample::file_kib>>},
    CgroupRank{"shmem", "shmem_kib", "shared memory", number<held<&CgroupSample::shmem_kib>>},
    CgroupRank{"kernel", "kernel_kib", "kernel memory", number<held<&CgroupSample::kernel_kib>>},
    CgroupRank{"swap", "swap_kib", "swap", number<held<&CgroupSample::swap_kib>>},
    CgroupRank{"limit", "limit_percent", "share of the limit",
               [](const CgroupRow& row) { return row.limit_percent(); }},
    CgroupRank{"peak", "peak_kib", "peak", number<peak>},
    CgroupRank{"kills", "oom_kills", "OOM kills", number<kills>},
};

// Where the kernel's counts are not kept.
constexpr std::array kMarkRanks{
    CgroupRank{"usage", "usage_mark_kib", "highest usage of the day", number<mark_kib<&CgroupRow::usage_mark>>},
    CgroupRank{"anon", "anon_mark_kib", "highest anonymous memory of the day", number<mark_kib<&CgroupRow::anon_mark>>},
};

// As people know it: its unit, its container's name, else its path.
std::string cgroup_title(const CgroupRow& row) {
  std::string place = place_of(row.path);
  const std::string label = container_label(row.container);
  if (label.empty() || row.container.name.empty() || !place.starts_with(label)) return place;
  const std::string& pod = row.container.pod;
  const std::string name = pod.empty() ? row.container.name : pod + "/" + row.container.name;
  return fmt::format("{} ({}){}", name, label, place.substr(label.size()));
}

void add_names(Columns<CgroupRow>& columns) {
  columns.add(for_machines("cgroup"), &CgroupRow::path);
  columns.add(for_machines("unit"), [](const CgroupRow& row) { return unit_of(row.path); });
  columns.add(for_machines("slice"), [](const CgroupRow& row) { return slice_of(row.path); });
  const auto add = [&columns](const char* name, std::string Container::*member) {
    columns.add(for_machines(name), [member](const CgroupRow& row) { return row.container.*member; });
  };
  add("container_runtime", &Container::runtime);
  add("container_id", &Container::key);
  add("container_name", &Container::name);
  add("container_image", &Container::image);
  add("pod", &Container::pod);
  add("pod_uid", &Container::pod_uid);
  columns.add(for_people("CGROUP"), cgroup_title);
}

void add_marks(Columns<CgroupRow>& columns, bool counted) {
  const auto add = [&columns](const std::string& name, std::optional<HighWater> CgroupRow::*mark) {
    const auto part = [mark](auto HighWater::*member) {
      return [mark, member](const CgroupRow& row) { return row.*mark ? Value((*(row.*mark)).*member) : Value(); };
    };
    columns.add(for_machines(name + "_at_ms", Kind::time), part(&HighWater::at_ms));
    columns.add(for_machines(name + "_before_ms", Kind::time), part(&HighWater::before_ms));
    columns.add(for_machines(name + "_seen_by"), [mark](const CgroupRow& row) {
      return seen_by_value(row.*mark ? (row.*mark)->seen_by : std::nullopt);
    });
  };
  columns.add({"usage_mark_kib", "MAX USAGE", Kind::size, counted ? 10 : 0}, mark_kib<&CgroupRow::usage_mark>);
  add("usage_mark", &CgroupRow::usage_mark);
  columns.add({"anon_mark_kib", "MAX ANON", Kind::size, counted ? 7 : 1}, mark_kib<&CgroupRow::anon_mark>);
  add("anon_mark", &CgroupRow::anon_mark);
  columns.add(for_machines("swap_mark_kib", Kind::size), mark_kib<&CgroupRow::swap_mark>);
  add("swap_mark", &CgroupRow::swap_mark);
}

void add_limits(Columns<CgroupRow>& columns) {
  columns.add(for_people("LIMIT", Kind::size, 2), limit);
  columns.add({"limit_percent", "USED", Kind::percent, 3}, &CgroupRow::limit_percent);
  columns.add(for_machines("max_kib", Kind::size), held<&CgroupSample::max_kib>);
  columns.add(for_machines("high_kib", Kind::size), held<&CgroupSample::high_kib>);
  columns.add(for_machines("swap_max_kib", Kind::size), held<&CgroupSample::swap_max_kib>);
  columns.add(for_machines("low_kib", Kind::size), [](const CgroupRow& row) { return row.detail.low_kib; });
  columns.add(for_machines("min_kib", Kind::size), [](const CgroupRow& row) { return row.detail.min_kib; });
}

void add_counters(Columns<CgroupRow>& columns) {
  const auto add = [&columns](Column column, Maybe CgroupDetail::*member) {
    columns.add(std::move(column), [member](const CgroupRow& row) { return row.detail.*member; });
  };
  columns.add({"peak_kib", "PEAK", Kind::size, 4}, peak);
  add(for_machines("swap_peak_kib", Kind::size), &CgroupDetail::swap_peak_kib);
  columns.add({"oom_kills", "OOM KILLS", Kind::count, 8}, kills);
  add(for_machines("own_oom_kills", Kind::count), &CgroupDetail::own_oom_kills);
  add(for_machines("oom_events", Kind::count), &CgroupDetail::oom_events);
  add({"max_events", "AT MAX", Kind::count, 9}, &CgroupDetail::max_events);
  add(for_machines("high_events", Kind::count), &CgroupDetail::high_events);
  add(for_machines("low_events", Kind::count), &CgroupDetail::low_events);
  const auto waited = [&columns](Column column, Maybe CgroupDetail::*member) {
    columns.add(std::move(column), [member](const CgroupRow& row) {
      const Maybe us = row.detail.*member;
      return us ? std::optional(*us / kUsPerMs) : std::nullopt;
    });
  };
  waited({"psi_some_total_ms", "WAITED", Kind::duration, 12}, &CgroupDetail::psi_some_total_us);
  waited(for_machines("psi_full_total_ms", Kind::duration), &CgroupDetail::psi_full_total_us);
}

void add_processes(Columns<CgroupRow>& columns, bool counted) {
  columns.add({"processes", "PROCS", Kind::count, 11}, [](const CgroupRow& row) { return row.processes.processes(); });
  const auto add = [&](Metric metric, const char* header, int least_useful) {
    Column column{fmt::format("processes_{}", info_of(metric).column), header, Kind::size, least_useful};
    if (counted) column.shown = Shown::machines;
    columns.add(std::move(column), [metric](const CgroupRow& row) { return row.processes.kib(metric); });
  };
  add(Metric::pss, "PSS", 2);
  add(Metric::anon, "ANON", 3);
  add(Metric::swap, "SWAP", 4);
}

}  // namespace

const CgroupRank& cgroup_rank(std::string_view by, bool counted) {
  if (!counted) return kMarkRanks[by == "anon" ? 1 : 0];
  const auto* const found = std::ranges::find(kRanks, by, &CgroupRank::by);
  return found == kRanks.end() ? kRanks.front() : *found;
}

std::vector<std::string> cgroup_ranks() {
  return each_of(kRanks, [](const CgroupRank& rank) { return std::string(rank.by); });
}

Columns<CgroupRow> cgroup_columns(bool counted) {
  Columns<CgroupRow> columns;
  if (counted) {
    columns.add({"usage_kib", "USAGE", Kind::size}, usage);
    columns.add({"anon_kib", "ANON", Kind::size, 1}, held<&CgroupSample::anon_kib>);
    columns.add({"file_kib", "FILE", Kind::size, 5}, held<&CgroupSample::file_kib>);
    columns.add(for_machines("shmem_kib", Kind::size), held<&CgroupSample::shmem_kib>);
    columns.add({"kernel_kib", "KERNEL", Kind::size, 8}, held<&CgroupSample::kernel_kib>);
    columns.add({"swap_kib", "SWAP", Kind::size, 6}, held<&CgroupSample::swap_kib>);
    add_limits(columns);
    add_counters(columns);
  }
  add_marks(columns, counted);
  add_processes(columns, counted);
  add_names(columns);
  return columns;
}

}  // namespace memoir::query
