#include "census/bpf_programs.h"

#include <bpf/bpf.h>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include "census/bpf_census.h"
#include "census/bpf_record.h"

namespace memoir {
namespace {

// libbpf prints pages about programs that the kernel rejected; errno is sufficient.
int say_nothing(libbpf_print_level, const char*, va_list) {
  return 0;
}

// Returns whether less memory may be locked than BPF needs. Kernels before 5.11 count BPF memory as locked memory.
bool little_may_be_locked() {
  constexpr rlim_t enough = 8U << 20;
  rlimit locked{};
  return ::getrlimit(RLIMIT_MEMLOCK, &locked) == 0 && locked.rlim_cur < enough;
}

// Runs the program find_cpus by reading its iterator, which has no output.
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
  if (found.by_cpu == 0) return Done{};
  const std::uint32_t possible = programs.rodata->possible_cpus;
  if (found.cpus < possible) {
    return Error{ErrorKind::io, fmt::format("BPF found {} of {} processors", found.cpus, possible)};
  }
  for (std::uint32_t i = 0; i < possible; ++i) found.cpu_offset[i] -= found.probe_base;
  return Done{};
}

struct Parts {
  bool lists;
  bool events;
};

Result<OwnedBpf<census_bpf>> load(Parts parts) {
  OwnedBpf<census_bpf> programs(census_bpf__open());
  if (!programs) return bpf_error("BPF", errno);
  const auto& of = programs->progs;
  for (bpf_program* const program : {of.on_fork, of.on_exec, of.on_exit, of.on_victim, of.on_signal, of.on_attach}) {
    bpf_program__set_autoload(program, parts.events);
  }
  for (bpf_program* const program : {of.list, of.brief}) bpf_program__set_autoload(program, parts.lists);
  bpf_map__set_autocreate(programs->maps.listed, parts.lists);
  bpf_map__set_autocreate(programs->maps.ring, parts.events);
  const int possible = libbpf_num_possible_cpus();
  if (possible <= 0 || possible > kCensusMostCpus) {
    return Error{ErrorKind::io,
                 fmt::format("this machine may have {} processors, but the BPF programs support at most {}", possible,
                             static_cast<int>(kCensusMostCpus))};
  }
  programs->rodata->possible_cpus = static_cast<std::uint32_t>(possible);
  if (census_bpf__load(programs.get()) != 0) return bpf_error("BPF", errno);
  TRY(find_cpus(*programs));
  return programs;
}

// Loading takes most of the start-up time, so the census and the events share the loaded programs. If the kernel
// rejects the programs for lists or events, the census works without them.
FoundByBpf open_what_may_be() {
  if (::access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
    const Error error{ErrorKind::not_found,
                      "the kernel does not describe its types (/sys/kernel/btf/vmlinux, CONFIG_DEBUG_INFO_BTF)"};
    return {error, error};
  }
  libbpf_set_print(say_nothing);
  auto all = load({.lists = true, .events = true});
  if (!all) all = load({.lists = false, .events = true});
  if (all) {
    const std::shared_ptr<census_bpf> programs = *std::move(all);
    return {make_bpf_census(programs), make_bpf_events(programs)};
  }
  auto fewer = load({.lists = false, .events = false});
  if (!fewer) return {fewer.error(), fewer.error()};
  return {make_bpf_census(*std::move(fewer)), all.error()};
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

FoundByBpf open_by_bpf() {
  auto found = open_what_may_be();
  ::malloc_trim(0);  // returns the memory that the loader needed for the kernel's types
  return found;
}

}  // namespace memoir
