// The sandbox of the unit: its system calls and capabilities suffice for recording, and for nothing else.

#include <algorithm>
#include <csignal>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "holder.h"
#include "recording.h"
#include "support/catch.h"
#include "support/slurp.h"

using namespace memoir::test;

namespace {

constexpr const char* kAnalyze = "/usr/bin/systemd-analyze";

const char* const kUnit = MEMOIR_SOURCE "/systemd/memoird.service.in";

// Returns the values of a key in the unit, one per line.
std::vector<std::string> of_unit(const std::string& key) {
  std::istringstream lines(slurp(kUnit));
  std::vector<std::string> values;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(key + "=")) values.push_back(line.substr(key.size() + 1));
  }
  return values;
}

// Adds the members of a systemd group of system calls, or a single call, to `into`.
void expand(const std::string& name, std::set<std::string>& into) {
  if (!name.starts_with('@')) {
    into.insert(name);
    return;
  }
  const Outcome group = run({.path = kAnalyze, .arguments = {"syscall-filter", name}});
  REQUIRE(group.status == 0);
  std::istringstream words(group.out.substr(group.out.find('\n')));
  for (std::string line; std::getline(words, line);) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin != std::string::npos && line[begin] != '#') expand(line.substr(begin), into);
  }
}

std::set<std::string> allowed_calls() {
  std::set<std::string> allowed;
  expand("@default", allowed);  // systemd.exec(5): implicitly allowed
  allowed.insert("execve");
  for (const std::string& line : of_unit("SystemCallFilter")) {
    const bool taken_out = line.starts_with('~');
    std::istringstream words(line.substr(taken_out ? 1 : 0));
    std::set<std::string> named;
    for (std::string word; words >> word;) expand(word, named);
    if (!taken_out) allowed.merge(named);
    if (taken_out) std::erase_if(allowed, [&](const std::string& name) { return named.contains(name); });
  }
  return allowed;
}

std::string capability_numbers() {
  const std::vector<std::string> needed{"CAP_SYS_PTRACE CAP_BPF CAP_PERFMON CAP_SYSLOG"};
  REQUIRE(of_unit("CapabilityBoundingSet") == needed);
  REQUIRE(of_unit("AmbientCapabilities") == needed);
  return "19,39,38,34";
}

struct Confined {
  explicit Confined(const Scene& scene) : list(scene.folder() + "/calls") {
    std::ofstream out(list);
    for (const std::string& name : allowed_calls()) out << name << '\n';
    if (const auto user = other_user()) {
      uid = std::to_string(*user);
      capabilities = capability_numbers();
    }
  }

  Program program(std::vector<std::string> words, const std::string& path = "/usr/bin:/bin") const {
    std::vector<std::string> arguments{list, uid, capabilities};
    arguments.insert(arguments.end(), words.begin(), words.end());
    // The leak checker would trace the process, which the filter forbids.
    return {.path = MEMOIR_CONFINED,
            .arguments = arguments,
            .environment = {"XDG_CONFIG_HOME=/nonexistent", "HOME=/nonexistent", "PATH=" + path,
                            "ASAN_OPTIONS=detect_leaks=0"}};
  }
  Outcome run(std::vector<std::string> words) const { return memoir::test::run(program(std::move(words))); }

  std::string list;
  std::string uid = "-";
  std::string capabilities = "-";
};

// Returns true if everything needed exists: the helper program, which is built if libseccomp is installed, and
// systemd-analyze.
bool can_confine() {
  const bool can = MEMOIR_CONFINED[0] != '\0' && access(kAnalyze, X_OK) == 0;
  if (!can) WARN("skipped: needs libseccomp (when built) and systemd-analyze");
  return can;
}

}  // namespace

TEST_CASE("memoird records with the system calls and capabilities of its unit") {
  if (!can_confine()) return;
  const Scene scene;
  Holder holder(scene.folder());
  holder.run("private 20480");
  const Confined confined(scene);
  const Outcome recorded = confined.run({MEMOIRD, "--db", scene.db(), "--interval", "100ms", "--duration", "1s"});
  INFO(recorded.err);
  REQUIRE(recorded.status == 0);
  const auto row = scene.top().at(holder.pid());
  CHECK(row.at("source") != "approximate");
  CHECK(row.at("uss_kib") >= 20480);
  CHECK(contains(row.at("exe"), "/holder"));
}

