#include "collect/machine_reader.h"

#include "proc/meminfo.h"
#include "proc/pressure.h"
#include "proc/sysvipc_shm.h"
#include "proc/vmstat.h"

namespace memoir {

Result<std::string_view> MachineReader::text(SystemFile file, Fd& kept, Buffer& buffer) {
  if (!kept) {
    kept = TRY(proc_.open(file));
  }
  auto read = read_all(kept, buffer, proc_.path(file));
  if (!read) kept.reset();
  return read;
}

Status MachineReader::read(Pass& pass) {
  MachineSample& sample = pass.tick.machine;
  const auto meminfo = TRY(text(SystemFile::meminfo, meminfo_, pass.buffer));
  TRY(parse_meminfo(meminfo, sample));

  const auto vmstat = text(SystemFile::vmstat, vmstat_, pass.buffer);
  const Status vmstat_parsed = vmstat ? parse_vmstat(*vmstat, sample.memory) : Done{};
  if (!vmstat_parsed) pass.note_malformed(vmstat_parsed.error());

  // Without CONFIG_PSI or with psi=0 there is no such file, or it answers EOPNOTSUPP.
  const auto pressure = text(SystemFile::pressure_memory, pressure_, pass.buffer);
  has_pressure_ = pressure.ok();
  const Status pressure_parsed = pressure ? parse_pressure(*pressure, sample.memory) : Done{};
  if (!pressure_parsed) pass.note_malformed(pressure_parsed.error());

  // Without CONFIG_SYSVIPC there is none.
  const auto segments = text(SystemFile::sysvipc_shm, sysvipc_shm_, pass.buffer);
  if (segments) {
    const auto sysv_kib = parse_sysvipc_shm(*segments);
    if (sysv_kib) sample.memory.set(MachineField::sysv, *sysv_kib);
    if (!sysv_kib) pass.note_malformed(sysv_kib.error());
  }
  return Done{};
}

}  // namespace memoir
