#include "collect/machine_reader.h"

#include <algorithm>
#include <tuple>

#include "proc/meminfo.h"
#include "proc/pressure.h"
#include "proc/sysvipc_shm.h"
#include "proc/vmstat.h"
#include "proc/zoneinfo.h"

namespace memoir {
namespace {

// A user may create as many segments as the kernel permits, which is thousands.
constexpr std::size_t kMaxSegments = 128;

void keep_largest(std::vector<SysvSegment>& segments) {
  if (segments.size() <= kMaxSegments) return;
  const auto rank = [](const SysvSegment& segment) {
    return std::tuple(-segment.rss_kib - segment.swap_kib, -segment.size_kib.value_or(0), segment.shmid);
  };
  const auto end = segments.begin() + kMaxSegments;
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

Status MachineReader::read(CollectContext& context) {
  MachineSample& sample = context.tick.machine;
  OddLines* const odd = &context.tick.odd_lines;
  const auto note = [&context](const Status& parsed) {
    if (!parsed) context.note_malformed(parsed.error());
  };
  const auto meminfo = text(SystemFile::meminfo, context.buffer);
  if (meminfo) note(parse_meminfo(*meminfo, sample, odd));
  const auto vmstat = text(SystemFile::vmstat, context.buffer);
  if (vmstat) note(parse_vmstat(*vmstat, sample.memory, odd));

  // Without CONFIG_PSI or with psi=0 the file is missing, or reading it returns EOPNOTSUPP.
  const auto pressure = text(SystemFile::pressure_memory, context.buffer);
  has_pressure_ = pressure.ok();
  if (pressure) note(parse_pressure(*pressure, sample.memory, odd));

  const auto zones = text(SystemFile::zoneinfo, context.buffer);
  if (zones) {
    const auto kib = parse_per_cpu_free(*zones, page_kib_, odd);
    if (kib) sample.memory.set(MachineField::per_cpu_free, *kib);
    if (!kib) context.note_malformed(kib.error());
  }

  // Without CONFIG_SYSVIPC the file is missing.
  const auto segments = text(SystemFile::sysvipc_shm, context.buffer);
  if (segments) read_segments(*segments, context);
  return meminfo ? Status(Done{}) : meminfo.error();
}

std::optional<std::int64_t> MachineReader::available_kib(Buffer& buffer) {
  MachineSample sample;
  const auto meminfo = text(SystemFile::meminfo, buffer);
  if (!meminfo || !parse_meminfo(*meminfo, sample)) return std::nullopt;
  return sample.memory.get(MachineField::mem_available);
}

void MachineReader::read_segments(std::string_view text, CollectContext& context) {
  auto table = parse_sysvipc_shm(text, &context.tick.odd_lines);
  if (!table) return context.note_malformed(table.error());
  context.tick.machine.memory.set(MachineField::sysv, table->held_kib);
  keep_largest(table->segments);
  if (!context.tick.keyframe && segments_ == table->segments) return;
  segments_ = std::move(table->segments);
  context.tick.segments = segments_;
}

}  // namespace memoir
