#include "query/history/exits.h"

#include <algorithm>
#include <fmt/format.h>
#include <span>
#include <sys/wait.h>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "query/report/format.h"
#include "store/exits.h"
#include "store/names.h"

namespace memoir::query {
StoredProcess stand_in(const EndSum& sum) {
  StoredProcess process;
  process.info.comm = process.info.command = sum.comm;
  process.info.user = sum.user;
  process.info.cgroup = sum.cgroup;
  process.first_ms = sum.first_ms;
  process.last_ms = sum.last_ms;
  return process;
}

Result<Ended> load_ended(Reader& reader, Range range, const Filter& filter) {
  Ended ended;
  ended.told = TRY(load_exit_totals(reader, range));
  ended.kept = TRY(load_exits(reader, range));
  std::ranges::stable_sort(ended.kept, std::greater(), [](const StoredEnd& of) { return of.end.peak_kib; });
  auto sums = TRY(load_exit_sums(reader, range));
  for (EndSum& sum : sums) {
    StoredProcess process = stand_in(sum);
    if (filter.matches(process)) ended.others.push_back({std::move(process), std::move(sum)});
  }
  return ended;
}

Status visit_kept(Reader& reader, const std::vector<StoredEnd>& kept, const Filter& filter,
                  const std::function<void(const EndedProcess&)>& visit) {
  constexpr std::size_t at_once = 4'096;
  for (std::size_t from = 0; from < kept.size(); from += at_once) {
    const std::span<const StoredEnd> some = std::span(kept).subspan(from, std::min(at_once, kept.size() - from));
    auto read = TRY(load_processes_by_id(reader, each_of(some, &StoredEnd::process_id)));
    std::unordered_map<std::int64_t, StoredProcess> processes;
    for (StoredProcess& process : read) processes.emplace(process.id, std::move(process));
    for (const StoredEnd& of : some) {
      const auto process = processes.find(of.process_id);
      if (process != processes.end() && filter.matches(process->second)) visit({process->second, of.end});
    }
  }
  return Done{};
}

EndSum sum_of(const ProcessEnd& end) {
  return {.comm = {},
          .user = {},
          .cgroup = {},
          .count = 1,
          .first_ms = end.ended_ms,
          .last_ms = end.ended_ms,
          .lived_ms = end.lived_ms,
          .peak_kib = end.peak_kib.value_or(0),
          .peak_ms = end.ended_ms};
}

std::string how_ended(std::int32_t exit_code) {
  if (WIFEXITED(exit_code)) return fmt::format("exit {}", WEXITSTATUS(exit_code));
  return signal_name(WTERMSIG(exit_code)) + (WCOREDUMP(exit_code) ? " (core)" : "");
}

std::vector<std::string> ends_missing(const EndTotals& told) {
  std::vector<std::string> missing;
  if (told.ticks_told == 0) {
    missing.emplace_back(
        "nobody told the recorder of ends: without BPF it sees from tick to tick who is gone (memoir status says why)");
    return missing;
  }
  if (told.ticks_told < told.ticks)
    missing.push_back(
        fmt::format("in {} of {} ticks nobody told the recorder of ends", told.ticks - told.ticks_told, told.ticks));
  if (told.lost > 0)
    missing.push_back(fmt::format(
        "{}: more happened at once than there was room for; ends are among them",
        print_count(told.lost, "birth, exec or end of a process was lost", "births, execs and ends were lost")));
  return missing;
}

}  // namespace memoir::query
