#include <linux/capability.h>

#include "base/capability.h"
#include "census/bpf_census.h"

namespace memoir {
namespace {

// Drops CAP_BPF unless reads need it, as they do before Linux 5.19. With CAP_BPF an attacker in control of the recorder
// could read the memory of the kernel and of all processes.
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
