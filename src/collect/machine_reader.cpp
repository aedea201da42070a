#include "collect/machine_reader.h"

#include <algorithm>
#include <tuple>

#include "proc/meminfo.h"
#include "proc/pressure.h"
#include "proc/sysvipc_shm.h"
#include "proc/vmstat.h"

namespace memoir {
namespace {

// Who may make segments makes as many as the kernel lets them: thousands.
constexpr std::size_t kMostSegments = 128;

void keep_largest(std::vector<SysvSegment>& segments) {
  if (segments.size() <= kMostSegments) return;
  const auto rank = [](const SysvSegment& segment) {
    return std::tuple(-segment.rss_kib - segment.swap_kib, -segment.size_kib, segment.shmid);
  };
  const auto end = segments.begin() + kMostSegments;
  std::ranges::nth_element(segments, end, {}, rank);
  segments.erase(end, segments.end());
  std::ranges::sort(segments, {}, &SysvSegment::shmid);
}

}  // namespace

Result<std::string_view> MachineReader::text(SystemFile file, Buffer& buffer) {
  Fd& kept = kept_.at(static_cast<std::size_t>(file));
  if (!kept) {
    kept = TRY(proc_.open(file));
  }
  auto read = read_all(kept, buffer, proc_.path(file));
  if (!read) kept.reset();
  return read;
}

Status MachineReader::read(Pass& pass) {
  MachineSample& sample = pass.tick.machine;
  const auto meminfo = TRY(text(SystemFile::meminfo, pass.buffer));
  TRY(parse_meminfo(meminfo, sample));

  const auto vmstat = text(SystemFile::vmstat, pass.buffer);
  const Status vmstat_parsed = vmstat ? parse_vmstat(*vmstat, sample.memory) : Done{};
  if (!vmstat_parsed) pass.note_malformed(vmstat_parsed.error());

  // Without CONFIG_PSI or with psi=0 there is no such file, or it answers EOPNOTSUPP.
  const auto pressure = text(SystemFile::pressure_memory, pass.buffer);
  has_pressure_ = pressure.ok();
  const Status pressure_parsed = pressure ? parse_pressure(*pressure, sample.memory) : Done{};
  if (!pressure_parsed) pass.note_malformed(pressure_parsed.error());

  // Without CONFIG_SYSVIPC there is none.
  const auto segments = text(SystemFile::sysvipc_shm, pass.buffer);
  if (segments) read_segments(*segments, pass);
  return Done{};
}

std::optional<std::int64_t> MachineReader::available_kib(Buffer& buffer) {
  MachineSample sample;
  const auto meminfo = text(SystemFile::meminfo, buffer);
  if (!meminfo || !parse_meminfo(*meminfo, sample)) return std::nullopt;
  return sample.memory.get(MachineField::mem_available);
}

void MachineReader::read_segments(std::string_view text, Pass& pass) {
  auto table = parse_sysvipc_shm(text);
  if (!table) return pass.note_malformed(table.error());
  pass.tick.machine.memory.set(MachineField::sysv, table->held_kib);
  if (table->first_malformed) pass.note_malformed(*table->first_malformed);
  keep_largest(table->segments);
  if (!pass.tick.keyframe && segments_ == table->segments) return;
  segments_ = std::move(table->segments);
  pass.tick.segments = segments_;
}

}  // namespace memoir
