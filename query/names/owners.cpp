#include "query/names/owners.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>

#include "base/text.h"
#include "query/args/times.h"
#include "store/names.h"

namespace memoir::query {
namespace {

// Tolerance in comparisons of times, because ticks observe starts and exits late.
constexpr std::int64_t kSlackMs = 60'000;

}  // namespace

UserNames::UserNames(const State& state) {
  for (const ProcessUse& process : state.processes)
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
    return later || (alive_ms && process.exited_ms && *process.exited_ms + kSlackMs < *alive_ms);
  });
  const auto last = std::ranges::max_element(processes, {}, &StoredProcess::first_ms);
  return last == processes.end() ? std::nullopt : std::optional(*last);
}

std::optional<std::string> when_it_ran(const Context& context, std::int32_t pid) {
  constexpr std::size_t max_lifetimes = 3;
  const Range all{context.file.first_tick_ms, context.file.last_tick_ms};
  const auto images = load_processes_of_pid(context.reader, all, pid);
  if (!images || images->empty()) return std::nullopt;
  std::map<std::int64_t, const StoredProcess*> last_image;  // last image of each process, by its start
  for (const StoredProcess& image : *images) last_image[image.info.start_ms] = &image;
  const std::size_t left_out = last_image.size() - std::min(last_image.size(), max_lifetimes);
  const auto shown = std::next(last_image.begin(), static_cast<std::ptrdiff_t>(left_out));
  std::vector<std::string> lifetimes;
  for (auto at = shown; at != last_image.end(); ++at) {
    const Zone zone = context.options.zone;
    const StoredProcess& image = *at->second;
    const std::string until =
        image.exit_kind.empty() ? "on" : "to " + format_time(image.exited_ms.value_or(image.last_ms), zone);
    lifetimes.push_back(
        fmt::format("from {} {} ({})", format_time(at->first, zone), until, to_printable(image.info.comm)));
  }
  return fmt::format("process {} did not run at that time, but {}{}", pid, fmt::join(lifetimes, ", "),
                     left_out > 0 ? fmt::format(", and {} times before", left_out) : "");
}

std::string process_label(std::int32_t pid, const std::optional<StoredProcess>& process) {
  if (pid == 0) return "";
  return process ? fmt::format("{} ({})", process->info.comm, pid) : std::to_string(pid);
}

}  // namespace memoir::query
