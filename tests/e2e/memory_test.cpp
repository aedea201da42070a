// Answers are equal to the allocations, within a page per mapping.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <unistd.h>

#include "holder.h"
#include "recording.h"
#include "support/catch.h"

using namespace memoir::test;
using nlohmann::json;

namespace {

constexpr std::int64_t kPageKib = 4;

std::int64_t mappings(pid_t pid) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  std::int64_t count = 0;
  for (std::string line; std::getline(maps, line);) ++count;
  return count;
}

// The error of VmHWM. The kernel raises it from per-CPU counters that it sums in batches (percpu_counter_batch: twice
// the number of processors, at least 32). Two counters matter here: anonymous and file pages.
std::int64_t high_water_error_kib() {
  const std::int64_t processors = sysconf(_SC_NPROCESSORS_ONLN);
  return 2 * processors * std::max<std::int64_t>(32, 2 * processors) * kPageKib;
}

std::int64_t metric_kib(const json& row, const std::string& metric) {
  INFO(row.dump());
  REQUIRE(row.at(metric + "_kib").is_number());
  return row.at(metric + "_kib");
}

// Checks the growth of a process from `before` to `after`.
void check_growth(const json& before, const json& after, pid_t pid, std::int64_t rss, std::int64_t pss,
                  std::int64_t uss) {
  const std::int64_t tolerance = mappings(pid) * kPageKib;
  const auto check = [&](const std::string& metric, std::int64_t expected) {
    const std::int64_t grown = metric_kib(after, metric) - metric_kib(before, metric);
    INFO(metric << ": grown by " << grown << " KiB, expected " << expected << " within " << tolerance);
    CHECK(std::abs(grown - expected) <= tolerance);
  };
  CHECK(after.at("source") == "exact");
  check("rss", rss);
  check("pss", pss);
  check("uss", uss);
}

}  // namespace

TEST_CASE("private pages are in RSS, PSS and USS alike") {
  const Scene scene;
  Holder holder(scene.folder());
  Recorder recorder(scene);
  recorder.tick();
  const json before = scene.top().at(holder.pid());

  holder.run("private 32768");
  recorder.tick();
  const json held = scene.top().at(holder.pid());
  check_growth(before, held, holder.pid(), 32768, 32768, 32768);

  holder.run("free");
  recorder.tick();
  const json freed = scene.top().at(holder.pid());
  check_growth(before, freed, holder.pid(), 0, 0, 0);
  CHECK(metric_kib(freed, "hwm") >= 32768);
}

TEST_CASE("pages shared by memfd are halved in PSS and not in USS") {
  const Scene scene;
  Holder holder(scene.folder());
  Recorder recorder(scene);
  // The program's own pages are mapped by two processes before and after.
  const pid_t first = holder.run("fork");
  recorder.tick();
  const auto before = scene.top();
  holder.run("reap " + std::to_string(first));

  const pid_t second = holder.run("shared 32768");
  recorder.tick();
  const auto after = scene.top();
  check_growth(before.at(holder.pid()), after.at(holder.pid()), holder.pid(), 32768, 16384, 0);
  check_growth(before.at(first), after.at(second), second, 32768, 16384, 0);
}

TEST_CASE("a copy-on-write child shares unwritten pages") {
  const Scene scene;
  Holder holder(scene.folder());
  Recorder recorder(scene);
  const pid_t first = holder.run("fork");
  recorder.tick();
  const auto before = scene.top();
  holder.run("reap " + std::to_string(first));

  const pid_t second = holder.run("cow 32768");
  recorder.tick();
  const auto after = scene.top();
  // The child writes half of the pages, of which each process then has a copy; both share the other half.
  check_growth(before.at(holder.pid()), after.at(holder.pid()), holder.pid(), 32768, 16384 + 8192, 16384);
  check_growth(before.at(first), after.at(second), second, 32768, 16384 + 8192, 16384);
}

