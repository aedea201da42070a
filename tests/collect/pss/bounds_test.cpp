// Estimates against the truth, over populations of processes that fork, write, map the same files as unrelated
// processes, exec and exit.

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "collect/pss/estimate.h"
#include "support/catch.h"
#include "support/trials.h"

using namespace memoir;

using F = ProcessField;

namespace {

constexpr std::int64_t kPageKib = 4;

struct Life {
  int pid = 0;
  int parent = 0;
  int program = 0;
  bool related = false;
  std::vector<int> anonymous;  // pages
  std::vector<int> file;
  std::vector<int> shmem;
  std::optional<ExactReading> exact;
};

class Population {
 public:
  explicit Population(unsigned seed) : random_(seed) {
    for (int i = 0; i < 6; ++i) begin(0);
  }

  std::vector<Life>& lives() { return lives_; }

  void step() {
    for (int i = 0; i < 4; ++i) act(any());
  }

  std::int64_t family(const Life& life) const { return std::ranges::count(lives_, life.program, &Life::program); }

  // The sample from the process's status.
  ProcessSample sample(const Life& life) const {
    ProcessSample sample;
    const auto kib = [](const std::vector<int>& pages) { return static_cast<std::int64_t>(pages.size()) * kPageKib; };
    sample.memory.set(F::rss_anon, kib(life.anonymous));
    sample.memory.set(F::rss_file, kib(life.file));
    sample.memory.set(F::rss_shmem, kib(life.shmem));
    sample.memory.set(F::vm_rss, kib(life.anonymous) + kib(life.file) + kib(life.shmem));
    sample.memory.set(F::vm_swap, 0);
    return sample;
  }

  // The reading from the process's smaps_rollup.
  void read(Life& life) const {
    ExactReading now{.memory = sample(life).memory};
    ProcessMemory& memory = now.memory;
    memory.set(F::rss, *memory.get(F::vm_rss));
    memory.set(F::anonymous, *memory.get(F::rss_anon));
    memory.set(F::pss_anon, pss(life.anonymous));
    memory.set(F::pss_file, pss(life.file));
    memory.set(F::pss_shmem, pss(life.shmem));
    memory.set(F::pss, pss_kib(life));
    memory.set(F::swap, 0);
    memory.set(F::swap_pss, 0);
    life.exact = now;
    life.related = false;
  }

  std::int64_t pss_kib(const Life& life) const { return pss(life.anonymous) + pss(life.file) + pss(life.shmem); }

 private:
  std::size_t below(std::size_t end) { return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_); }
  Life& any() { return lives_[below(lives_.size())]; }

  // Returns the PSS in bytes. Each page's share is rounded down to a 4096th of a byte.
  std::int64_t pss(const std::vector<int>& pages) const {
    std::int64_t sum = 0;
    for (const int page : pages) sum += (kPageKib * 1024 << 12) / mappers_.at(page);
    return sum >> 22;
  }

  void map(std::vector<int>& pages, int page) {
    pages.push_back(page);
    ++mappers_[page];
  }
  void unmap(std::vector<int>& pages, std::size_t at) {
    --mappers_[pages[at]];
    pages.erase(pages.begin() + static_cast<std::ptrdiff_t>(at));
  }
  void clear(std::vector<int>& pages) {
    while (!pages.empty()) unmap(pages, pages.size() - 1);
  }

  void begin(int parent) {
    Life& life = lives_.emplace_back();
    life.pid = next_pid_++;
    life.parent = parent;
    life.program = static_cast<int>(below(4));
    for (int i = 0; i < 20; ++i) map(life.anonymous, next_page_++);
  }

  // Marks relatives as due, as the collector does.
  void relate(int pid, bool and_children) {
    for (Life& life : lives_) {
      if (life.pid == pid || (and_children && life.parent == pid)) life.related = true;
    }
  }

  void act(Life& life) {
    switch (below(10)) {
      case 0:
        return fork(life);
      case 1:
        return lives_.size() > 3 && below(2) == 0 ? end(life) : run(life);
      case 2:
      case 3:
        return grow(life);
      case 4:
        return shrink(life.anonymous);
      case 5:
        return write(life);
      case 6:
        return shrink(life.file);
      case 7:
        return shrink(life.shmem);
      default:
        return map_of_file(below(2) == 0 ? life.file : life.shmem);
    }
  }

