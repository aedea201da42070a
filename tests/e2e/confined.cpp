// Runs a program as the systemd unit does: as another user, with only these capabilities, without new privileges, and
// with only the listed system calls. For tests.
//
//   confined LIST UID CAPABILITIES PROGRAM ARGUMENT…
//       LIST: a file with names of system calls; UID: a number; CAPABILITIES: numbers with commas. "-" keeps this
//       process's own.
//   confined LIST UID CAPABILITIES probe
//       tries what a compromised recorder could attack, on itself; prints a line for each: its name, "allowed" or
//       "refused"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <grp.h>
#include <iostream>
#include <linux/capability.h>
#include <linux/kcmp.h>
#include <linux/keyctl.h>
#include <seccomp.h>
#include <signal.h>
#include <sstream>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

[[noreturn]] void die(const char* what) {
  std::perror(what);
  std::exit(125);
}

std::vector<int> numbers(const std::string& text) {
  std::vector<int> all;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) all.push_back(std::stoi(word));
  return all;
}

void set_capabilities(const std::vector<int>& wanted) {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> sets{};
  for (const int capability : wanted) {
    __user_cap_data_struct& set = sets.at(static_cast<std::size_t>(capability) / 32);
    set.permitted |= 1U << (static_cast<unsigned>(capability) % 32);
    set.effective = set.inheritable = set.permitted;
  }
  if (syscall(SYS_capset, &header, sets.data()) != 0) die("capset");
  for (const int capability : wanted) {
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0) != 0) die("ambient capability");
  }
}

void become(uid_t uid, const std::vector<int>& capabilities) {
  for (int i = 0; i < 64; ++i) {
    bool kept = false;
    for (const int capability : capabilities) kept = kept || capability == i;
    if (!kept && prctl(PR_CAPBSET_READ, i, 0, 0, 0) == 1 && prctl(PR_CAPBSET_DROP, i, 0, 0, 0) != 0)
      die("bounding set");
  }
  if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0 || setgroups(0, nullptr) != 0) die("groups");
  if (setresgid(uid, uid, uid) != 0 || setresuid(uid, uid, uid) != 0) die("user");
  set_capabilities(capabilities);
}

// System calls that the kernel does not know are skipped, as in systemd.
void filter(const char* list) {
  const scmp_filter_ctx context = seccomp_init(SCMP_ACT_ERRNO(EPERM));
  std::ifstream names(list);
  if (context == nullptr || !names) die(list);
  for (std::string name; std::getline(names, name);) {
    const int number = seccomp_syscall_resolve_name(name.c_str());
    if (number != __NR_SCMP_ERROR) seccomp_rule_add(context, SCMP_ACT_ALLOW, number, 0);
  }
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) die("no_new_privs");
  if (seccomp_load(context) != 0) die("seccomp");
  seccomp_release(context);
}

int probe() {
  char from = 'x';
  char to = 0;
  const iovec local{&to, 1};
  const iovec remote{&from, 1};
  const pid_t self = getpid();
  const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, self, 0));
  const std::vector<std::pair<const char*, std::function<long()>>> calls = {
      {"process_vm_readv", [&] { return process_vm_readv(self, &local, 1, &remote, 1, 0); }},
      {"process_vm_writev", [&] { return process_vm_writev(self, &local, 1, &remote, 1, 0); }},
      {"process_madvise", [&] { return syscall(SYS_process_madvise, pidfd, &remote, 1, MADV_COLD, 0); }},
      {"kcmp", [&] { return syscall(SYS_kcmp, self, self, KCMP_VM, 0, 0); }},
      {"pidfd_getfd", [&] { return syscall(SYS_pidfd_getfd, pidfd, 2, 0); }},
      {"keyctl", [&] { return syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_PROCESS_KEYRING, 1); }},
      {"setresuid", [&] { return setresuid(getuid(), getuid(), getuid()); }},
      {"setpriority", [&] { return setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0)); }},
      {"fchown", [&] { return fchown(pidfd, getuid(), getgid()) == 0 || errno != EPERM ? 0 : -1; }},
      {"ptrace", [&] { return ptrace(PTRACE_TRACEME, 0, nullptr, nullptr); }},
  };
  for (const auto& [name, call] : calls) {
    const bool refused = call() < 0 && errno == EPERM;
    std::cout << name << (refused ? " refused\n" : " allowed\n");
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 5) return 125;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Opened before the change of user, because that user may have no access to the build's folder.
  const bool probes = std::string_view(arguments[4]) == "probe";
  const int program = probes ? -1 : open(arguments[4], O_RDONLY | O_CLOEXEC);
  if (!probes && program < 0) die(arguments[4]);
  const std::string_view uid = arguments[2];
  const std::string capabilities = arguments[3];
  if (uid != "-") {
    become(static_cast<uid_t>(std::stoul(arguments[2])),
           capabilities == "-" ? std::vector<int>{} : numbers(capabilities));
  }
  if (std::string_view(arguments[1]) != "-") filter(arguments[1]);
  if (probes) return probe();
  fexecve(program, arguments + 4, environ);
  die(arguments[4]);
}