TEST_CASE("shares add up to the total") {
  const Scene scene;
  Holder holder(scene.folder());
  holder.run("private 65536");
  Recorder recorder(scene);
  recorder.tick();
  const json answer = scene.answer({"top", "--limit", "0"});
  double shares = 0;
  std::int64_t pss = 0;
  for (const auto& row : answer.at("rows")) {
    if (row.at("share_percent").is_number()) shares += row.at("share_percent").get<double>();
    if (row.at("pss_kib").is_number()) pss += row.at("pss_kib").get<std::int64_t>();
  }
  CHECK(answer.at("totals").at("pss_kib") == pss);
  CHECK(std::abs(shares - 100.0) < 0.01);
}

TEST_CASE("a spike between two ticks appears in the peaks, with its interval") {
  const Scene scene;
  Holder holder(scene.folder());
  Recorder recorder(scene);
  recorder.tick();
  const json before = scene.top().at(holder.pid());
  const std::int64_t tick_before = *scene.number("SELECT wall_ms FROM tick ORDER BY id DESC LIMIT 1");

  holder.run("spike 98304");
  recorder.tick();
  const std::int64_t tick_after = *scene.number("SELECT wall_ms FROM tick ORDER BY id DESC LIMIT 1");
  // All of the memory is freed, and the high-water mark does not fall in later ticks.
  check_growth(before, scene.top().at(holder.pid()), holder.pid(), 0, 0, 0);
  recorder.tick();
  if (!scene.exits_reported()) {
    WARN("not run: without BPF it may take two minutes until the mark is read");
    return;
  }

  bool found = false;
  for (const auto& row : scene.answer_rows({"peaks", "--limit", "0"})) {
    if (row.at("pid") != holder.pid()) continue;
    found = true;
    const std::int64_t peak = row.at("peak_kib").get<std::int64_t>() - metric_kib(before, "rss");
    CHECK(std::abs(peak - 98304) <= mappings(holder.pid()) * kPageKib + high_water_error_kib());
    CHECK(row.at("at_ms") == tick_after);
    CHECK(row.at("before_ms") == tick_before);
  }
  CHECK(found);
}

TEST_CASE("the memory breakdown includes a process and a file in tmpfs, and adds up") {
  const Scene scene;
  const std::string path = "/dev/shm/memoir-test-" + std::to_string(getpid());
  std::ofstream file(path);
  if (!file) {
    WARN("skipped: /dev/shm cannot be written");
    return;
  }
  file.close();
  Holder holder(scene.folder());
  Recorder recorder(scene);
  const auto held = [&] {
    recorder.tick();
    const json answer = scene.answer({"memory"});
    std::int64_t sum = 0;
    std::map<std::string, std::int64_t> lines;
    for (const json& row : answer.at("rows")) {
      lines[row.at("name")] = row.at("kib");
      if (row.at("of").is_null()) sum += row.at("kib").get<std::int64_t>();
    }
    CHECK(sum == answer.at("totals").at("machine_total_kib"));
    return lines;
  };
  // Other processes use memory at the same time; a compiler can use tens of MiB a second. The test therefore takes the
  // best of many rounds, and allows an error of a quarter.
  constexpr std::int64_t quarter_kib = 32 * 1024;
  std::map<std::string, std::int64_t> min_error{{"anon", 1 << 30}, {"shmem", 1 << 30}, {"tmpfs", 1 << 30}};
  const auto near = [&](const auto& of) { return of.second < quarter_kib; };
  for (int round = 0; round < 40 && !std::ranges::all_of(min_error, near); ++round) {
    auto before = held();
    holder.run("private 131072");
    file.open(path);
    file << std::string(128 << 20U, 'x') << std::flush;
    file.close();
    auto after = held();
    holder.run("free");
    std::filesystem::remove(path);
    for (auto& [line, error] : min_error) error = std::min(error, std::abs(after[line] - before[line] - 128 * 1024));
  }
  for (const auto& [line, error] : min_error) {
    CAPTURE(line, error);
    CHECK(error < quarter_kib);
  }
}
