#include "recorder/self_usage.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <iterator>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include "base/file.h"
#include "proc/statm.h"

namespace memoir {
namespace {

constexpr std::int64_t kKib = 1024;

std::int64_t page_bytes() {
  static const std::int64_t bytes = sysconf(_SC_PAGESIZE);
  return bytes;
}

struct Unbacked {
  std::int64_t top = 0;    // bytes in the free end of the heap
  std::int64_t below = 0;  // bytes in other parts of the heap
};

// Returns the bytes of the brk heap that have no memory page. The heap's last `arena` bytes belong to the allocator if
// it has one arena and no other code moves the break. A hole in the heap makes mincore(2) fail; the result is then 0.
Unbacked unbacked_bytes(std::int64_t arena, std::int64_t top) {
  char* end = static_cast<char*>(sbrk(0));
  const auto pages = static_cast<std::size_t>(arena / page_bytes());
  if (pages == 0) return {};
  std::vector<unsigned char> resident(pages);
  const std::size_t length = pages * static_cast<std::size_t>(page_bytes());
  if (mincore(end - length, length, resident.data()) != 0) return {};
  const auto bytes = [](auto from, auto to) {
    return page_bytes() * std::count_if(from, to, [](unsigned char page) { return (page & 1U) == 0; });
  };
  const auto split = resident.end() - std::min<std::ptrdiff_t>(top / page_bytes(), std::ssize(resident));
  return {bytes(split, resident.end()), bytes(resident.begin(), split)};
}

std::optional<std::int64_t> resident_kib() {
  Buffer buffer;
  const Result<std::string_view> text = read_file("/proc/self/statm", buffer);
  if (!text) return std::nullopt;
  const Result<Statm> statm = parse_statm(*text, page_bytes() / kKib);
  return statm ? std::optional(statm->rss_kib) : std::nullopt;
}

std::int64_t tenths_of_mib(std::int64_t kib) {
  return (kib * 10 + 512) / 1024;
}

std::string mib(std::int64_t tenths) {
  return fmt::format("{}.{}M", tenths / 10, tenths % 10);
}

}  // namespace

RecorderMemory measure_self(std::int64_t sqlite_bytes) {
  // arena is the memory from sbrk and further arenas, split into uordblks (in use) and fordblks (free); hblkhd are
  // separately mapped blocks, all in use. keepcost is the free end of the main arena. See mallinfo(3).
  const struct mallinfo2 info = mallinfo2();
  const auto used = static_cast<std::int64_t>(info.uordblks + info.hblkhd);
  const auto free = static_cast<std::int64_t>(info.fordblks);
  const std::int64_t top = std::min(static_cast<std::int64_t>(info.keepcost), free);
  const Unbacked unbacked = unbacked_bytes(static_cast<std::int64_t>(info.arena), top);
  RecorderMemory memory;
  memory.idle_kib = (top - unbacked.top) / kKib;
  // Bytes without a page below the free top are assumed to be in free blocks. Any excess over those is subtracted from
  // data.
  memory.fragmentation_kib = std::max<std::int64_t>(free - top - unbacked.below, 0) / kKib;
  memory.prepared_kib = (unbacked.top + unbacked.below) / kKib;
  // This part includes the rounding errors of the other parts, so that all parts add up.
  memory.data_kib = (used + free) / kKib - memory.prepared_kib - memory.fragmentation_kib - memory.idle_kib;
  // SQLite's count is taken at another moment than the allocator's: it is limited to the memory in use.
  memory.sqlite_kib = std::min(sqlite_bytes / kKib, memory.data_kib);
  memory.rss_kib = resident_kib();
  return memory;
}

std::string to_text(const RecorderMemory& memory) {
  const std::int64_t data = tenths_of_mib(memory.data_kib);
  const std::int64_t fragmentation = tenths_of_mib(memory.fragmentation_kib);
  const std::int64_t idle = tenths_of_mib(memory.idle_kib);
  const std::int64_t prepared = tenths_of_mib(memory.prepared_kib);
  const std::int64_t ready = data + fragmentation + idle;
  return fmt::format(" [rss {}, heap {} = ready {} + prepared {}; ready = data {} + fragmentation {} + idle {}]",
                     memory.rss_kib ? mib(tenths_of_mib(*memory.rss_kib)) : "?", mib(ready + prepared), mib(ready),
                     mib(prepared), mib(data), mib(fragmentation), mib(idle));
}

SelfUsageText::SelfUsageText(const Clock& clock, std::function<RecorderMemory()> measure, std::int64_t interval_ms)
    : clock_(clock), measure_(std::move(measure)), interval_ms_(interval_ms) {}

std::string SelfUsageText::text() {
  const std::scoped_lock lock(mutex_);
  const std::int64_t now_ms = clock_.now().boot_ms;
  if (!measured_ms_ || now_ms - *measured_ms_ >= interval_ms_) {
    measured_ms_ = now_ms;
    text_ = to_text(measure_());
  }
  return text_;
}

}  // namespace memoir
