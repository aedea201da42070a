// memoir incident on twelve scripted incidents. The first sentence names the culprit and no bystander, and the rows add
// up.

#include <algorithm>
#include <csignal>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "query/ask.h"
#include "query/history.h"
#include "support/catch.h"

namespace incident_scope_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::History;
using nlohmann::json;

namespace {

constexpr std::int64_t kMib = 1024;
constexpr std::int64_t kGib = 1024 * kMib;
constexpr const char* kShop = "/shop.slice/shop.service";
constexpr const char* kDb = "/system.slice/db.service";
constexpr const char* kBuild = "/system.slice/build.service";

CgroupSample group(const char* path, std::int64_t anon_kib, std::int64_t file_kib,
                   std::optional<std::int64_t> max_kib) {
  CgroupSample sample;
  sample.path = path;
  sample.file_kib = file_kib;
  sample.anon_kib = anon_kib;
  sample.shmem_kib = 0;
  sample.kernel_kib = 2 * kMib;
  sample.current_kib = anon_kib + file_kib + 2 * kMib;
  sample.max_kib = max_kib;
  return sample;
}

// A shop in a cgroup, and a bystander: a compiler elsewhere that grows by a gigabyte within the window.
struct Scene {
  History history;
  std::int64_t used_kib = 4 * kGib;

