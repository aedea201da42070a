// Checks all laws on kept and on drawn schedules. CONTRIBUTING.md describes what to do about a violation.

#include <cstdlib>

#include "base/log.h"
#include "query/render/terminal.h"
#include "support/catch.h"
#include "support/sanitized.h"
#include "world/drive/schedule.h"
#include "world/trial.h"

namespace memoir::world {
namespace {

constexpr std::uint64_t kSeeds = test::kSanitized ? 4 : 60;
constexpr std::int64_t kMinChecks = test::kSanitized ? 0 : 20;  // minimum checks per law; four seeds may miss a law

void set_up() {
  setenv("TMPDIR", "/dev/shm", 0);  // faster for thousands of small files
  query::use_utf8();
  log_start(LogLevel::error);
}

void require_none(const std::vector<std::string>& failed) {
  for (const std::string& line : failed) UNSCOPED_INFO(line);
  REQUIRE(failed.empty());
}

}  // namespace

TEST_CASE("Kept worlds obey the laws") {
  set_up();
  std::vector<std::string> failed;
  for (const Kept& kept : read_all_kept()) {
    Tally tally;
    run_trial(kept.steps, kept.name, {}, tally);
    for (std::string& line : failures(tally, kept)) failed.push_back(std::move(line));
  }
  require_none(failed);
}

// MEMOIR_WORLD_SEED is the first seed.
TEST_CASE("Drawn worlds obey the laws") {
  set_up();
  const char* const given = std::getenv("MEMOIR_WORLD_SEED");
  const std::uint64_t first = given == nullptr ? 1 : std::stoull(given);
  Tally tally;
  for (std::uint64_t seed = first; seed < first + kSeeds; ++seed) {
    run_trial(schedule(seed, kTicks), fmt::format("seed {}", seed), {}, tally);
  }
  require_none(failures(tally, kMinChecks));
}

}  // namespace memoir::world
