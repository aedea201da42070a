// Cost of a process's mapping summary on top of the bare read of its smaps into the same buffer. The benchmark creates
// many mappings, and reads its own smaps alternately with and without parsing and folding. CPU time; medians.
//
// smaps_bench [REGIONS [ROUNDS]]: by default 20,000 regions, 15 rounds.

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <stdexcept>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include "base/file.h"
#include "collect/mappings/mapping_fold.h"
#include "cost.h"
#include "proc/proc_fs.h"

using namespace memoir;
using namespace memoir::bench;

namespace {

constexpr std::size_t kMaxRows = 500;
constexpr std::size_t kBufferBytes = 64 * 1024;

// Adjacent pages, of which every second one is writable, so that each is a separate region.
class Mapped {
 public:
  enum class Of { memory, file };
  enum class Touch { none, half };

  Mapped(std::size_t regions, Of of, Touch touch) : bytes_(regions * page()) {
    const Fd fd(of == Of::memory
                    ? -1
                    : ::open(std::filesystem::temp_directory_path().c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600));
    if (of == Of::file && ::ftruncate(fd.get(), static_cast<off_t>(bytes_)) != 0) throw std::runtime_error("no file");
    const int flags = MAP_PRIVATE | MAP_NORESERVE | (of == Of::memory ? MAP_ANONYMOUS : 0);
    start_ = static_cast<char*>(::mmap(nullptr, bytes_, PROT_READ, flags, fd.get(), 0));
    if (start_ == MAP_FAILED) throw std::runtime_error("cannot map");
    for (std::size_t i = 0; i < regions; i += 2) {
      char* const at = start_ + i * page();
      if (::mprotect(at, page(), PROT_READ | PROT_WRITE) != 0)
        throw std::runtime_error("cannot create that many regions");
      if (touch == Touch::half) *at = 1;
    }
  }
  ~Mapped() { ::munmap(start_, bytes_); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

 private:
  static std::size_t page() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

  std::size_t bytes_;
  char* start_;
};

void read_pieces(const std::function<void(std::string_view)>& take) {
  static std::vector<char> buffer(kBufferBytes);
  const Fd fd = need(open_file("/proc/self/smaps"));
  for (;;) {
    const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got < 0) throw std::runtime_error("cannot read smaps");
    if (got == 0) return;
    take({buffer.data(), static_cast<std::size_t>(got)});
  }
}

MappingSummary read_summary(const std::vector<TmpfsMount>& tmpfs) {
  MappingFold fold(tmpfs, kMaxRows);
  SmapsParser parser([&](const SmapsRegion& region) { fold.add(region); });
  read_pieces([&](std::string_view piece) { need(parser.add(piece)); });
  need(parser.finish());
  return fold.take();
}

void measure(std::string_view title, std::size_t rounds, const std::vector<TmpfsMount>& tmpfs) {
  std::vector<double> bare;
  std::vector<double> parsed;
  std::vector<double> folded;
  std::size_t bytes = 0;
  std::int64_t regions = 0;
  for (std::size_t i = 0; i < rounds; ++i) {
    bytes = 0;
    bare.push_back(cost_us([&] { read_pieces([&](std::string_view piece) { bytes += piece.size(); }); }));
    parsed.push_back(cost_us([&] {
      SmapsParser parser([&](const SmapsRegion&) { ++regions; });
      read_pieces([&](std::string_view piece) { need(parser.add(piece)); });
      need(parser.finish());
    }));
    folded.push_back(cost_us([&] { read_summary(tmpfs); }));
  }
  fmt::print("{:<28}{:>9}{:>9.1f}{:>12.1f}{:>13.1f}{:>20.1f}{:>7.2f}\n", title,
             static_cast<std::size_t>(regions) / rounds, static_cast<double>(bytes) / (1 << 20), median(bare) / 1000,
             median(parsed) / 1000, median(folded) / 1000, median(folded) / median(bare));
}

std::size_t argument(int argc, char** argv, int index, std::size_t otherwise) {
  return index < argc ? std::strtoul(argv[index], nullptr, 10) : otherwise;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::size_t regions = argument(argc, argv, 1, 20'000);
  const std::size_t rounds = argument(argc, argv, 2, 15);
  Buffer buffer;
  const auto mountinfo = need(read_file(ProcFs().path(SystemFile::mountinfo), buffer));
  const auto tmpfs = need(parse_tmpfs_mounts(mountinfo));
  fmt::print("{} further mappings; CPU time in ms, medians of {} rounds\n\n", regions, rounds);
  fmt::print("{:<28}{:>9}{:>9}{:>12}{:>13}{:>20}{:>7}\n", "", "regions", "MiB", "bare read", "and parsed",
             "parsed and folded", "ratio");
  const auto measure_of = [&](std::string_view title, Mapped::Of of, Mapped::Touch touch) {
    const Mapped mapped(regions, of, touch);
    measure(title, rounds, tmpfs);
  };
  measure_of("anonymous, untouched", Mapped::Of::memory, Mapped::Touch::none);
  measure_of("anonymous, half touched", Mapped::Of::memory, Mapped::Touch::half);
  measure_of("of a file, half touched", Mapped::Of::file, Mapped::Touch::half);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "smaps_bench: {}\n", error.what());
  return 1;
}
