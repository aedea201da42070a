// Real processes are killed at the limit of a real cgroup, and `memoir incident` reports them.

#include <filesystem>
#include <fstream>
#include <optional>
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

// Allocates memory in the cgroup step by step, with a tick after each, until the process is killed. Returns false if it
// is not killed.
template <typename Tick>
bool grow_until_killed(Holder& holder, Tick tick) {
  for (int step = 0; step < 16; ++step) {
    try {
      holder.run("private 8192");
    } catch (const std::runtime_error&) {
      return true;
    }
    tick();
  }
  return false;
}

// A file of 48 MiB in a real tmpfs; absent if no tmpfs has enough space.
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

}  // namespace

TEST_CASE("incident: a service that grows to its limit comes before a job and a tmpfs, and the parts add up") {
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
  batch.run("private 65536");
  const TmpfsFile file;
  if (!grow_until_killed(*service, [&] { recorder.tick(); })) {
    WARN("skipped: the limit of a cgroup kills no process here");
    return;
  }
  recorder.tick();
  recorder.tick();  // the exit is reported by now
  REQUIRE(recorder.stop() == 0);
  // Other processes may be OOM-killed on this machine too, in any order, so the victim is found by its pid.
  const auto killed_ms =
      scene.number("SELECT wall_ms FROM event WHERE kind = 'oom-victim' AND detail->>'pid' = " + std::to_string(pid));
  CHECK(scene.answer({"incident", "--last-oom"}).at("moment") == "oom-kill");
  if (!killed_ms) {
    WARN("skipped: the kernel does not report its victim");
    return;
  }
  const json answer = scene.answer({"incident", "--at", "@" + std::to_string(*killed_ms)});
  CAPTURE(answer.dump(1));
  CHECK(answer.at("moment") == "oom-kill");
  const json& rows = answer.at("rows");
  // After many kills within seconds the log is incomplete, and then the reason is unknown.
  const bool is_cgroup = answer.at("scope") == "cgroup" && answer.at("scope_sampled") == true;
  const json& machine = answer.at(is_cgroup ? "machine" : "rows");
  for (const json* table : {&rows, &machine}) {
    std::int64_t sum = 0;
    for (std::size_t i = 1; i < table->size(); ++i) sum += table->at(i).at("change_kib").get<std::int64_t>();
    CHECK(sum == table->at(0).at("change_kib"));
  }
  if (is_cgroup) {
    CHECK(answer.at("scope_cgroup") == cgroup.path());
    CHECK(answer.at("scope_limit_kib") == kLimitKib);
    CHECK(rows[0].at("part") == "cgroup");
    CHECK(rows[0].at("at_kib") <= kLimitKib);
    CHECK(answer.at("growth_kib") > kLimitKib / 2);
  }
  const auto story = answer.at("story").get<std::string>();
  const std::string sentence = story.substr(0, story.find(". "));
  CHECK(contains(sentence, "killed holder (" + std::to_string(pid) + ")"));
  if (is_cgroup) CHECK_FALSE(contains(sentence, "batch"));
  const auto held = [&](const char* end, std::int64_t least) {
    return std::any_of(machine.begin(), machine.end(), [&](const json& row) {
      return row.at("part").get<std::string>().ends_with(end) && row.at("change_kib") >= least;
    });
  };
  CHECK(held(" batch", 60 * 1024));
  if (file.written()) CHECK(held("shmem", 44 * 1024));
  const auto culprit = std::find_if(rows.begin() + 1, rows.end(), [](const json& row) {
    const auto title = row.at("title").get<std::string>();
    return title.starts_with("holder") && title != "holder batch";
  });
  REQUIRE(culprit != rows.end());
  if (is_cgroup) CHECK(culprit == rows.begin() + 1);
  CHECK(culprit->at("change_kib") >= kLimitKib / 2);
  CHECK(culprit->at("what").get<std::string>().starts_with("killed"));
  const json& victims = answer.at("victims");
  const auto victim = std::find_if(victims.begin(), victims.end(), [&](const json& of) { return of.at("pid") == pid; });
  REQUIRE(victim != victims.end());
  CHECK(victim->at("cgroup") == cgroup.path());
  if (!victim->at("scope").is_null() && victim->at("limit_cgroup") != "") {
    CHECK(victim->at("limit_cgroup") == cgroup.path());
    CHECK(victim->at("limit_kib") == kLimitKib);
  }
  const json list = scene.answer_rows({"incidents", "cgroup:" + cgroup.path()});
  REQUIRE(list.size() == 1);
  CHECK(list[0].at("kind") == "oom-kill");
  CHECK(list[0].at("victim_pid") == pid);
  CHECK(scene.answer({"incident", "cgroup:" + cgroup.path()}).at("story") == story);
}
