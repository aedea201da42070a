#include "census/record.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <initializer_list>
#include <unistd.h>
#include <utility>

namespace memoir {
namespace {

using F = ProcessField;

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

// More pages than any address space has. A higher count is invalid, and would overflow as bytes.
constexpr std::int64_t kMaxPages = 1LL << 45;

// The parts of a counter change while they are summed, so the sum may be below 0.
std::int64_t pages_of(std::int64_t counter) {
  return std::clamp<std::int64_t>(counter, 0, kMaxPages);
}

std::int64_t pages_of(std::uint64_t counter) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(counter, kMaxPages));
}

// fs/proc/array.c, task_state_array: the highest set bit selects the letter.
char state_letter(std::uint32_t state) {
  constexpr std::uint32_t idle = 0x402;        // TASK_UNINTERRUPTIBLE | TASK_NOLOAD
  constexpr std::uint32_t reported = 0x7f;     // TASK_REPORT
  constexpr std::uint32_t lock_wait = 0x1000;  // TASK_RTLOCK_WAIT: shown as D
  if ((state & idle) == idle) return 'I';
  if ((state & lock_wait) != 0) return 'D';
  const std::string_view letters = "RSDTtXZP";
  return letters.at(static_cast<std::size_t>(std::bit_width(state & reported)));
}

// fs/proc/task_mmu.c, task_mem(): whole pages of the program's own code.
std::int64_t code_bytes(const census_record& record, std::int64_t page_bytes) {
  const auto page = static_cast<std::uint64_t>(page_bytes);
  const std::uint64_t begin = record.code_begin / page * page;
  const std::uint64_t end = (record.code_end + page - 1) / page * page;
  return static_cast<std::int64_t>(std::min<std::uint64_t>(
      end - begin, static_cast<std::uint64_t>(pages_of(std::uint64_t{record.executable})) * page));
}

std::int64_t kib_of(std::int64_t pages, std::int64_t page_bytes) {
  return pages * page_bytes / 1024;
}

void read_resident(const BriefSample& brief_sample, const census_record& record, std::int64_t page_bytes,
                   ProcessMemory& memory) {
  const auto kib = [&](int counter) { return kib_of(pages_of(std::int64_t{record.rss[counter]}), page_bytes); };
  memory.set(F::rss_file, kib(kCensusFile));
  memory.set(F::rss_anon, brief_sample.anon_kib);
  memory.set(F::rss_shmem, kib(kCensusShmem));
  memory.set(F::vm_swap, kib(kCensusSwap));
  memory.set(F::vm_rss, brief_sample.rss_kib);
  memory.set(F::vm_hwm, brief_sample.hwm_kib);
}

void read_sizes(const census_record& record, std::int64_t page_bytes, ProcessMemory& memory) {
  for (const auto& [field, count] :
       std::initializer_list<std::pair<F, std::uint64_t>>{{F::vm_size, record.size},
                                                          {F::vm_peak, std::max(record.peak_size, record.size)},
                                                          {F::vm_lck, record.locked},
                                                          {F::vm_pin, record.pinned},
                                                          {F::vm_data, record.data},
                                                          {F::vm_stk, record.stack},
                                                          {F::hugetlb_pages, record.hugetlb}}) {
    memory.set(field, kib_of(pages_of(count), page_bytes));
  }
  const std::int64_t code = code_bytes(record, page_bytes);
  memory.set(F::vm_exe, code / 1024);
  memory.set(F::vm_lib, (pages_of(std::uint64_t{record.executable}) * page_bytes - code) / 1024);
  memory.set(F::vm_pte, pages_of(std::uint64_t{record.page_tables_bytes} / 1024));
}

std::uint64_t start_ticks(std::uint64_t start_ns, const KernelUnits& units) {
  return start_ns / static_cast<std::uint64_t>(kNsPerSecond / units.ticks_per_second);
}

template <std::size_t size>
std::string name_of(const char (&comm)[size]) {  // NOLINT(modernize-avoid-c-arrays): the records are C's
  return {comm, strnlen(comm, size)};
}

MemoryAtExit held_of(const __s64* rss, const KernelUnits& units) {
  const auto kib = [&](int counter) { return kib_of(pages_of(std::int64_t{rss[counter]}), units.page_bytes); };
  return {kib(kCensusAnon), kib(kCensusFile), kib(kCensusShmem), kib(kCensusSwap)};
}

}  // namespace

KernelUnits KernelUnits::of_this_machine() {
  return {::sysconf(_SC_PAGESIZE), ::sysconf(_SC_CLK_TCK)};
}

std::optional<BriefSample> read_brief_sample(const census_record& record, const KernelUnits& units) {
  if (record.has_memory == 0) return std::nullopt;
  const auto pages = [&](int counter) { return pages_of(std::int64_t{record.rss[counter]}); };
  const std::int64_t rss = pages_of(pages(kCensusFile) + pages(kCensusAnon) + pages(kCensusShmem));
  // The kernel raises its high-water marks only when a size is about to fall.
  const std::int64_t hwm = std::max(pages_of(std::uint64_t{record.peak_rss}), rss);
  return BriefSample{record.pid, start_ticks(record.start_ns, units), kib_of(rss, units.page_bytes),
                     kib_of(pages(kCensusAnon), units.page_bytes), kib_of(hwm, units.page_bytes)};
}

CensusProcess read_record(const census_record& record, const KernelUnits& units) {
  CensusProcess process;
  process.pid = record.pid;
  process.start_ticks = start_ticks(record.start_ns, units);
  process.parent_pid = record.parent_pid;
  process.uid = record.uid;
  process.threads = record.threads;
  process.state = state_letter(record.state);
  process.comm = name_of(record.comm);
  if (const auto resident = read_brief_sample(record, units)) {
    read_resident(*resident, record, units.page_bytes, process.memory);
    read_sizes(record, units.page_bytes, process.memory);
  }
  if (record.threads == 1) process.faulted_kib = kib_of(pages_of(std::uint64_t{record.minor_faults}), units.page_bytes);
  return process;
}

ProcessEvent read_event(const event_record& record, const KernelUnits& units) {
  ProcessEvent event;
  event.kind = static_cast<ProcessEventKind>(record.kind);
  event.pid = record.pid;
  event.parent_pid = record.parent_pid;
  event.shares_memory = record.shares_memory != 0;
  event.start_ticks = start_ticks(record.start_ns, units);
  event.boot_ns = static_cast<std::int64_t>(record.at_ns);
  event.exit_code = record.exit_code;
  if (record.kind == kEventExit) event.peak_kib = kib_of(pages_of(std::int64_t{record.peak_rss}), units.page_bytes);
  event.comm = name_of(record.comm);
  return event;
}

ProcessEvent read_end(const exit_record& record, const KernelUnits& units) {
  ProcessEvent event = read_event(record.event, units);
  if (record.has_memory != 0) event.held = held_of(record.rss, units);
  event.uid = record.uid;
  event.cgroup_id = record.cgroup_id;
  event.memory_cgroup_id = record.memory_cgroup_id;
  return event;
}

ProcessEvent read_signal(const signal_record& record, const KernelUnits& units) {
  ProcessEvent event = read_event(record.event, units);
  if (record.has_memory != 0) event.held = held_of(record.rss, units);
  event.killer = {name_of(record.sender), record.sender_pid, record.signal};
  return event;
}

}  // namespace memoir
