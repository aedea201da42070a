// Sixty processes of a user without privilege, or as many as are asked for, that do what recorders suffer from.
//
//   attacker names N [UID]       each runs itself again and again, with arguments that nobody had before
//   attacker tables N [UID]      each maps 8 GiB, 256 MiB over and over: page tables that take long to walk
//   attacker locked N UID        each holds its mmap_lock for ever, under a page that a FUSE server does not take back;
//                                needs root, to mount; "denied" where it is not let
//   attacker - WORD              one of the first: it waits a moment and runs itself
//
// Says "ok" once all of them are at it, and ends with them when its standard input is closed.

#include <array>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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
#include <unistd.h>

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

// Children that do their work and then idle; returns when all have come as far as they get.
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
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // a new uid forgets it
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
  munmap(map_tables(fd, PROT_READ | PROT_WRITE), kMapped);  // from here on the pages are there, and mapped many at once
  fork_all(count, uid, [fd](int, int) {
    for (int i = 0; i < 32; ++i) map_tables(fd, PROT_READ);
  });
  say_ok_and_wait();
}

// --- locked

// Serves a folder in which every name is a file of one page, named by its number, and answers all but what writes the
// page back (Documentation/filesystems/fuse.rst).
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

// Unmapping a page of a file on FUSE writes it back and waits, and mapping over it does so with the mmap_lock held.
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
  kill(server, SIGKILL);  // which lets go of them all
}

}  // namespace

int main(int argc, char** argv) {
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
  } else if (attack == "tables") {
    hold_tables(count, uid);
  } else if (attack == "locked") {
    hold_locks(count, uid);
  } else {
    return 2;
  }
  return 0;
}
