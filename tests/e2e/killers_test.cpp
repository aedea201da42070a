// A fake user-space killer with the name of a real one, and a victim with known memory.

#include <algorithm>
#include <csignal>
#include <optional>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "holder.h"
#include "recording.h"
#include "support/catch.h"

using namespace memoir::test;
using nlohmann::json;

namespace {

// Starts a process named earlyoom that sends these signals one after another.
pid_t run_killer(pid_t victim, const std::vector<int>& signals) {
  const pid_t killer = ::fork();
  REQUIRE(killer >= 0);
  if (killer == 0) {
    ::prctl(PR_SET_NAME, "earlyoom");
    for (const int signal : signals) ::kill(victim, signal);
    ::_exit(0);
  }
  REQUIRE(::waitpid(killer, nullptr, 0) == killer);
  return killer;
}

}  // namespace

TEST_CASE("user-space killer: events and incident name killer and victim, once, with the memory used") {
  if (::geteuid() != 0) {
    WARN("skipped: a killer in user space needs CAP_KILL");
    return;
  }
  const Scene scene;
  Holder holder(scene.folder(), {"wanted"});
  Recorder recorder(scene);
  recorder.tick();
  if (!scene.exits_reported()) {
    WARN("skipped: BPF is not permitted here: signals are not reported");
    return;
  }
  holder.run("private 65536");
  const pid_t killer = run_killer(holder.pid(), {SIGTERM, SIGKILL});
  holder.end();
  recorder.tick();
  recorder.tick();
  REQUIRE(recorder.stop() == 0);

  const std::string victim_name = "holder (" + std::to_string(holder.pid()) + ")";
  const std::string sentence = "earlyoom (pid " + std::to_string(killer) + ") killed " + victim_name;
  std::vector<std::string> events;
  for (const json& row : scene.answer_rows({"events", "--kind", "oom-victim", "--last", "1d"})) {
    const auto text = row.at("text").get<std::string>();
    if (contains(text, victim_name)) events.push_back(text);
  }
  REQUIRE(events.size() == 1);
  CAPTURE(events[0]);
  CHECK(events[0].starts_with(sentence));

  CHECK(scene.answer({"incident", "--last-oom"}).at("moment") == "oom-kill");
  // Other processes may be killed on this machine at the same time.
  const json answer = scene.answer({"incident", std::to_string(holder.pid())});
  CAPTURE(answer.dump(1));
  CHECK(answer.at("moment") == "oom-kill");
  CHECK(contains(answer.at("story").get<std::string>(),
                 "earlyoom (" + std::to_string(killer) + ") killed " + victim_name));
  const json& victims = answer.at("victims");
  const auto victim =
      std::find_if(victims.begin(), victims.end(), [&](const json& of) { return of.at("pid") == holder.pid(); });
  REQUIRE(victim != victims.end());
  CHECK(victim->at("killer") == "earlyoom");
  CHECK(victim->at("killer_pid") == killer);
  CHECK(victim->at("anon_kib") >= 65'536);
  CHECK(victim->at("anon_kib") < 80'000);
  CHECK(victim->at("peak_kib") >= 65'536);
  CHECK(victim->at("limit_kib").is_null());
}

TEST_CASE("user-space killer: a process with a killer's name, but without permission to kill, changes nothing") {
  const auto user = other_user();
  if (!user) {
    WARN("skipped: there is no other user to become");
    return;
  }
  const Scene scene;
  Holder holder(scene.folder(), {}, user);
  Recorder recorder(scene);
  recorder.tick();
  const pid_t killer = ::fork();
  REQUIRE(killer >= 0);
  if (killer == 0) {
    ::prctl(PR_SET_NAME, "earlyoom");
    ::_exit(::setuid(*user) == 0 && ::kill(holder.pid(), SIGKILL) == 0 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(killer, &status, 0) == killer);
  CHECK(status == 0);
  holder.end();
  recorder.tick();
  recorder.tick();
  REQUIRE(recorder.stop() == 0);
  CHECK(scene.number("SELECT count(*) FROM event WHERE kind = 'oom-victim' AND detail->>'pid' = " +
                     std::to_string(holder.pid())) == 0);
}
