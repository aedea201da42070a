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
StoredProcess stand_in(const ExitSum& sum) {
  StoredProcess process;
  process.info.comm = process.info.command = sum.comm;
  process.info.user = sum.user;
  process.info.cgroup = sum.cgroup;
  process.first_ms = sum.first_ms;
  process.last_ms = sum.last_ms;
  return process;
}

Result<Exited> load_exited(Reader& reader, Range range, const Filter& filter) {
  Exited ended;
  ended.totals = TRY(load_exit_totals(reader, range));
  ended.kept = TRY(load_exits(reader, range));
  std::ranges::stable_sort(ended.kept, std::greater(), [](const StoredExit& of) { return of.record.peak_kib; });
  auto sums = TRY(load_exit_sums(reader, range));
  for (ExitSum& sum : sums) {
    StoredProcess process = stand_in(sum);
    if (filter.matches(process)) ended.others.push_back({std::move(process), std::move(sum)});
  }
  return ended;
}

Status visit_kept(Reader& reader, const std::vector<StoredExit>& kept, const Filter& filter,
                  const std::function<void(const ExitedProcess&)>& visit) {
  constexpr std::size_t at_once = 4'096;
  for (std::size_t from = 0; from < kept.size(); from += at_once) {
    const std::span<const StoredExit> some = std::span(kept).subspan(from, std::min(at_once, kept.size() - from));
    auto read = TRY(load_processes_by_id(reader, transformed(some, &StoredExit::process_id)));
    std::unordered_map<std::int64_t, StoredProcess> processes;
    for (StoredProcess& process : read) processes.emplace(process.id, std::move(process));
    for (const StoredExit& of : some) {
      const auto process = processes.find(of.process_id);
      if (process != processes.end() && filter.matches(process->second)) visit({process->second, of.record});
    }
  }
  return Done{};
}

ExitSum sum_of(const ExitRecord& end) {
  return {.comm = {},
          .user = {},
          .cgroup = {},
          .count = 1,
          .first_ms = end.exited_ms,
          .last_ms = end.exited_ms,
          .lived_ms = end.lived_ms,
          .peak_kib = end.peak_kib.value_or(0),
          .peak_ms = end.exited_ms};
}

std::string format_exit_status(std::int32_t exit_code) {
  if (WIFEXITED(exit_code)) return fmt::format("exit {}", WEXITSTATUS(exit_code));
  return signal_name(WTERMSIG(exit_code)) + (WCOREDUMP(exit_code) ? " (core)" : "");
}

std::optional<std::int64_t> status_of(std::optional<std::int32_t> exit_code) {
  return exit_code && WIFEXITED(*exit_code) ? std::optional<std::int64_t>(WEXITSTATUS(*exit_code)) : std::nullopt;
}

std::optional<std::int64_t> signal_of(std::optional<std::int32_t> exit_code) {
  return exit_code && WIFSIGNALED(*exit_code) ? std::optional<std::int64_t>(WTERMSIG(*exit_code)) : std::nullopt;
}

std::vector<std::string> exit_gaps(const ExitTotals& totals) {
  std::vector<std::string> missing;
  if (totals.ticks_reported == 0) {
    missing.emplace_back("exits are known only from ticks: without BPF there are no kernel events (see memoir status)");
    return missing;
  }
  if (totals.ticks_reported < totals.ticks)
    missing.push_back(fmt::format("{} of {} ticks have no kernel events of exits", totals.ticks - totals.ticks_reported,
                                  totals.ticks));
  if (totals.lost > 0)
    missing.push_back(fmt::format("{}, because too many came at once; exits may be among them",
                                  format_count(totals.lost, "process event was lost", "process events were lost")));
  return missing;
}

}  // namespace memoir::query
