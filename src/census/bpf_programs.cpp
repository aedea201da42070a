#include "census/bpf_programs.h"

#include <array>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include "census/bpf_record.h"

namespace memoir {
namespace {

// libbpf writes pages about what the kernel did not take; errno says enough.
int say_nothing(libbpf_print_level, const char*, va_list) {
  return 0;
}

// Not the part of the other: its programs might be refused where those of this one are not.
void choose(const census_bpf& programs, BpfPart part, bool by_cpu) {
  const bool events = part == BpfPart::events;
  bpf_program__set_autoload(programs.progs.census, !events);
  for (bpf_program* const program : {programs.progs.on_fork, programs.progs.on_exec, programs.progs.on_exit,
                                     programs.progs.on_victim, programs.progs.on_signal, programs.progs.on_attach}) {
    bpf_program__set_autoload(program, events);
  }
  bpf_map__set_autocreate(programs.maps.ring, events);
  // Its helper came with 5.19; before 6.2 there are no counters by CPU.
  bpf_program__set_autoload(programs.progs.find_cpus, by_cpu);
}

// Kernels before 5.11 count what BPF holds as locked memory.
bool little_may_be_locked() {
  constexpr rlim_t enough = 8U << 20;
  rlimit locked{};
  return ::getrlimit(RLIMIT_MEMLOCK, &locked) == 0 && locked.rlim_cur < enough;
}

// The program does its work as it is read, and writes nothing.
Status run_find_cpus(const census_bpf& programs) {
  const OwnedBpf<bpf_link> link(bpf_program__attach_iter(programs.progs.find_cpus, nullptr));
  if (!link) return bpf_error("a BPF iterator over maps", errno);
  const Fd iterator = TRY(open_iterator(link.get()));
  char nothing = 0;
  ssize_t got = 0;
  do got = ::read(iterator.get(), &nothing, 1);
  while (got < 0 && errno == EINTR);
  if (got < 0) return bpf_error("reading a BPF iterator", errno);
  return Done{};
}

Status find_cpus(const census_bpf& programs) {
  bpf_map_info info{};
  std::uint32_t size = sizeof info;
  if (bpf_obj_get_info_by_fd(bpf_map__fd(programs.maps.probe), &info, &size) != 0) {
    return bpf_error("a BPF map", errno);
  }
  auto& found = *programs.bss;
  found.probe_id = info.id;
  TRY(run_find_cpus(programs));
  const int possible = libbpf_num_possible_cpus();
  if (possible <= 0 || possible > kCensusMostCpus || found.cpus < static_cast<std::uint32_t>(possible)) {
    return Error{ErrorKind::io, fmt::format("BPF found {} of {} processors, and knows {} at most", found.cpus, possible,
                                            static_cast<int>(kCensusMostCpus))};
  }
  found.cpus = static_cast<std::uint32_t>(possible);
  for (int i = 0; i < possible; ++i) found.cpu_offset[i] -= found.probe_base;
  return Done{};
}

Result<OwnedBpf<census_bpf>> load(BpfPart part) {
  libbpf_set_print(say_nothing);
  const std::unique_ptr<btf, decltype(&btf__free)> kernel(btf__load_vmlinux_btf(), &btf__free);
  if (!kernel) {
    return Error{ErrorKind::gone,
                 "the kernel does not describe its types (/sys/kernel/btf/vmlinux, CONFIG_DEBUG_INFO_BTF)"};
  }
  OwnedBpf<census_bpf> programs(census_bpf__open());
  if (!programs) return bpf_error("BPF", errno);
  const bool by_cpu = btf__find_by_name_kind(kernel.get(), "mm_rss_stat", BTF_KIND_STRUCT) < 0;
  choose(*programs, part, by_cpu);
  if (census_bpf__load(programs.get()) != 0) return bpf_error("BPF", errno);
  if (by_cpu) TRY(find_cpus(*programs));
  return programs;
}

}  // namespace

Error bpf_error(const char* what, int error) {
  if (error == EPERM || error == EACCES) {
    return {ErrorKind::denied, fmt::format("{} is not permitted: give memoird CAP_BPF and CAP_PERFMON{}", what,
                                           little_may_be_locked() ? ", and before Linux 5.11 LimitMEMLOCK=16M" : "")};
  }
  return {ErrorKind::io, fmt::format("{}: {}", what, std::strerror(error))};
}

Result<Fd> open_iterator(bpf_link* link) {
  Fd iterator(bpf_iter_create(bpf_link__fd(link)));
  if (!iterator) return bpf_error("a BPF iterator", errno);
  return iterator;
}

Result<OwnedBpf<census_bpf>> load_bpf(BpfPart part) {
  auto programs = load(part);
  ::malloc_trim(0);  // the loader had the kernel's types in memory
  return programs;
}

}  // namespace memoir