TEST_CASE("memoird drops the capabilities to load BPF programs and to read the kernel's log") {
  if (!can_confine()) return;
  const Scene scene;
  const Confined confined(scene);
  if (confined.uid == "-") return;
  Child memoird(confined.program({MEMOIRD, "--db", scene.db(), "--interval", "100ms"}));
  wait_until("the first tick", [&] { return scene.last_tick().has_value(); });
  const std::string status = slurp("/proc/" + std::to_string(memoird.pid()) + "/status");
  memoird.signal(SIGTERM);
  CHECK(memoird.wait() == 0);
  INFO(status << memoird.errors());
  if (contains(memoird.errors(), "BPF does not count processes")) {
    WARN("skipped: no BPF here");
    return;
  }
  const std::string before = "CapPrm:\t";
  const std::size_t at = status.find(before);
  REQUIRE(at != std::string::npos);
  const unsigned long long held = std::stoull(status.substr(at + before.size()), nullptr, 16);
  CHECK((held & 1ULL << 19U) != 0);  // CAP_SYS_PTRACE
  CHECK((held & 1ULL << 39U) == 0);  // CAP_BPF
  CHECK((held & 1ULL << 34U) == 0);  // CAP_SYSLOG
  CHECK_FALSE(contains(memoird.errors(), "CAP_SYSLOG"));
}

TEST_CASE("memoird records if any one of its capabilities is missing, and reports the degraded mode") {
  if (!can_confine()) return;
  const auto recorded_with = [](const std::string& capabilities) {
    const Scene scene;
    Confined confined(scene);
    if (confined.uid == "-") return std::string("-");
    confined.capabilities = capabilities;
    const Outcome recorded = confined.run({MEMOIRD, "--db", scene.db(), "--interval", "100ms", "--duration", "500ms"});
    INFO(capabilities << ": " << recorded.err);
    CHECK(recorded.status == 0);
    CHECK(scene.number("SELECT count(*) FROM process_sample").value_or(0) > 0);
    const std::string messages = scene.ask({"events", "--kind", "degraded"}).out + recorded.err;
    return messages;
  };
  const std::string all = recorded_with("19,39,38,34");
  if (all == "-") {
    WARN("skipped: needs another user");
    return;
  }
  const auto lacks = [&](const std::string& capabilities, const std::string& said) {
    // Features that are missing here even with all capabilities are reported anyway.
    INFO(said << " without one of the capabilities");
    CHECK((contains(all, said) || contains(recorded_with(capabilities), said)));
  };
  lacks("19,38,34", "BPF does not count processes (");
  lacks("19,39,34", "BPF does not count processes (");
  if (slurp("/proc/sys/kernel/dmesg_restrict") == "1\n") lacks("19,39,38", "The kernel's log is not read (");
  recorded_with("39,38,34");
  lacks("34", "CAP_SYS_PTRACE");
}

TEST_CASE("alerts run within the unit, without its capabilities, and the search for leaks has the lowest priority") {
  if (!can_confine()) return;
  const Scene scene;
  const auto script = [&scene](const std::string& name, const std::string& text) {
    std::string path = scene.folder() + "/" + name;
    std::ofstream(path) << "#!/bin/sh\n" << text;
    ::chmod(path.c_str(), 0755);
    return path;
  };
  script(
      "memoir",
      // The priority is set just after the start, so the script waits for it.
      "policy() { awk '{print $19, $41}' /proc/$$/stat; }\n"
      "if [ $1 = leaks ]; then until [ \"$(policy)\" = '19 3' ]; do sleep 0.1; done; policy > \"${0%/*}/policy\"; fi\n"
      "echo '{\"rows\": [{\"subject\": \"a\", \"title\": \"a\", \"leak\": true, \"limit\": \"b\", "
      "\"runs_out_in_ms\": 1}]}'\n");
  const std::string program = script("alert.sh", "cd \"${0%/*}\"\ncat > in\ncat /proc/self/status > status\n");
  const std::string config = configured(
      scene, "[alert]\nexec = ['" + program + "']\npressure = 'off'\n" + kNoLevels + "[leaks]\nhour = '1s'\n");
  const Confined confined(scene);
  Child memoird(confined.program({MEMOIRD, "--db", scene.db(), "--interval", "200ms", "--config", config},
                                 scene.folder() + ":/usr/bin:/bin"));
  wait_until("the alert", [&] { return contains(memoird.errors(), "alert (leak): "); });
  memoird.signal(SIGTERM);
  CHECK(memoird.wait() == 0);
  INFO(memoird.errors());
  CHECK(contains(memoird.errors(), program + ": exit status 0 after "));
  CHECK(slurp(scene.folder() + "/policy") == "19 3\n");  // nice 19, SCHED_BATCH
  CHECK(contains(slurp(scene.folder() + "/in"), "runs_out_in_ms"));
  const std::string status = slurp(scene.folder() + "/status");
  for (const char* set : {"CapInh", "CapAmb"}) CHECK(contains(status, std::string(set) + ":\t0000000000000000\n"));
  if (other_user()) {
    for (const char* set : {"CapPrm", "CapEff"}) CHECK(contains(status, std::string(set) + ":\t0000000000000000\n"));
  }
}

