#include <cstring>

#include "census/record.h"
#include "collect/exit/exit_fold.h"
#include "fuzz/require.h"
#include "fuzz/targets.h"

namespace memoir::fuzz {
namespace {

// Returns the next record; bytes beyond the end of the text are 0.
template <typename Record>
Record record_of(std::string_view& text) {
  Record record{};
  const std::size_t size = std::min(text.size(), sizeof(record));
  std::memcpy(&record, text.data(), size);
  text.remove_prefix(size);
  return record;
}

void require_sizes(const ProcessMemory& memory) {
  for (std::size_t i = 0; i < ProcessMemory::kCount; ++i) {
    require(memory.get(static_cast<ProcessField>(i)).value_or(0) >= 0, "no field is negative");
  }
}

void require_event(const ProcessEvent& event) {
  require(event.comm.size() <= 16, "a name is short");
  require(event.peak_kib.value_or(0) >= 0, "a peak is not negative");
  if (!event.held) return;
  for (const auto kib : {event.held->anon_kib, event.held->file_kib, event.held->shmem_kib, event.held->swap_kib}) {
    require(kib >= 0, "no memory is negative");
  }
}

}  // namespace

// The text consists of records in the format of the ring buffers.
void census_record(std::string_view text) {
  constexpr KernelUnits units{4096, 100};
  ExitFold fold;
  fold.set_large(16 * 1024);
  if (!text.empty()) {
    const auto record = record_of<::census_record>(text);
    const CensusProcess process = read_record(record, units);
    require(process.comm.size() <= 16, "a name is short");
    require_sizes(process.memory);
    require(brief_sample_of(process) == read_brief_sample(record, units), "a brief sample equals that of a full read");
  }
  std::int64_t ended = 0;
  for (bool end = true; !text.empty(); end = !end) {
    const ProcessEvent event =
        end ? read_end(record_of<exit_record>(text), units) : read_signal(record_of<signal_record>(text), units);
    require_event(event);
    ended += event.kind == ProcessEventKind::exited ? 1 : 0;
    fold.note(event, nullptr, {1'795'166'412'000});
  }
  require(fold.take().exits <= ended, "an exit is counted once");
}

}  // namespace memoir::fuzz
