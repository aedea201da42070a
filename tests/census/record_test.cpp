// Conversion of the BPF program's records into fields of /proc/PID/status.

#include "census/record.h"

#include <algorithm>
#include <limits>

#include "support/catch.h"

namespace memoir::test {
namespace {

using F = ProcessField;

census_record record_of(std::uint32_t state) {
  census_record record{};
  record.pid = 7;
  record.state = state;
  return record;
}

TEST_CASE("states have the letters of /proc/PID/status") {
  const auto letter = [](std::uint32_t state) { return read_record(record_of(state), {}).state; };
  CHECK(letter(0) == 'R');
  CHECK(letter(1) == 'S');
  CHECK(letter(2) == 'D');
  CHECK(letter(4) == 'T');
  CHECK(letter(8) == 't');
  CHECK(letter(0x10) == 'X');
  CHECK(letter(0x20) == 'Z');
  CHECK(letter(0x40) == 'P');
  CHECK(letter(0x402) == 'I');
  CHECK(letter(0x102) == 'D');  // killable
  CHECK(letter(0x1000) == 'D');
  CHECK(letter(0x80) == 'R');  // dead, but not yet in a state that status shows
}

TEST_CASE("a brief read has RSS, and no RSS for a zombie") {
  census_record record{};
  record.pid = 7;
  record.start_ns = 12'345'678'901;
  CHECK_FALSE(read_brief_sample(record, {}));
  record.has_memory = 1;
  record.rss[kCensusFile] = 10;
  record.rss[kCensusAnon] = 20;
  record.rss[kCensusShmem] = -1;  // a part of the RSS changed while it was summed
  record.peak_rss = 40;
  CHECK(read_brief_sample(record, {}) == BriefSample{7, 1234, 120, 80, 160});
  CHECK(read_record(record, {}).memory.get(F::rss_shmem) == 0);
  CHECK(brief_sample_of(read_record(record, {})) == read_brief_sample(record, {}));
}

TEST_CASE("faults are known for a process with a single thread") {
  census_record record = record_of(1);
  record.minor_faults = 7;
  record.threads = 2;
  CHECK_FALSE(read_record(record, {}).faulted_kib);
  record.threads = 1;
  CHECK(read_record(record, {}).faulted_kib == 28);
}

TEST_CASE("sizes are converted from pages to KiB") {
  census_record record = record_of(1);
  record.has_memory = 1;
  record.rss[kCensusFile] = 10;
  record.rss[kCensusAnon] = 20;
  record.rss[kCensusShmem] = 5;
  record.rss[kCensusSwap] = 3;
  record.peak_rss = 30;  // below its current RSS
  record.size = 100;
  record.peak_size = 120;
  record.executable = 8;
  record.code_begin = 0x400100;
  record.code_end = 0x402001;
  record.page_tables_bytes = 40960;
  const ProcessMemory memory = read_record(record, {}).memory;
  CHECK(memory.get(F::rss_file) == 40);
  CHECK(memory.get(F::rss_anon) == 80);
  CHECK(memory.get(F::rss_shmem) == 20);
  CHECK(memory.get(F::vm_rss) == 140);
  CHECK(memory.get(F::vm_hwm) == 140);
  CHECK(memory.get(F::vm_swap) == 12);
  CHECK(memory.get(F::vm_size) == 400);
  CHECK(memory.get(F::vm_peak) == 480);
  CHECK(memory.get(F::vm_exe) == 12);  // from 0x400000 to 0x403000
  CHECK(memory.get(F::vm_lib) == 20);
  CHECK(memory.get(F::vm_pte) == 40);
  CHECK(memory.get(F::hugetlb_pages) == 0);
  CHECK_FALSE(memory.has(F::pss));
}

TEST_CASE("page size and clock ticks are those of the machine") {
  census_record record = record_of(1);
  record.has_memory = 1;
  record.size = 2;
  record.start_ns = 12'345'678'901;
  const CensusProcess process = read_record(record, {.page_bytes = 65536, .ticks_per_second = 1000});
  CHECK(process.memory.get(F::vm_size) == 128);
  CHECK(process.start_ticks == 12345);
}

TEST_CASE("a name of maximum length is complete, and a negative counter is 0") {
  census_record record = record_of(1);
  record.has_memory = 1;
  record.rss[kCensusAnon] = -3;
  std::fill(std::begin(record.comm), std::end(record.comm), 'x');
  const CensusProcess process = read_record(record, {});
  CHECK(process.comm == std::string(16, 'x'));
  CHECK(process.memory.get(F::rss_anon) == 0);
}

TEST_CASE("absurd numbers are clamped to valid values") {
  census_record record{};
  std::fill_n(reinterpret_cast<unsigned char*>(&record), sizeof(record), static_cast<unsigned char>(0x7f));
  record.page_tables_bytes = ~__u64{0};
  const CensusProcess process = read_record(record, {});
  for (std::size_t i = 0; i < ProcessMemory::kCount; ++i) {
    CHECK(process.memory.get(static_cast<F>(i)).value_or(0) >= 0);
  }
  CHECK(process.memory.get(F::vm_size) == process.memory.get(F::vm_rss));
  CHECK(process.memory.get(F::vm_exe).value() + process.memory.get(F::vm_lib).value() ==
        process.memory.get(F::vm_size));
  exit_record end{};
  end.has_memory = 1;
  end.rss[kCensusAnon] = end.event.peak_rss = std::numeric_limits<__s64>::max();
  end.event.kind = kEventExit;
  CHECK(read_end(end, {}).peak_kib == process.memory.get(F::vm_size));
  CHECK(read_end(end, {}).held->anon_kib == process.memory.get(F::vm_size));
}

TEST_CASE("events use the units of samples, and only exits have a peak") {
  event_record record{};
  record.at_ns = 5;
  record.start_ns = 12'345'678'901;
  record.peak_rss = 10;
  record.kind = kEventExit;
  record.pid = 7;
  record.parent_pid = 6;
  record.exit_code = 0x2a00;
  const ProcessEvent end = read_event(record, {});
  CHECK(end.kind == ProcessEventKind::exited);
  CHECK(end.start_ticks == 1234);
  CHECK(end.boot_ns == 5);
  CHECK(end.peak_kib == 40);
  CHECK(end.exit_code == 0x2a00);
  exit_record whole{};
  whole.event = record;
  whole.uid = 1000;
  whole.cgroup_id = 8;
  whole.memory_cgroup_id = 9;
  CHECK_FALSE(read_end(whole, {}).held);
  whole.has_memory = 1;
  whole.rss[kCensusAnon] = 5;
  whole.rss[kCensusSwap] = -1;
  const ProcessEvent event = read_end(whole, {});
  CHECK(event.peak_kib == 40);
  CHECK(event.uid == 1000);
  CHECK(event.cgroup_id == 8);
  CHECK(event.memory_cgroup_id == 9);
  CHECK(event.held == MemoryAtExit{.anon_kib = 20, .file_kib = 0, .shmem_kib = 0, .swap_kib = 0});
  signal_record sent{};
  sent.event = record;
  sent.event.kind = kEventSignal;
  sent.signal = 15;
  sent.sender_pid = 512;
  std::copy_n("systemd-oomd", 13, std::begin(sent.sender));
  CHECK_FALSE(read_signal(sent, {}).held);
  sent.has_memory = 1;
  sent.rss[kCensusAnon] = 5;
  sent.rss[kCensusFile] = 2;
  const ProcessEvent signalled = read_signal(sent, {});
  CHECK(signalled.kind == ProcessEventKind::signalled);
  CHECK(signalled.pid == 7);
  CHECK_FALSE(signalled.peak_kib);
  CHECK(signalled.killer == OomKiller{"systemd-oomd", 512, 15});
  CHECK(signalled.held == MemoryAtExit{.anon_kib = 20, .file_kib = 8, .shmem_kib = 0, .swap_kib = 0});
  record.kind = kEventVictim;
  CHECK(read_event(record, {}).kind == ProcessEventKind::oom_victim);
  CHECK_FALSE(read_event(record, {}).peak_kib);
}

}  // namespace
}  // namespace memoir::test
