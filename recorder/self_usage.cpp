#include "recorder/self_usage.h"

#include <algorithm>
#include <fmt/format.h>
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

// Bytes of the brk heap that have no page behind them. The heap's last `arena` bytes are the allocator's as long as it
// has one arena and nobody else moves the break; a hole in it makes mincore(2) fail, and then nothing is claimed.
std::int64_t unbacked_bytes(std::int64_t arena) {
  char* end = static_cast<char*>(sbrk(0));
  const auto pages = static_cast<std::size_t>(arena / page_bytes());
  if (pages == 0) return 0;
  std::vector<unsigned char> resident(pages);
  const std::size_t length = pages * static_cast<std::size_t>(page_bytes());
  if (mincore(end - length, length, resident.data()) != 0) return 0;
  return page_bytes() *
         std::count_if(resident.begin(), resident.end(), [](unsigned char page) { return (page & 1U) == 0; });
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

SelfUsage measure_self(std::int64_t sqlite_bytes) {
  SelfUsage usage;
  usage.rss_kib = resident_kib();
  // arena is what sbrk and further arenas gave, split into uordblks (in use) and fordblks (free); hblkhd are the blocks
  // mapped on their own, all of them in use. keepcost is the free end of the main arena. See mallinfo(3).
  const struct mallinfo2 info = mallinfo2();
  const auto arena = static_cast<std::int64_t>(info.arena);
  const auto used = static_cast<std::int64_t>(info.uordblks + info.hblkhd);
  const auto free = static_cast<std::int64_t>(info.fordblks);
  // SQLite's count is taken at another moment than the allocator's: it cannot be more than all that is in use.
  const std::int64_t sqlite = std::min(sqlite_bytes, used);
  const std::int64_t releasable = std::min(static_cast<std::int64_t>(info.keepcost), free);
  usage.sqlite_kib = sqlite / kKib;
  usage.releasable_kib = releasable / kKib;
  usage.fragments_kib = (free - releasable) / kKib;
  usage.heap_kib = (used + free) / kKib;
  // The remainders of the divisions go here, so that the parts add up.
  usage.other_kib = usage.heap_kib - usage.sqlite_kib - usage.releasable_kib - usage.fragments_kib;
  usage.unbacked_kib = unbacked_bytes(arena) / kKib;
  return usage;
}

std::string to_text(const SelfUsage& usage) {
  const std::int64_t sqlite = tenths_of_mib(usage.sqlite_kib);
  const std::int64_t other = tenths_of_mib(usage.other_kib);
  const std::int64_t free = tenths_of_mib(usage.fragments_kib + usage.releasable_kib);
  const std::int64_t unbacked = tenths_of_mib(usage.unbacked_kib);
  return fmt::format(" [rss {}, heap {} = sqlite {} + other {} + free {}{}]",
                     usage.rss_kib ? mib(tenths_of_mib(*usage.rss_kib)) : "?", mib(sqlite + other + free), mib(sqlite),
                     mib(other), mib(free), unbacked > 0 ? fmt::format("; {} not backed", mib(unbacked)) : "");
}

SelfUsageText::SelfUsageText(const Clock& clock, std::function<SelfUsage()> measure, std::int64_t interval_ms)
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
