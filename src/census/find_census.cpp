#include <linux/capability.h>

#include "base/capability.h"
#include "census/bpf_census.h"

namespace memoir {
namespace {

// A process that may load BPF programs can read the kernel's memory, and so that of all processes: a recorder that is
// taken over should not. Before Linux 5.19 each read needs it.
void give_up_bpf(Census& census) {
  const Capability bpf(CAP_BPF);
  if (!bpf.enable(false)) return;
  std::vector<CensusProcess> processes;
  if (census.read(processes)) {
    bpf.give_up();
  } else {
    bpf.enable(true);
  }
}

}  // namespace

FoundByBpf probe_bpf(const ProcFs& proc) {
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
