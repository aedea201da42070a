#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "analysis/process_tree.h"
#include "query/commands/tmpfs/tmpfs.h"
#include "query/report/format.h"
#include "query/state/limit.h"
#include "query/state/tmpfs.h"

namespace memoir::query {
namespace {

// Returns the index of each entry's nearest directory among the entries, which are sorted by path.
Parents parents_by_path(const std::vector<TmpfsEntryAt>& entries) {
  std::map<std::string_view, std::size_t> directories;
  Parents parents(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const TmpfsEntry& entry = entries[i].entry;
    std::string_view path = entry.path;
    while (!path.empty() && !parents[i]) {
      const std::size_t slash = path.rfind('/');
      path = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
      const auto found = directories.find(path);
      if (found != directories.end()) parents[i] = found->second;
    }
    if (entry.directory) directories[entry.path] = i;
  }
  return parents;
}

std::vector<std::size_t> largest_first(const std::vector<TmpfsEntryAt>& entries) {
  std::vector<std::size_t> order(entries.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return entries[i].entry.allocated_kib; });
  return order;
}

std::string name_below(const TmpfsAt& mount, const TmpfsEntry& entry, const TmpfsEntry* parent) {
  std::string name = parent == nullptr ? full_path(mount.sample, entry) : entry.path;
  if (parent != nullptr && !parent->path.empty()) name.erase(0, parent->path.size() + 1);
  return entry.directory ? name + '/' : name;
}

void describe(const TmpfsAt& mount, Units units, Report& report) {
  const TmpfsSample& sample = mount.sample;
  const TmpfsContent& content = sample.content;
  const bool walked = sample.walked_ms.has_value();
  const auto known = [walked](std::int64_t value) { return walked ? Value(value) : Value(); };
  report.facts = {{"mount_point", "", Kind::text, sample.mount_point},
                  {"source", "source", Kind::text, sample.source.empty() ? Value() : Value(sample.source)},
                  {"used_kib", "used", Kind::size, sample.used_kib},
                  {"limit_kib", "limit", Kind::size, sample.limit_kib},
                  {"inodes", "inodes", Kind::count, sample.inodes},
                  {"state", "state", Kind::text, walk_word(sample.walk)},
                  {"walked_ms", "walked", Kind::time, sample.walked_ms},
                  {"allocated_kib", "allocated", Kind::size, known(content.allocated_kib)},
                  {"logical_kib", "lengths (st_size)", Kind::size, known(content.logical_kib)},
                  {"entries", "entries", Kind::count, known(content.entries)},
                  {"directories", "directories", Kind::count, known(content.directories)},
                  {"symlinks", "symbolic links", Kind::count, known(content.symlinks)},
                  {"sockets", "sockets", Kind::count, known(content.sockets)},
                  {"fifos", "FIFOs", Kind::count, known(content.fifos)},
                  {"devices", "devices", Kind::count, known(content.devices)}};
  if (sample.walked_ms && sample.used_kib && *sample.used_kib > content.allocated_kib) {
    const std::int64_t rest = *sample.used_kib - content.allocated_kib;
    report.notes.push_back(
        fmt::format("{} more is used than the walk found: deleted files that are open or mapped, or newer files.",
                    format_size(rest, units)));
  }
}

}  // namespace

void show_mount(const Context& context, const TmpfsState& state, const TmpfsAt& mount, Report& report) {
  const UserNames users(state.state);
  const Parents parents = parents_by_path(mount.entries);
  std::vector<EntryRow> rows;
  Parents places;
  std::vector<std::size_t> place(mount.entries.size());
  std::size_t shown = limited(context, mount.entries.size());
  const std::size_t all = mount.entries.size();
  for (const std::size_t i : depth_first(parents, largest_first(mount.entries))) {
    if (shown-- == 0) break;
    const TmpfsEntryAt& at = mount.entries[i];
    const TmpfsEntry* parent = parents[i] ? &mount.entries[*parents[i]].entry : nullptr;
    place[i] = rows.size();
    places.push_back(parents[i] ? std::optional(place[*parents[i]]) : std::nullopt);
    rows.push_back({&mount, &at, users.of(at.entry.uid), name_below(mount, at.entry, parent)});
  }
  describe(mount, context.options.units, report);
  add_row_totals(report, all, rows.size());
  if (rows.size() < all) note_left_out(report, fmt::format("{} of {} rows (--limit 0 shows all).", rows.size(), all));
  Columns<EntryRow> columns = entry_columns(state.since_ms.has_value());
  columns.add(display_column("PATH"), &EntryRow::name);
  report.rows = make_table(columns, rows);
  report.rows.parents = std::move(places);
  report.rows.own_units = true;
  mark_sorted(report.rows, "allocated_kib");
}

}  // namespace memoir::query
