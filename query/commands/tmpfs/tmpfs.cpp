#include "query/commands/tmpfs/tmpfs.h"

#include <algorithm>
#include <fmt/format.h>

#include "analysis/ranking.h"
#include "base/nearest.h"
#include "query/report/format.h"
#include "query/state/limit.h"
#include "query/state/moment.h"
#include "query/state/tmpfs.h"
#include "store/outside.h"

namespace memoir::query {
namespace {

constexpr std::size_t kLargestOfEach = 5;

std::optional<std::int64_t> growth_since(const EntryRow& row) {
  return difference(row.kib(), row.at->past.since_kib);
}

struct MountRow {
  const TmpfsAt* at = nullptr;
  std::int64_t now_ms = 0;

  const TmpfsSample& sample() const { return at->sample; }
  template <typename T>
  std::optional<T> walked(T value) const {
    return sample().walked_ms ? std::optional(value) : std::nullopt;
  }
};

Columns<MountRow> mount_columns() {
  using Row = const MountRow&;
  Columns<MountRow> columns;
  columns.add({"used_kib", "USED", Kind::size}, [](Row row) { return row.sample().used_kib; });
  columns.add({"limit_kib", "LIMIT", Kind::size, 1}, [](Row row) { return row.sample().limit_kib; });
  columns.add({"used_percent", "FULL", Kind::percent},
              [](Row row) { return share_percent(row.sample().used_kib, row.sample().limit_kib); });
  columns.add({"inodes", "INODES", Kind::count, 3}, [](Row row) { return row.sample().inodes; });
  columns.add({"state", "WALK", Kind::text, 2}, [](Row row) { return Value(walk_word(row.sample().walk)); });
  columns.add({"walk_age_ms", "AGE", Kind::duration, 4}, [](Row row) -> Value {
    return row.sample().walked_ms ? Value(row.now_ms - *row.sample().walked_ms) : Value();
  });
  columns.add(for_machines("walked_ms", Kind::time), [](Row row) { return row.sample().walked_ms; });
  const auto content = [&](const char* name, std::int64_t TmpfsContent::*member, Kind kind = Kind::count) {
    columns.add(for_machines(name, kind), [member](Row row) { return row.walked(row.sample().content.*member); });
  };
  content("allocated_kib", &TmpfsContent::allocated_kib, Kind::size);
  content("logical_kib", &TmpfsContent::logical_kib, Kind::size);
  content("entries", &TmpfsContent::entries);
  content("directories", &TmpfsContent::directories);
  content("symlinks", &TmpfsContent::symlinks);
  content("others", &TmpfsContent::others);
  content("closed", &TmpfsContent::closed);
  columns.add({"mount_point", "MOUNT", Kind::text}, [](Row row) { return row.sample().mount_point; });
  return columns;
}

// The largest entries below each, but for the mount points themselves.
Section largest_of_each(const TmpfsState& state, const Options& options) {
  const UserNames users(state.state);
  std::vector<EntryRow> rows;
  for (const TmpfsAt& mount : state.mounts) {
    std::vector<EntryRow> own;
    for (const TmpfsEntryAt& at : mount.entries) {
      if (!at.entry.path.empty())
        own.push_back({&mount, &at, users.of(at.entry.uid), full_path(mount.sample, at.entry)});
    }
    std::ranges::stable_sort(own, std::greater(), &EntryRow::kib);
    own.resize(std::min(own.size(), limited(options, own.size(), kLargestOfEach)));
    rows.insert(rows.end(), own.begin(), own.end());
  }
  Columns<EntryRow> columns = entry_columns(state.since_ms.has_value());
  columns.add(for_people("PATH"),
              [](const EntryRow& row) { return row.at->entry.directory ? row.name + '/' : row.name; });
  Section largest{"largest", "The largest below each (memoir tmpfs MOUNT has all that is known)",
                  make_table(columns, rows)};
  largest.table.own_units = true;
  return largest;
}

void show_mounts(const Context& context, const TmpfsState& state, Report& report) {
  std::vector<MountRow> rows;
  std::int64_t used = 0;
  std::int64_t allocated = 0;
  for (const TmpfsAt& mount : state.mounts) {
    rows.push_back({&mount, *report.at_ms});
    used += mount.sample.used_kib.value_or(0);
    allocated += mount.sample.content.allocated_kib;
  }
  std::ranges::stable_sort(rows, std::greater(),
                           [](const MountRow& row) { return row.sample().used_kib.value_or(-1); });
  report.rows = make_table(mount_columns(), rows);
  report.rows.own_units = true;
  mark_sorted(report.rows, "used_kib");
  report.totals = {{"mounts", "", Kind::count, rows.size()},
                   {"used_kib", "", Kind::size, used},
                   {"allocated_kib", "", Kind::size, allocated}};
  report.notes.push_back(fmt::format("{} {}.",
                                     print_count(static_cast<std::int64_t>(rows.size()), "mount holds", "mounts hold"),
                                     print_size(used, context.options.units)));
  report.sections.push_back(largest_of_each(state, context.options));
}

Result<const TmpfsAt*> find_mount(const std::vector<TmpfsAt>& mounts, std::string name) {
  while (name.size() > 1 && name.ends_with('/')) name.pop_back();
  std::vector<std::string> known;
  for (const TmpfsAt& mount : mounts) {
    if (mount.sample.mount_point == name) return &mount;
    known.push_back(mount.sample.mount_point);
  }
  return malformed(fmt::format("no tmpfs is mounted at '{}'{}", name, did_you_mean(name, known)));
}

// What was there at the beginning of the range is told beside what is there at its end.
Result<std::int64_t> since_tick(const Context& context) {
  if (!context.when.range) return std::int64_t{0};
  const auto tick = TRY(context.reader.tick_at(context.when.range->from_ms));
  return tick ? tick->id : 0;
}

// The time that the mounts are shown at; nullopt: now.
std::optional<std::int64_t> asked_ms(const Context& context) {
  return context.when.range ? std::optional(context.when.range->to_ms) : context.when.at_ms;
}

Result<Report> show_tmpfs(const Context& context, const State& at, const TickState& tick) {
  TmpfsState state{at, {}, context.when.range ? std::optional(context.when.range->from_ms) : std::nullopt};
  const std::int64_t since = TRY(since_tick(context));
  state.mounts = TRY(load_tmpfs(context.reader, tick.tick.id, since));
  if (state.mounts.empty())
    return nothing_recorded(context, mount_columns(), "nothing of tmpfs was recorded: the recorder saw no mount of it");
  const bool one = !context.options.subjects.empty();
  const TmpfsAt* mount = one ? TRY(find_mount(state.mounts, context.options.subjects.front())) : nullptr;
  Report report = TRY(begin_report(
      context, at, one ? fmt::format("what lies in the tmpfs at {}", mount->sample.mount_point) : "tmpfs mounts"));
  if (one)
    show_mount(context, state, *mount, report);
  else
    show_mounts(context, state, report);
  for (const TmpfsAt& known : state.mounts) {
    const auto warning = !one || &known == mount ? walk_warning(known.sample) : std::nullopt;
    if (warning) report.warnings.push_back(*warning);
  }
  report_state(at, asked_ms(context).value_or(*report.at_ms), context.options.zone, report);
  return report;
}

Result<Report> run_tmpfs(const Context& context) {
  return answer_at_tick(context, asked_ms(context), mount_columns(),
                        "nothing of tmpfs was recorded: the ticks of that time are gone, and rollups do not tell of it",
                        [&](const State& state, const TickState& tick) { return show_tmpfs(context, state, tick); });
}

}  // namespace

std::string_view walk_word(TmpfsWalk walk) {
  switch (walk) {
    case TmpfsWalk::whole:
      return "whole";
    case TmpfsWalk::cut:
      return "cut";
    case TmpfsWalk::not_read:
      return "not read";
    case TmpfsWalk::not_yet:
      return "not yet";
  }
  return "?";
}

Columns<EntryRow> entry_columns(bool since) {
  using Row = const EntryRow&;
  Columns<EntryRow> columns;
  columns.add({"allocated_kib", "ALLOCATED", Kind::size}, [](Row row) { return row.kib(); });
  columns.add({"logical_kib", "LENGTH", Kind::size, 6}, [](Row row) { return row.at->entry.logical_kib; });
  if (since) columns.add({"since_growth_kib", "SINCE", Kind::change}, growth_since);
  if (since) columns.add(for_machines("since_kib", Kind::size), [](Row row) { return row.at->past.since_kib; });
  columns.add({"growth_kib", "GROWN", Kind::change, 1}, [](Row row) { return row.kib() - row.at->past.first.kib; });
  columns.add(for_machines("first_ms", Kind::time), [](Row row) { return row.at->past.first.at_ms; });
  columns.add(for_machines("first_kib", Kind::size), [](Row row) { return row.at->past.first.kib; });
  columns.add({"before_kib", "BEFORE", Kind::size, 4},
              [](Row row) -> Value { return row.at->past.before ? Value(row.at->past.before->kib) : Value(); });
  columns.add({"grew_ms", "UNTIL", Kind::time, 5},
              [](Row row) -> Value { return row.at->past.before ? Value(row.at->past.before->at_ms) : Value(); });
  columns.add({"entries", "ENTRIES", Kind::count, 3}, [](Row row) { return row.at->entry.entries; });
  columns.add({"owner", "OWNER", Kind::text, 2}, &EntryRow::owner);
  columns.add({"changed_ms", "CHANGED", Kind::time, 7}, [](Row row) { return row.at->entry.changed_ms; });
  columns.add(for_machines("kind"), [](Row row) { return Value(row.at->entry.directory ? "directory" : "file"); });
  columns.add(for_machines("mount_point"), [](Row row) { return row.mount->sample.mount_point; });
  columns.add(for_machines("path"), [](Row row) { return row.at->entry.path; });
  return columns;
}

Command tmpfs_command() {
  return {.name = "tmpfs",
          .summary = "tmpfs mounts: how full they are, what lies in them, and which file grew",
          .subject = "[MOUNT]",
          .options = {Option::at, Option::from, Option::to, Option::last, Option::day, Option::limit, Option::ascii},
          .examples = {{"memoir tmpfs", "which tmpfs is how full, and what is largest in it"},
                       {"memoir tmpfs /dev/shm --since 03:00", "which of its files grew since 03:00"}},
          .run = run_tmpfs,
          .subject_help = "MOUNT: a mount point, of which all that is known is shown as a tree; by default all mounts"};
}

}  // namespace memoir::query