TEST_CASE("the unit's command to reload reaches memoird from within its sandbox") {
  if (!can_confine()) return;
  const Scene scene;
  const std::string config = configured(scene, "[recorder]\ninterval = '1h'\n");
  const Confined confined(scene);
  Child memoird(confined.program({MEMOIRD, "--db", scene.db(), "--config", config}));
  wait_until("the first tick", [&] { return scene.number("SELECT count(*) FROM tick").value_or(0) > 0; });
  configured(scene, "[recorder]\ninterval = '200ms'\n");

  // systemd replaces $$ with $ (systemd.service(5)).
  std::string command = of_unit("ExecReload").at(0);
  const std::string shell = "/bin/sh -c '";
  REQUIRE(command.starts_with(shell));
  command = command.substr(shell.size(), command.size() - shell.size() - 1);
  command.erase(command.find("$$"), 1);
  Program reload = confined.program({"/bin/sh", "-c", command});
  reload.environment.push_back("MAINPID=" + std::to_string(memoird.pid()));
  const Outcome reloaded = run(reload);
  INFO(command << ": " << reloaded.err);
  REQUIRE(reloaded.status == 0);
  wait_until("the reload", [&] { return contains(memoird.errors(), "reloaded: every 200ms"); });
  memoird.signal(SIGTERM);
  CHECK(memoird.wait() == 0);
}

TEST_CASE("attacks by a compromised memoird on others are refused by the unit's filter") {
  if (!can_confine()) return;
  const Scene scene;
  const Outcome free = run({.path = MEMOIR_CONFINED, .arguments = {"-", "-", "-", "probe"}});
  const Outcome confined = Confined(scene).run({"probe"});
  INFO(free.out << confined.out << confined.err);
  REQUIRE(confined.status == 0);
  CHECK(std::count(confined.out.begin(), confined.out.end(), '\n') == 10);
  CHECK_FALSE(contains(confined.out, "allowed"));
  CHECK(contains(free.out, "process_vm_writev allowed"));  // so the call is not refused for another reason
  CHECK(contains(free.out, "setpriority allowed"));
}

TEST_CASE("systemd rates the exposure of the units at 2.0 at most") {
  if (access(kAnalyze, X_OK) != 0) {
    WARN("skipped: needs systemd-analyze");
    return;
  }
  for (const std::string unit : {"memoird.service", "memoir-summary.service", "memoir-textfile.service"}) {
    const Outcome rated = run({.path = kAnalyze,
                               .arguments = {"security", "--offline=yes", "--no-pager", MEMOIR_UNITS "/" + unit},
                               .environment = {"LC_ALL=C"}});
    INFO(rated.out << rated.err);
    const std::string before = "Overall exposure level for " + unit + ": ";
    const std::size_t at = rated.out.find(before);
    REQUIRE(at != std::string::npos);
    CHECK(std::stod(rated.out.substr(at + before.size())) <= 2.0);
  }
}

TEST_CASE("the unit permits no privileged system call, and systemd agrees") {
  if (access(kAnalyze, X_OK) != 0) {
    WARN("skipped: needs systemd-analyze");
    return;
  }
  const auto allowed = allowed_calls();
  for (const char* call : {"process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "ptrace", "pidfd_getfd",
                           "setuid", "setresuid", "chown", "keyctl", "setpriority", "mount", "init_module", "reboot"}) {
    CAPTURE(call);
    CHECK_FALSE(allowed.contains(call));
  }
  CHECK(allowed.contains("pread64"));
  for (const char* line : {"RemoveIPC=yes", "IPAddressDeny=any", "PrivateMounts=yes", "NoNewPrivileges=yes",
                           "MemoryMax=256M", "OOMPolicy=continue"}) {
    CAPTURE(line);
    CHECK(contains(slurp(kUnit), std::string("\n") + line + "\n"));
  }
}
