#include "query/commands/tmpfs/tmpfs.h"

#include <algorithm>
#include <fmt/format.h>

#include "analysis/ranking.h"
#include "base/nearest.h"
#include "query/report/format.h"
#include "query/state/limit.h"
#include "query/state/moment.h"
#include "query/state/tmpfs.h"
#include "store/shmem_state.h"

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
  columns.add(data_column("walked_ms", Kind::time), [](Row row) { return row.sample().walked_ms; });
  const auto content = [&](const char* name, std::int64_t TmpfsContent::*member, Kind kind = Kind::count) {
    columns.add(data_column(name, kind), [member](Row row) { return row.walked(row.sample().content.*member); });
  };
  content("allocated_kib", &TmpfsContent::allocated_kib, Kind::size);
  content("logical_kib", &TmpfsContent::logical_kib, Kind::size);
  content("entries", &TmpfsContent::entries);
  content("directories", &TmpfsContent::directories);
  content("symlinks", &TmpfsContent::symlinks);
  content("sockets", &TmpfsContent::sockets);
  content("fifos", &TmpfsContent::fifos);
  content("devices", &TmpfsContent::devices);
  content("closed", &TmpfsContent::closed);
  columns.add({"source", "SOURCE", Kind::text, 5},
              [](Row row) { return row.sample().source.empty() ? Value() : Value(row.sample().source); });
  columns.add({"mount_point", "MOUNT", Kind::text}, [](Row row) { return row.sample().mount_point; });
  return columns;
}

// Returns the largest entries of each mount, without the mount points themselves.
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
  columns.add(display_column("PATH"),
              [](const EntryRow& row) { return row.at->entry.directory ? row.name + '/' : row.name; });
  Section largest{"largest", "The largest entries of each mount (memoir tmpfs PATH shows all known ones)",
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
                                     format_count(static_cast<std::int64_t>(rows.size()), "mount holds", "mounts hold"),
                                     format_size(used, context.options.units)));
  report.sections.push_back(largest_of_each(state, context.options));
}

// Returns whether `path` is `folder` or below it. An empty folder is the root of a mount.
bool is_below(std::string_view path, std::string_view folder) {
  if (folder.empty() || path == folder) return true;
  return path.starts_with(folder) && path[folder.size()] == '/';
}

// Returns the mount that contains a path, with the known entries at the path and below it.
Result<TmpfsAt> find_place(const std::vector<TmpfsAt>& mounts, std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const TmpfsAt* found = nullptr;
  std::vector<std::string> known;
  for (const TmpfsAt& mount : mounts) {
    const std::string& point = mount.sample.mount_point;
    const bool is_longer = found == nullptr || point.size() > found->sample.mount_point.size();
    if (is_longer && (point == "/" || is_below(path, point))) found = &mount;
    known.push_back(point);
  }
  if (found == nullptr) return malformed(fmt::format("no tmpfs is mounted at '{}'{}", path, did_you_mean(path, known)));
  TmpfsAt place = *found;
  const std::string_view within = std::string_view(path).substr(std::min(path.size(), place.sample.mount_point.size()));
  const std::string_view below = within.starts_with('/') ? within.substr(1) : within;
  std::erase_if(place.entries, [below](const TmpfsEntryAt& at) { return !is_below(at.entry.path, below); });
  if (!below.empty() && place.entries.empty()) {
    return Error{ErrorKind::not_found,
                 fmt::format("'{}' is not recorded: only the largest entries of the tmpfs at {} are", path,
                             place.sample.mount_point)};
  }
  return place;
}

// Returns the tick at the start of the range, to show the usage there next to that at the end; 0 without a range.
Result<std::int64_t> since_tick(const Context& context) {
  if (!context.when.range) return std::int64_t{0};
  const auto tick = TRY(context.reader.tick_at(context.when.range->from_ms));
  return tick ? tick->id : 0;
}