  void fork(const Life& parent) {
    if (lives_.size() > 30) return;
    Life child = parent;
    child.pid = next_pid_++;
    child.parent = parent.pid;
    child.exact.reset();
    for (const auto* pages : {&child.anonymous, &child.file, &child.shmem}) {
      for (const int page : *pages) ++mappers_[page];
    }
    relate(parent.pid, false);
    lives_.push_back(std::move(child));
  }

  void run(Life& life) {
    clear(life.anonymous);
    clear(life.file);
    clear(life.shmem);
    life.exact.reset();
    life.program = static_cast<int>(below(4));
    grow(life);
    relate(life.pid, false);
    relate(life.parent, life.parent != 0);
  }

  void end(Life& life) {
    clear(life.anonymous);
    clear(life.file);
    clear(life.shmem);
    const int pid = life.pid;
    const int parent = life.parent;
    std::erase_if(lives_, [pid](const Life& one) { return one.pid == pid; });
    for (Life& one : lives_) {
      if (one.parent == pid) one.parent = 0;
    }
    relate(parent, parent != 0);
  }

  void grow(Life& life) {
    for (std::size_t i = 1 + below(30); i-- > 0;) map(life.anonymous, next_page_++);
  }

  void shrink(std::vector<int>& pages) {
    for (std::size_t i = below(20); i-- > 0 && !pages.empty();) unmap(pages, below(pages.size()));
  }

  // Writes to pages; shared ones are copied.
  void write(Life& life) {
    for (std::size_t i = below(20); i-- > 0 && !life.anonymous.empty();) {
      const std::size_t at = below(life.anonymous.size());
      if (mappers_[life.anonymous[at]] == 1) continue;
      unmap(life.anonymous, at);
      map(life.anonymous, next_page_++);
    }
  }

  // Maps random pages of a file of 50 pages, which all processes share.
  void map_of_file(std::vector<int>& pages) {
    for (std::size_t i = below(30); i-- > 0;) {
      const int page = -1 - static_cast<int>(below(50));
      if (std::ranges::find(pages, page) == pages.end()) map(pages, page);
    }
  }

  std::mt19937 random_;
  std::map<int, std::int64_t> mappers_;  // number of mappers by page; file pages have negative numbers
  std::vector<Life> lives_;
  int next_pid_ = 1;
  int next_page_ = 0;
};

}  // namespace

TEST_CASE("a reading is within the bounds of the estimate before it, through any changes") {
  std::int64_t estimates = 0;
  std::int64_t own = 0;
  std::int64_t of_family = 0;
  for (unsigned seed = 1; seed <= test::trials(40U); ++seed) {
    Population population(seed);
    for (int step = 0; step < 200; ++step) {
      population.step();
      for (std::size_t i = 0; i < population.lives().size(); ++i) {
        Life& life = population.lives()[i];
        if (life.exact) {
          ProcessSample sample = population.sample(life);
          estimate(*life.exact, life.related, sample);
          if (sample.source == Source::estimated) {
            const PssBounds bounds = pss_bounds(sample, population.family(life));
            const std::int64_t read_kib = population.pss_kib(life);
            CAPTURE(seed, step, life.pid, life.related, population.family(life), *sample.memory.get(F::pss), read_kib);
            REQUIRE(bounds.min_kib <= read_kib);
            REQUIRE(read_kib <= bounds.max_kib);
            REQUIRE(bounds.min_kib <= *sample.memory.get(F::pss));
            REQUIRE(*sample.memory.get(F::pss) <= bounds.max_kib);
            ++estimates;
            const std::int64_t anonymous = *sample.memory.get(F::rss_anon);
            if (bounds.min_kib == anonymous && anonymous > 0) ++own;
            if (bounds.min_kib > 0 && bounds.min_kib < anonymous) ++of_family;
          }
        }
        if ((i + static_cast<std::size_t>(step)) % 3 == 0) population.read(life);
      }
    }
  }
  // The test has made a significant number of estimates.
  CHECK(estimates > 2'500);
  CHECK(own > estimates / 10);
  CHECK(of_family > estimates / 10);
}
