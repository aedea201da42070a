#include <algorithm>
#include <array>
#include <bpf/bpf.h>
#include <cerrno>
#include <cstring>
#include <span>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#include "base/reserve_closely.h"
#include "census/bpf_programs.h"
#include "census/bpf_record.h"
#include "census/record.h"

namespace memoir {
namespace {

constexpr int kAttempts = 3;

// Reads an iterator to its end and passes its records to `take` in pieces of complete records.
template <typename Take>
Status read_iterator(bpf_link* link, Take take) {
  const Fd iterator = TRY(open_iterator(link));
  alignas(census_record) std::array<char, 64 * sizeof(census_record)> piece;
  std::size_t held = 0;
  while (true) {
    const ssize_t got = ::read(iterator.get(), piece.data() + held, piece.size() - held);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return bpf_error("reading a BPF iterator", errno);
    if (got == 0) break;
    held += static_cast<std::size_t>(got);
    const std::size_t whole = held / sizeof(census_record) * sizeof(census_record);
    take(piece.data(), whole);
    std::copy(piece.begin() + static_cast<std::ptrdiff_t>(whole), piece.begin() + static_cast<std::ptrdiff_t>(held),
              piece.begin());
    held -= whole;
  }
  if (held != 0) return Error{ErrorKind::malformed, "a BPF iterator ended within a record"};
  return Done{};
}

// Maps the kernel's list of records into our memory. Mapped pages count as resident, so only the used part is mapped.
class MappedList {
 public:
  MappedList() = default;
  ~MappedList() { unmap(); }
  MappedList(const MappedList&) = delete;
  MappedList& operator=(const MappedList&) = delete;

  // Returns the first `count` records; nullptr if they cannot be mapped.
  const census_record* of(std::size_t count, int map) {
    if (count * sizeof(census_record) <= bytes_) return static_cast<const census_record*>(at_);
    unmap();
    bytes_ = std::min<std::size_t>(count + kSpare, kCensusMostListed) * sizeof(census_record);
    at_ = ::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, map, 0);
    if (at_ == MAP_FAILED) bytes_ = 0;
    return bytes_ == 0 ? nullptr : static_cast<const census_record*>(at_);
  }

 private:
  static constexpr std::size_t kSpare = 64;

  void unmap() {
    if (bytes_ > 0) ::munmap(at_, bytes_);
    bytes_ = 0;
  }

  void* at_ = nullptr;
  std::size_t bytes_ = 0;
};

class BpfCensus final : public Census {
 public:
  explicit BpfCensus(std::shared_ptr<census_bpf> programs) : programs_(std::move(programs)) {}

  Status open() {
    link_.reset(bpf_program__attach_iter(programs_->progs.census, nullptr));
    if (!link_) return bpf_error("a BPF iterator over tasks", errno);
    return Done{};
  }

  Status read(std::vector<CensusProcess>& processes) override {
    const auto add = [&](const census_record& record) { processes.push_back(read_record(record, units_)); };
    return read_listed(programs_->progs.list, processes, add) ? Status(Done{}) : read_iterated(processes, add);
  }

  Status read_brief(std::vector<BriefSample>& samples) override {
    const auto add = [&](const census_record& record) {
      if (const auto sample = read_brief_sample(record, units_)) samples.push_back(*sample);
    };
    return read_listed(programs_->progs.brief, samples, add) ? Status(Done{}) : read_iterated(samples, add);
  }

  std::string_view name() const override { return "bpf"; }

 private:
  // Passes the records of the list to `add` in pid order. Returns false if there is no list: before Linux 6.7, or with
  // too many processes.
  template <typename Seen, typename Add>
  bool read_listed(const bpf_program* program, std::vector<Seen>& seen, Add add) {
    const std::uint32_t count = many_ ? 0 : run(program);
    many_ |= count > kCensusMostListed;
    if (count == 0 || many_) return false;
    const census_record* const listed = list_.of(count, bpf_map__fd(programs_->maps.listed));
    if (listed == nullptr) return false;
    std::vector<const census_record*> by_pid;
    by_pid.reserve(count);
    for (const census_record& record : std::span(listed, count)) by_pid.push_back(&record);
    std::ranges::stable_sort(by_pid, {}, &census_record::pid);  // the list is in order of age, so mostly sorted
    seen.clear();
    seen.reserve(count);
    for (const census_record* record : by_pid) add(*record);
    return true;
  }

  static std::uint32_t run(const bpf_program* program) {
    bpf_test_run_opts run{};  // clang does not accept LIBBPF_OPTS in C++
    run.sz = sizeof run;
    const int descriptor = bpf_program__fd(program);
    return descriptor >= 0 && bpf_prog_test_run_opts(descriptor, &run) == 0 ? run.retval : 0;
  }

  template <typename Seen, typename Add>
  Status read_iterated(std::vector<Seen>& seen, Add add) {
    Status read = read_all(seen, add);
    for (int attempt = 1; !read && attempt < kAttempts; ++attempt) read = read_all(seen, add);
    if (!read) return read;
    many_ = last_count_ > kCensusMostListed;
    if (!std::ranges::is_sorted(seen, {}, &Seen::pid)) std::ranges::sort(seen, {}, &Seen::pid);
    return Done{};
  }

  template <typename Seen, typename Add>
  Status read_all(std::vector<Seen>& seen, Add add) {
    seen.clear();
    reserve_closely(seen, last_count_);
    last_count_ = 0;
    return read_iterator(link_.get(), [&](const char* bytes, std::size_t size) {
      last_count_ += size / sizeof(census_record);
      for (std::size_t at = 0; at < size; at += sizeof(census_record)) {
        census_record record;
        std::memcpy(&record, bytes + at, sizeof record);
        add(record);
      }
    });
  }

  const KernelUnits units_ = KernelUnits::of_this_machine();
  std::shared_ptr<census_bpf> programs_;
  OwnedBpf<bpf_link> link_;
  MappedList list_;
  bool many_ = false;           // true if the processes are too many for a list
  std::size_t last_count_ = 0;  // records of the last iteration
};

}  // namespace

Result<std::unique_ptr<Census>> make_bpf_census(std::shared_ptr<census_bpf> programs) {
  auto census = std::make_unique<BpfCensus>(std::move(programs));
  TRY(census->open());
  return std::unique_ptr<Census>(std::move(census));
}

}  // namespace memoir
