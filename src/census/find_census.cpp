#include <linux/capability.h>

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

}  // namespace

FoundByBpf find_by_bpf(const ProcFs& proc) {
  FoundByBpf found = open_by_bpf();
  if (!found.census) return found;
  if (const Status tested = verify_census(**found.census, proc); !tested) return {tested.error(), tested.error()};
  if (found.events) {
    if (const Status tested = verify_events(**found.events, proc); !tested) found.events = tested.error();
  }
  give_up_bpf(**found.census);
  return found;
}

}  // namespace memoir