  explicit Scene(std::int64_t interval_ms = History::kInterval) : history(interval_ms) {
    history.begin_run("bpf");
    history.machine(used_kib);
    history.machine(MachineField::psi_some_total, 0);
    history.oom_kills(0);
    history.tell_ends();
    history.birth(50, {"cc1plus", "cc1plus main.cpp", "build", "root", kBuild}, 100 * kMib);
    history.cgroup(group(kBuild, 100 * kMib, 50 * kMib, {}));
  }
  void shop(std::int64_t anon_kib, std::int64_t file_kib = 10 * kMib, const char* path = kShop) {
    history.cgroup(group(path, anon_kib, file_kib, 256 * kMib));
  }
  void compile() {
    history.hold(50, kGib);
    history.cgroup(group(kBuild, kGib, 50 * kMib, {}));
    use(kGib);
  }
  void use(std::int64_t kib) {
    used_kib += kib;
    history.machine(used_kib);
  }
  void kill(std::int32_t pid, const char* comm, const char* cgroup, const char* limit_cgroup, bool counts = true) {
    OomDetail detail{.scope = OomScope::machine};
    if (limit_cgroup != nullptr)
      detail = {
          .scope = OomScope::cgroup, .limit_cgroup = limit_cgroup, .usage_kib = 256 * kMib, .limit_kib = 256 * kMib};
    history.oom_victim({pid, comm, cgroup, history.now_ms() - 2'500, 100 * kMib, 300 * kMib, detail});
    history.death(pid);
    kills += counts ? 1 : 0;
    history.oom_kills(kills);
  }
  json answer(std::vector<std::string> words = {"incident"}) {
    history.tick(30);
    history.end_run();
    return json_of(history, std::move(words));
  }

  std::int64_t kills = 0;
};

std::string first_sentence(const json& answer) {
  const std::string story = answer["story"];
  const std::size_t end = story.find(". ");
  return story.substr(0, end == std::string::npos ? story.size() : end + 1);
}

void check_sums(const json& answer) {
  for (const char* name : {"rows", "machine"}) {
    if (!answer.contains(name) || answer[name].empty()) continue;
    const json& rows = answer[name];
    std::int64_t sum = 0;
    for (std::size_t i = 1; i < rows.size(); ++i) sum += rows[i]["change_kib"].get<std::int64_t>();
    CAPTURE(name, rows.dump(1));
    CHECK(sum == rows[0]["change_kib"]);
  }
}

// Checks that the first sentence has the culprit and not the bystander.
void check_culprit(const json& answer, std::string_view culprit, std::string_view bystander = "cc1plus") {
  const std::string sentence = first_sentence(answer);
  CAPTURE(answer["story"].get<std::string>(), culprit);
  CHECK(sentence.find(culprit) != std::string::npos);
  CHECK(sentence.find(bystander) == std::string::npos);
  check_sums(answer);
}

}  // namespace

TEST_CASE("scope: a kill at a cgroup's limit is explained by that cgroup, against its limit") {
  Scene scene;
  scene.history.birth(100, {"shop", "shop --serve", "app", "www-data", kShop}, 50 * kMib);
  scene.shop(50 * kMib);
  scene.history.tick(70);
  for (int i = 1; i <= 19; ++i) {
    scene.history.hold(100, (50 + i * 10) * kMib);
    scene.shop((50 + i * 10) * kMib, (10 - i / 2) * kMib);
    if (i == 10) scene.compile();
    scene.history.tick();
  }
  scene.kill(100, "shop", kShop, kShop);
  scene.history.tick();
  scene.history.birth(101, {"shop", "shop --serve", "app", "www-data", kShop}, 50 * kMib);
  scene.shop(50 * kMib);
  const json answer = scene.answer();
  check_culprit(answer, "killed shop (100) when shop.service reached its 256.0 MiB limit");
  CHECK(answer["scope_cgroup"] == kShop);
  CHECK(answer["scope_limit_kib"] == 256 * kMib);
  CHECK(answer["scope_restarts"] == 1);
  const std::string story = answer["story"];
  CHECK(story.find("300.0 MiB (above the limit: RSS includes pages charged to other cgroups)") != std::string::npos);
  // The shop grows by 194 MiB in about three minutes, which is 1 MiB a second.
  CHECK(answer["growth_kib_per_s"].get<double>() == Approx(1024).epsilon(0.2));
  const json& rows = answer["rows"];
  CHECK(rows[0]["part"] == "cgroup");
  CHECK(rows[0]["at_kib"] == 256 * kMib);
  CHECK(rows[1]["title"] == "shop --serve in shop.service");
  for (const char* part : {"page_cache", "kernel", "after_last_tick"})
    CHECK(std::ranges::any_of(rows, [part](const json& row) { return row["part"] == part; }));
  CHECK(std::ranges::none_of(rows, [](const json& row) { return row["title"].get<std::string>().starts_with("cc1"); }));
}

TEST_CASE("scope: at a nested limit the cgroup with the limit is named, not only the victim's cgroup") {
  Scene scene;
  const char* api = "/shop.slice/api.service";
  scene.history.birth(100, {"shop", "shop", "app", "www-data", kShop}, 50 * kMib);
  scene.history.birth(110, {"api", "api", "app", "www-data", api}, 50 * kMib);
  scene.shop(100 * kMib, 10 * kMib, "/shop.slice");
  scene.history.tick(70);
  scene.history.hold(100, 190 * kMib);
  scene.shop(240 * kMib, 5 * kMib, "/shop.slice");
  scene.compile();
  scene.history.tick(2);
  scene.kill(110, "api", api, "/shop.slice");
  scene.history.tick();
  const json answer = scene.answer();
  check_culprit(answer,
                "killed api (110) when shop.slice reached its 256.0 MiB limit, after shop in shop.service grew by");
}

TEST_CASE("scope: for a group kill the chosen process is named, and the others are counted") {
  Scene scene;
  for (int pid = 100; pid < 103; ++pid)
    scene.history.birth(pid, {"worker", "worker", "app", "www-data", kShop}, 20 * kMib);
  scene.shop(60 * kMib);
  scene.history.tick(70);
  for (int pid = 100; pid < 103; ++pid) scene.history.hold(pid, 80 * kMib);
  scene.shop(240 * kMib);
  scene.compile();
  scene.history.tick(2);
  for (int pid = 100; pid < 103; ++pid) scene.kill(pid, "worker", kShop, kShop);
  scene.history.tick();
  const json answer = scene.answer();
  check_culprit(answer, "killed worker (100) when shop.service reached its 256.0 MiB limit");
  CHECK(answer["story"].get<std::string>().find("It killed 2 other processes in this window.") != std::string::npos);
}

TEST_CASE("scope: if the machine ran out, its table comes first and the sentence names what grew") {
  Scene scene;
  scene.history.birth(100, {"db", "db", "data", "db", kShop}, 3 * kGib);
  scene.history.birth(200, {"stress", "stress", "batch", "root", "/user.slice/session-1.scope"}, 100 * kMib);
  scene.history.tick(70);
  scene.history.hold(200, 9 * kGib);
  scene.use(9 * kGib);
  scene.compile();
  scene.history.tick(2);
  scene.kill(100, "db", kShop, nullptr);
  scene.history.tick();
  const json answer = scene.answer();
  check_culprit(answer, "killed db (100) because the machine ran out of memory, after stress");
  CHECK(answer["scope"] == "machine");
}

TEST_CASE("scope: a kill by earlyoom names killer, victim and what grew") {
  Scene scene;
  scene.history.birth(100, {"java", "java -jar shop.jar", "app", "app", kShop}, kGib);
  scene.history.tick(70);
  scene.history.hold(100, 9 * kGib);
  scene.use(8 * kGib);
  scene.compile();
  scene.history.tick(2);
  OomVictim java{100, "java", kShop, scene.history.now_ms() - 2'500, 9 * kGib, 9 * kGib};
  java.killer = {"earlyoom", 512, SIGTERM};
  scene.history.oom_victim(java);
  scene.history.death(100);
  scene.history.tick();
  const json answer = scene.answer();
  check_culprit(answer, "earlyoom (512) killed java (100) in shop.service with SIGTERM");
}

TEST_CASE("scope: a full tmpfs is named with its largest entries") {
  Scene scene;
  TmpfsSample run;
  run.mount_point = "/run/upload";
  run.limit_kib = 512 * kMib;
  run.used_kib = 10 * kMib;
  scene.history.tmpfs({run});
  scene.history.tick(70);
  scene.compile();
  run.used_kib = 511 * kMib;
  run.walk = TmpfsWalk::whole;
  run.walked_ms = scene.history.now_ms();
  run.largest = {{"", true, 511 * kMib, 511 * kMib, 2, 0, 0}, {"big.iso", false, 500 * kMib, 500 * kMib, 1, 0, 0}};
  scene.history.tmpfs({run});
  scene.use(501 * kMib);
  scene.history.machine(MachineField::shmem, 511 * kMib);
  scene.history.tick();
  const json answer = scene.answer({"incident", "1"});
  check_culprit(answer, "The tmpfs /run/upload was full: 511.0 MiB of 512.0 MiB");
  CHECK(answer["story"].get<std::string>().ends_with(" Its largest entries: big.iso (500.0 MiB)."));
  CHECK(answer["moment"] == "tmpfs-full");
  REQUIRE(answer["tmpfs"].size() == 2);
  CHECK(answer["tmpfs"][1]["path"] == "/run/upload/big.iso");
  CHECK(answer["rows"][1]["part"] == "shmem");
}

TEST_CASE("scope: a leak over days ends at the limit of its cgroup, and the story mentions the leak") {
  Scene scene(600'000);
  scene.history.birth(100, {"shop", "shop --serve", "app", "www-data", kShop}, 50 * kMib);
  constexpr int days = 6;
  for (int i = 0; i < days * 144; ++i) {
    const std::int64_t kib = 50 * kMib + i * 194 * kMib / (days * 144);
    scene.history.hold(100, kib);
    scene.shop(kib);
    if (i == days * 144 - 3) scene.compile();
    scene.history.tick();
  }
  scene.kill(100, "shop", kShop, kShop);
  scene.history.tick();
  const json answer = scene.answer({"incident", "shop.service", "--window", "1d"});
  check_culprit(answer, "killed shop (100) when shop.service reached its 256.0 MiB limit");
  CHECK(answer["story"].get<std::string>().find("It had been leaking") != std::string::npos);
}

TEST_CASE("scope: a flood of small processes is one cause") {
  Scene scene;
  scene.history.birth(100, {"spawner", "spawner", "app", "www-data", kShop}, 5 * kMib);
  scene.shop(5 * kMib);
  scene.history.tick(70);
  for (int pid = 1000; pid < 1200; ++pid) scene.history.birth(pid, {"job", "job", "app", "www-data", kShop}, kMib);
  scene.shop(205 * kMib);
  scene.compile();
  scene.history.tick(2);
  scene.kill(100, "spawner", kShop, kShop);
  scene.history.tick();
  const json answer = scene.answer();
  check_culprit(answer,
                "when shop.service reached its 256.0 MiB limit, after job in shop.service started and used 200.0 MiB");
}

TEST_CASE("scope: a short spike of an unsampled process is explained only by the limit") {
  Scene scene;
  scene.shop(20 * kMib);
  scene.history.birth(100, {"shop", "shop", "app", "www-data", kShop}, 20 * kMib);
  scene.history.tick(70);
  scene.compile();
  scene.history.tick();
  const OomDetail detail{
      .scope = OomScope::cgroup, .limit_cgroup = kShop, .usage_kib = 256 * kMib, .limit_kib = 256 * kMib};
  scene.history.oom_victim({777, "convert", kShop, scene.history.now_ms() - 2'500, {}, 230 * kMib, detail});
  scene.history.oom_kills(1);
  scene.history.tick();
  const json answer = scene.answer();
  check_culprit(answer, "killed convert (777) when shop.service reached its 256.0 MiB limit");
  CHECK(answer["story"].get<std::string>().find("The victim was never sampled.") != std::string::npos);
}

TEST_CASE("scope: thrashing is an incident of the machine that names what grew") {
  Scene scene;
  scene.history.birth(100, {"cachier", "cachier", "app", "www-data", kShop}, kGib);
  scene.history.tick(70);
  scene.history.hold(100, 10 * kGib);
  scene.use(9 * kGib);
  scene.history.hold(50, 110 * kMib);
  for (int i = 1; i <= 60; ++i) {
    scene.history.machine(scene.used_kib, 4 * kGib);
    scene.history.machine(MachineField::psi_some_total, i * 6'000'000);
    scene.history.tick();
  }
  CHECK(json_of(scene.history, {"incidents", "--kind", "pressure"})["rows"].size() == 1);
  const json swap = json_of(scene.history, {"incidents", "--kind", "swap-full"})["rows"];
  REQUIRE(swap.size() == 1);
  const json answer = scene.answer({"incident", swap[0]["number"].dump(), "--window", "15m"});
  check_culprit(answer, "Swap was exhausted for");
  check_culprit(answer, "after cachier in shop.service grew by 9.0 GiB");
}

TEST_CASE("scope: siblings in a pool are one cause, whichever of them was killed") {
  Scene scene;
  for (int pid = 100; pid < 108; ++pid)
    scene.history.birth(pid, {"worker", "worker --pool", "app", "www-data", kShop}, 5 * kMib);
  scene.history.birth(120, {"logger", "logger", "app", "www-data", kShop}, 5 * kMib);
  scene.shop(45 * kMib);
  scene.history.tick(70);
  for (int pid = 100; pid < 108; ++pid) scene.history.hold(pid, 29 * kMib);
  scene.shop(237 * kMib);
  scene.compile();
  scene.history.tick(2);
  scene.kill(120, "logger", kShop, kShop);
  scene.history.tick();
  const json answer = scene.answer();
  check_culprit(answer, "after worker --pool in shop.service grew by 192.0 MiB");
}

TEST_CASE("scope: page cache against a limit is named as such when processes wait for it") {
  Scene scene;
  CgroupDetail counters;
  counters.path = kShop;
  counters.max_events = 0;
  counters.psi_some_total_us = 0;
  scene.history.birth(100, {"backup", "backup", "app", "www-data", kShop}, 20 * kMib);
  scene.shop(20 * kMib, 30 * kMib);
  scene.history.cgroup_detail(counters);
  scene.history.tick(70);
  scene.compile();
  scene.shop(20 * kMib, 234 * kMib);
  counters.max_events = 900;
  counters.psi_some_total_us = 40'000'000;
  scene.history.cgroup_detail(counters);
  scene.history.tick(3);
  const json answer = scene.answer({"incident", "shop.service"});
  CHECK(answer["moment"] == "limit");
  check_culprit(answer, "shop.service reached its 256.0 MiB limit 900 times");
  check_culprit(answer, "after page cache grew by 204.0 MiB");
}

TEST_CASE("scope: without samples of the cgroup the answer says so, and the machine's table is shown") {
  Scene scene;
  scene.history.birth(100, {"shop", "shop", "app", "www-data", kShop}, 50 * kMib);
  scene.history.tick(70);
  scene.history.hold(100, 240 * kMib);
  scene.compile();
  scene.history.tick(2);
  scene.kill(100, "shop", kShop, kShop);
  scene.history.tick();
  const json answer = scene.answer();
  check_culprit(answer, "killed shop (100) when shop.service reached its 256.0 MiB limit");
  CHECK(answer["story"].get<std::string>().find("The usage of shop.service was not sampled.") != std::string::npos);
  CHECK(answer["scope_sampled"] == false);
  CHECK(answer["growth_kib"].is_null());
  CHECK(answer["rows"][0]["part"] == "machine");
}

TEST_CASE("scope: N, SUBJECT and the time of an incident give the same answer") {
  Scene scene;
  for (const std::int32_t pid : {100, 101}) {
    scene.history.birth(pid, {"shop", "shop", "app", "www-data", kShop}, 50 * kMib);
    scene.shop(50 * kMib);
    scene.history.tick(70);
    scene.history.hold(pid, 240 * kMib);
    scene.shop(240 * kMib);
    scene.history.tick(2);
    scene.kill(pid, "shop", kShop, kShop);
    scene.history.tick();
  }
  const json last = scene.answer();
  const History& history = scene.history;
  CHECK(last["story"].get<std::string>().find("shop (101)") != std::string::npos);
  CHECK(last["kills_30d"] == 1);
  CHECK(last["story"].get<std::string>().find("It was OOM-killed in 1 earlier incident in 30 days") !=
        std::string::npos);
  for (const char* word : {"1", "shop.service", "101", "user:www-data", "unit:shop.service", "comm:shop"})
    CHECK(json_of(history, {"incident", word})["story"] == last["story"]);
  const json list = json_of(history, {"incidents"})["rows"];
  REQUIRE(list.size() == 2);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string command = list[i]["command"];
    const json by_time = json_of(history, {"incident", "--at", command.substr(command.find('@'))});
    CHECK(by_time["story"] == json_of(history, {"incident", std::to_string(i + 1)})["story"]);
  }
  CHECK(json_of(history, {"incident", "2"})["story"].get<std::string>().find("shop (100)") != std::string::npos);
  CHECK(json_of(history, {"incident", "100"})["story"] == json_of(history, {"incident", "2"})["story"]);
  CHECK(ask(history, {"incident", "cc1plus"}).error.find("no incident of cc1plus is recorded") != std::string::npos);
  CHECK(ask(history, {"incident", "nosuch"}).exit == Exit::empty);
  CHECK(ask(history, {"incident", "0"}).exit == Exit::usage);
  CHECK(ask(history, {"incident", "1", "--last-oom"}).exit == Exit::usage);
}

TEST_CASE("scope: of several kills the nearest in time is shown, then the larger one; SUBJECT selects one") {
  Scene scene;
  History& history = scene.history;
  history.birth(100, {"shop", "shop", "app", "www-data", kShop}, 50 * kMib);
  history.birth(200, {"db", "db", "app", "db", kDb}, 50 * kMib);
  scene.shop(50 * kMib);
  history.tick(10);
  const std::int64_t at_ms = history.now_ms() - 2'500;
  const std::int64_t apart_ms = GENERATE(0, 400);
  const auto kill = [&](std::int32_t pid, const char* comm, const char* cgroup, std::int64_t ms,
                        std::int64_t peak_kib) {
    const OomDetail detail{
        .scope = OomScope::cgroup, .limit_cgroup = cgroup, .usage_kib = 256 * kMib, .limit_kib = 256 * kMib};
    history.oom_victim({pid, comm, cgroup, ms, 100 * kMib, peak_kib, detail});
    history.death(pid);
  };
  kill(100, "shop", kShop, at_ms, 200 * kMib);
  kill(200, "db", kDb, at_ms + apart_ms, 210 * kMib);
  history.oom_kills(2);
  history.tick(30);
  history.end_run();
  const auto story = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "incident");
    return json_of(history, words)["story"].get<std::string>();
  };
  const auto starts = [](const std::string& text, const std::string& name) {
    CAPTURE(text);
    return text.starts_with("The OOM killer killed " + name);
  };
  const std::string at = fmt::format("@{}", at_ms);
  CHECK(starts(story({"--at", at}), apart_ms == 0 ? "db (200)" : "shop (100)"));
  CHECK(starts(story({"--at", fmt::format("@{}", at_ms + 400)}), "db (200)"));
  for (const char* word : {"shop.service", "100"}) CHECK(starts(story({word, "--at", at}), "shop (100)"));
  const std::string of_shop = story({"100", "--at", at});
  CAPTURE(of_shop);
  CHECK(
      of_shop.ends_with(fmt::format(" At the same time: The OOM killer killed db (200) when db.service reached its "
                                    "256.0 MiB limit (memoir incident 200 --at @{}).",
                                    at_ms + apart_ms)));
  CHECK(story({"200", "--at", at}).find("At the same time: The OOM killer killed shop (100)") != std::string::npos);
  CHECK(ask(history, {"incident", "cc1plus", "--at", at}).exit == Exit::empty);
}

}  // namespace incident_scope_test
