#include "query/names/people.h"

#include <algorithm>
#include <fmt/format.h>

#include "store/names.h"

namespace memoir::query {
namespace {

// Ticks see ends and beginnings late.
constexpr std::int64_t kSlackMs = 60'000;

}  // namespace

UserNames::UserNames(const State& state) {
  for (const HeldProcess& process : state.processes)
    names_.try_emplace(process.process->info.uid, process.process->info.user);
}

std::string UserNames::of(std::uint32_t uid) const {
  const auto found = names_.find(uid);
  if (found != names_.end()) return found->second;
  return uid == 0 ? "root" : std::to_string(uid);
}

Result<std::optional<StoredProcess>> process_of_pid(const Context& context, std::int32_t pid, std::int64_t at_ms,
                                                    std::optional<std::int64_t> alive_ms) {
  if (pid == 0) return std::optional<StoredProcess>();
  auto processes = TRY(load_processes_of_pid(context.reader, {context.file.first_tick_ms, at_ms}, pid));
  std::erase_if(processes, [&](const StoredProcess& process) {
    const bool later = process.info.start_ms > at_ms + kSlackMs;
    return later || (alive_ms && process.gone_ms && *process.gone_ms + kSlackMs < *alive_ms);
  });
  const auto last = std::ranges::max_element(processes, {}, &StoredProcess::first_ms);
  return last == processes.end() ? std::nullopt : std::optional(*last);
}

std::string who(std::int32_t pid, const std::optional<StoredProcess>& process) {
  if (pid == 0) return "";
  return process ? fmt::format("{} ({})", process->info.comm, pid) : std::to_string(pid);
}

}  // namespace memoir::query
