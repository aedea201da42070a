#include <array>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

#include "census/bpf_census.h"

namespace memoir {
namespace {

struct Capabilities {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};

  bool read() { return ::syscall(SYS_capget, &header, sets.data()) == 0; }
  bool apply() { return ::syscall(SYS_capset, &header, sets.data()) == 0; }
};

constexpr std::size_t kSet = CAP_TO_INDEX(CAP_BPF);
constexpr std::uint32_t kBit = CAP_TO_MASK(CAP_BPF);

// Whoever may load BPF programs can read the kernel's memory, and with it that of all processes: a recorder that is
// taken over should not. Before Linux 5.19 each look needs it.
void give_up_bpf(Census& census) {
  Capabilities had;
  if (!had.read()) return;
  Capabilities without = had;
  without.sets[kSet].effective &= ~kBit;
  std::vector<CensusProcess> processes;
  if (!without.apply()) return;
  if (!census.look(processes)) {
    had.apply();
    return;
  }
  without.sets[kSet].permitted &= ~kBit;
  without.sets[kSet].inheritable &= ~kBit;
  without.apply();  // it takes it from the ambient set as well
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
