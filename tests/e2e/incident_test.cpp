// Real processes that are killed at the limit of a real cgroup, and what `memoir incident` says of it.

#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <unistd.h>

#include "holder.h"
#include "limited_cgroup.h"
#include "recording.h"
#include "support/catch.h"

using namespace memoir::test;
using nlohmann::json;

namespace {

constexpr std::int64_t kLimitKib = 48 * 1024;

// Holds more and more in the cgroup, a tick after each step, until it is killed. False: nobody kills it.
template <typename Tick>
bool grow_until_killed(Holder& holder, Tick tick) {
  for (int step = 0; step < 16; ++step) {
    try {
      holder.tell("private 8192");
    } catch (const std::runtime_error&) {
      return true;
    }
    tick();
  }
  return false;
}

// A file of 48 MiB in a real tmpfs, where there is one with room for it.
class TmpfsFile {
 public:
  TmpfsFile() : path_("/dev/shm/memoir-incident-" + std::to_string(::getpid())) {
    std::ofstream out(path_, std::ios::binary);
    written_ = static_cast<bool>(out << std::string(48U << 20, 'x') << std::flush);
  }
  ~TmpfsFile() {
    std::error_code error;
    std::filesystem::remove(path_, error);
  }
  TmpfsFile(const TmpfsFile&) = delete;
  TmpfsFile& operator=(const TmpfsFile&) = delete;

  bool written() const { return written_; }

 private:
  std::string path_;
  bool written_ = false;
};

std::int64_t victims_of(const Scene& scene, const std::string& cgroup) {
  return scene.number("SELECT count(*) FROM event WHERE kind = 'oom-victim' AND detail->>'cgroup' = '" + cgroup + "'")
      .value_or(0);
}

}  // namespace

TEST_CASE("incident: a service that grows to its limit beside a job and a tmpfs is told first, and the parts add up") {
  const Scene scene;
  const LimitedCgroup cgroup(kLimitKib, "memoir-incident-" + std::to_string(::getpid()));
  std::optional<Holder> service(std::in_place, scene.folder());
  Holder batch(scene.folder(), {"batch"});
  cgroup.forbid_swap(kLimitKib);
  if (!cgroup.usable() || !cgroup.take(service->pid())) {
    WARN("skipped: no cgroup can be made here, or the memory controller is not there");
    return;
  }
  const pid_t pid = service->pid();
  Recorder recorder(scene);
  recorder.tick();
  batch.tell("private 65536");
  const TmpfsFile file;
  if (!grow_until_killed(*service, [&] { recorder.tick(); })) {
    WARN("skipped: the limit of a cgroup kills nobody here");
    return;
  }
  recorder.tick();
  recorder.tick();  // what its end was is told by now
  REQUIRE(recorder.stop() == 0);
  // Others are killed on this machine as well, and which was the last is not ours to say.
  const auto killed_ms =
      scene.number("SELECT wall_ms FROM event WHERE kind = 'oom-victim' AND detail->>'pid' = " + std::to_string(pid));
  CHECK(scene.answer({"incident", "--last-oom"}).at("moment") == "oom-kill");
  if (!killed_ms) {
    WARN("skipped: the kernel does not tell the recorder whom it kills");
    return;
  }
  const json answer = scene.answer({"incident", "--at", "@" + std::to_string(*killed_ms)});
  CAPTURE(answer.dump(1));
  CHECK(answer.at("moment") == "oom-kill");
  const json& rows = answer.at("rows");
  std::int64_t sum = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) sum += rows[i].at("change_kib").get<std::int64_t>();
  CHECK(sum == rows[0].at("change_kib"));
  const auto held = [&](const char* end, std::int64_t least) {
    return std::any_of(rows.begin(), rows.end(), [&](const json& row) {
      return row.at("part").get<std::string>().ends_with(end) && row.at("change_kib") >= least;
    });
  };
  CHECK(held(" batch", 60 * 1024));
  if (file.written()) CHECK(held("shmem", 44 * 1024));
  CHECK(rows[1].at("title").get<std::string>().starts_with("holder"));
  CHECK(rows[1].at("change_kib") >= kLimitKib / 2);
  CHECK(rows[1].at("what").get<std::string>().starts_with("killed"));
  const json& victims = answer.at("victims");
  const auto victim = std::find_if(victims.begin(), victims.end(), [&](const json& of) { return of.at("pid") == pid; });
  REQUIRE(victim != victims.end());
  CHECK(victim->at("cgroup") == cgroup.path());
  // Of many kills in a few seconds the log tells little.
  if (!victim->at("scope").is_null() && victim->at("limit_cgroup") != "") {
    CHECK(victim->at("limit_cgroup") == cgroup.path());
    CHECK(victim->at("limit_kib") == kLimitKib);
  }
}

TEST_CASE("incident: of kills in a row, the recorder being killed in between, none is told twice or lost") {
  constexpr int kills = 20;
  const Scene scene;
  const LimitedCgroup cgroup(16 * 1024, "memoir-kills-" + std::to_string(::getpid()));
  cgroup.forbid_swap(16 * 1024);
  std::set<pid_t> killed;
  const auto kill_one = [&] {
    Holder holder(scene.folder());
    if (!cgroup.usable() || !cgroup.take(holder.pid())) return false;
    try {
      holder.tell("private 65536");
    } catch (const std::runtime_error&) {
      killed.insert(holder.pid());
      return true;
    }
    return false;
  };
  std::optional<Recorder> recorder(std::in_place, scene);
  recorder->tick();
  for (int i = 0; i < kills; ++i) {
    if (!kill_one()) {
      WARN("skipped: no cgroup can be made here, or its limit kills nobody");
      return;
    }
    if (i != kills / 2) continue;
    recorder->tick();
    recorder->tick();
    recorder->kill();
    recorder.emplace(scene);
    recorder->tick();
  }
  recorder->tick();
  recorder->tick();
  REQUIRE(recorder->stop() == 0);
  const bool by_events = scene.ends_told();
  for (const pid_t pid : killed) {
    CAPTURE(pid);
    const auto told = scene.number("SELECT count(*) FROM event WHERE kind = 'oom-victim' AND detail->>'pid' = " +
                                   std::to_string(pid));
    CHECK(told <= 1);
    CHECK((told == 1 || !by_events));
  }
  CHECK(scene.answer({"status"}).at("oom_kills") >= kills - 1);
  if (!by_events) return;
  CHECK(victims_of(scene, cgroup.path()) == kills);
  const json answer = scene.answer({"incident", "--last-oom", "--window", "1h"});
  CHECK(answer.at("victims").size() >= killed.size());
}
