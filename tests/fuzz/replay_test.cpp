// Runs the fuzz targets on every fixture, on their own seeds, and on deterministic mutations of both, so that each
// build exercises them. MEMOIR_FUZZ_SEED selects other mutations.

#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/targets.h"
#include "support/catch.h"
#include "support/fixture.h"
#include "support/slurp.h"
#include "support/trials.h"

using namespace memoir;

namespace {

constexpr std::array<std::string_view, 34> kTokens = {"\n",
                                                      ":",
                                                      " kB\n",
                                                      " ",
                                                      "\t",
                                                      ")",
                                                      "(",
                                                      "-1",
                                                      "9223372036854775807",
                                                      "18446744073709551616",
                                                      "0",
                                                      ".",
                                                      "=",
                                                      "/",
                                                      "Rss:",
                                                      "1000-2000 rw-s 00000000 00:17 42 /x\n",
                                                      "\\012",
                                                      "VmRSS:\t",
                                                      "MemTotal: 1 kB\n",
                                                      "HugePages_Total: 9\n",
                                                      "pgfault 1\n",
                                                      "some ",
                                                      "0::/",
                                                      "Name:\t",
                                                      "Uid:\t0\t0\t0\t0\n",
                                                      "x 1000-2000 [ 4K 1.5M ] rw-/rwx SM=PRV\n",
                                                      "7 1 7 0 root S Sun Nov 22 12:42:56 2026 x\n",
                                                      "\n4,2810,14531387778,-;",
                                                      ",task_memcg=",
                                                      ") total-vm:1kB",
                                                      "\\x0a",
                                                      "\xff\xfe",
                                                      "\x1b[2J",
                                                      std::string_view("\0", 1)};

std::mt19937_64::result_type seed() {
  const char* const given = std::getenv("MEMOIR_FUZZ_SEED");
  return given == nullptr ? 20'240'229U : std::strtoull(given, nullptr, 10);
}

class Mutator {
 public:
  explicit Mutator(std::vector<std::string> texts) : texts_(std::move(texts)), random_(seed()) {}

  std::string next() {
    std::string text = texts_[below(texts_.size())];
    for (std::size_t edits = 1 + below(4); edits > 0; --edits) edit(text);
    return text;
  }

 private:
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }

  void edit(std::string& text) {
    const std::size_t at = below(text.size() + 1);
    switch (below(5)) {
      case 0:
        text.resize(at);
        break;
      case 1:
        text.erase(at, 1 + below(40));
        break;
      case 2:
        text.insert(at, kTokens[below(kTokens.size())]);
        break;
      case 3:
        if (at < text.size()) text[at] = static_cast<char>(below(256));
        break;
      default:
        text.insert(at, text.substr(below(text.size() + 1), below(200)));
    }
  }

  std::vector<std::string> texts_;
  std::mt19937_64 random_;
};

// Copies the text to memory of exactly its size, so that the address sanitizer detects reads beyond it.
void run(const fuzz::Target& target, std::string_view text) {
  const std::unique_ptr<char[]> exact(new char[text.size()]);
  text.copy(exact.get(), text.size());
  target.run({exact.get(), text.size()});
}

void run_all(const fuzz::Target& target, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) run(target, text);
  Mutator mutator(texts);
  for (int i = 0; i < test::trials(target.mutations); ++i) run(target, mutator.next());
}

// Texts written for this target: cases that the fixtures lack, and past failures.
std::vector<std::string> seeds_of(const char* target) {
  std::vector<std::string> seeds;
  const std::string folder = std::string(MEMOIR_FUZZ_SEEDS) + "/" + target;
  if (!std::filesystem::exists(folder)) return seeds;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) seeds.push_back(test::slurp(entry.path()));
  return seeds;
}

}  // namespace

TEST_CASE("every fuzz target passes on all fixtures and their mutations") {
  std::vector<std::string> texts;
  for (const std::string& name : test::fixtures()) {
    if (!name.ends_with(".db")) texts.push_back(test::fixture(name));
  }
  REQUIRE(texts.size() > 40);
  for (const fuzz::Target& target : fuzz::kTargets) {
    INFO(target.name);
    const bool quick = target.mutations >= 1000;
    if (quick) run_all(target, texts);
  }
  SUCCEED();
}

TEST_CASE("every fuzz target passes on its seeds and their mutations") {
  std::size_t found = 0;
  for (const fuzz::Target& target : fuzz::kTargets) {
    INFO(target.name);
    const std::vector<std::string> seeds = seeds_of(target.name);
    found += seeds.size();
    if (!seeds.empty()) run_all(target, seeds);
  }
  CHECK(found > 20);
}
