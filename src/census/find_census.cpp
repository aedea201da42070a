#include <linux/capability.h>
#include <utility>

#include "base/capability.h"
#include "census/bpf_census.h"

namespace memoir {
namespace {

// Whoever may load BPF programs can read the kernel's memory, and with it that of all processes: a recorder that is
// taken over should not. Before Linux 5.19 each look needs it.
void give_up_bpf(Census& census) {
  const Capability bpf(CAP_BPF);
  if (!bpf.enable(false)) return;
  std::vector<CensusProcess> processes;
  if (census.look(processes)) {
    bpf.give_up();
  } else {
    bpf.enable(true);
  }
}

Result<std::unique_ptr<Census>> find_census(const ProcFs& proc) {
  auto census = TRY(open_bpf_census());
  TRY(test_census(*census, proc));
  return census;
}

Result<std::unique_ptr<ProcessEvents>> find_events(const ProcFs& proc) {
  auto events = TRY(open_bpf_events());
  TRY(test_events(*events, proc));
  return events;
}

}  // namespace

FoundByBpf find_by_bpf(const ProcFs& proc) {
  auto census = find_census(proc);
  if (!census) return {census.error(), census.error()};
  auto events = find_events(proc);
  give_up_bpf(**census);
  return {std::move(census), std::move(events)};
}

}  // namespace memoir