// Returns the time of the shown mounts; nullopt for now.
std::optional<std::int64_t> asked_ms(const Context& context) {
  return context.when.range ? std::optional(context.when.range->to_ms) : context.when.at_ms;
}

Result<Report> show_tmpfs(const Context& context, const State& at, const StoredTick& tick) {
  TmpfsState state{at, {}, context.when.range ? std::optional(context.when.range->from_ms) : std::nullopt};
  const std::int64_t since = TRY(since_tick(context));
  state.mounts = TRY(load_tmpfs(context.reader, tick.id, since));
  if (state.mounts.empty()) return nothing_recorded(context, mount_columns(), "no tmpfs record: no mount was found");
  const std::vector<std::string>& subjects = context.options.subjects;
  const bool one = !subjects.empty();
  if (one) {
    TmpfsAt mount = TRY(find_place(state.mounts, subjects.front()));
    state.mounts = {std::move(mount)};
  }
  const std::string& mount_point = state.mounts.front().sample.mount_point;
  Report report =
      TRY(begin_report(context, at, one ? fmt::format("contents of the tmpfs at {}", mount_point) : "tmpfs mounts"));
  if (one)
    show_mount(context, state, state.mounts.front(), report);
  else
    show_mounts(context, state, report);
  for (const TmpfsAt& known : state.mounts) {
    if (const auto warning = walk_warning(known.sample)) report.warnings.push_back(*warning);
  }
  report_state(at, asked_ms(context).value_or(*report.at_ms), context.options.zone, report);
  return report;
}

Result<Report> run_tmpfs(const Context& context) {
  return answer_at_tick(context, asked_ms(context), mount_columns(),
                        "no tmpfs record: the ticks of that time have expired, and rollups have none",
                        [&](const State& state, const StoredTick& tick) { return show_tmpfs(context, state, tick); });
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
  if (since) columns.add(data_column("since_kib", Kind::size), [](Row row) { return row.at->past.since_kib; });
  columns.add({"growth_kib", "GROWN", Kind::change, 1}, [](Row row) { return row.kib() - row.at->past.first.kib; });
  columns.add(data_column("first_ms", Kind::time), [](Row row) { return row.at->past.first.at_ms; });
  columns.add(data_column("first_kib", Kind::size), [](Row row) { return row.at->past.first.kib; });
  columns.add({"before_kib", "BEFORE", Kind::size, 4},
              [](Row row) -> Value { return row.at->past.before ? Value(row.at->past.before->kib) : Value(); });
  columns.add({"grew_ms", "UNTIL", Kind::time, 5},
              [](Row row) -> Value { return row.at->past.before ? Value(row.at->past.before->at_ms) : Value(); });
  columns.add({"entries", "ENTRIES", Kind::count, 3}, [](Row row) { return row.at->entry.entries; });
  columns.add({"owner", "OWNER", Kind::text, 2}, &EntryRow::owner);
  columns.add({"changed_ms", "CHANGED", Kind::time, 7}, [](Row row) { return row.at->entry.changed_ms; });
  columns.add(data_column("kind"), [](Row row) { return Value(row.at->entry.directory ? "directory" : "file"); });
  columns.add(data_column("mount_point"), [](Row row) { return row.mount->sample.mount_point; });
  columns.add(data_column("path"), [](Row row) { return row.at->entry.path; });
  return columns;
}

Command tmpfs_command() {
  return {
      .name = "tmpfs",
      .summary = "tmpfs mounts: usage, largest entries, growth",
      .subject = "[PATH]",
      .options = {Option::at, Option::from, Option::to, Option::last, Option::day, Option::limit, Option::ascii},
      .examples = {{"memoir memory tmpfs", "how full each tmpfs is, and its largest entries"},
                   {"memoir memory tmpfs /dev/shm --since 03:00", "which of its files grew since 03:00"}},
      .run = run_tmpfs,
      .subject_help =
          "PATH: a mount point, or a path within a mount; its known entries are shown as a tree; by default all mounts",
      .full_name = "memory tmpfs"};
}

}  // namespace memoir::query
