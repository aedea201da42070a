// Uses known memory on request, so that a test can compare records with allocations. Reads one command per line from
// standard input, and answers each with one line, "ok" or "ok PID", once the memory is as requested. Tests therefore
// need no sleeps. Statically linked and without other allocations, so that only requested memory changes. Its children
// exit with it. Arguments are ignored; they are only for display.
//
//   private N    touch N KiB of private pages
//   free         free all private pages
//   spike N      touch N KiB and free them
//   comm HEX     set the name shown in comm
//   shared N     N KiB of memfd, mapped by a child as well; answers with the child's pid
//   map PATH     map a file and read all of it; the pages are shared with other processes that map it
//   cow N        N KiB of private pages, then a child that reads all and writes the first half; answers with its pid
//   fork         an idle child; answers with its pid
//   reap PID     kill that child and wait for its exit
//   zombie       a child that has exited and is not reaped; answers with its pid
//   orphan       a grandchild whose parent has exited; answers with its pid
//   arguments N  show N KiB of `--password=…` as arguments, also in children; "denied" if the kernel forbids that
//   exec ARG     exec this program again with ARG as its only argument; answers "ready" again

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <link.h>
#include <linux/prctl.h>
#include <signal.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr std::size_t kPage = 4096;

struct Mapping {
  char* at = nullptr;
  std::size_t bytes = 0;
};

struct Private {
  std::array<Mapping, 256> mappings{};
  std::size_t count = 0;
};

[[noreturn]] void die(std::string_view why) {
  const auto ignored = write(STDERR_FILENO, why.data(), why.size());
  _exit(ignored < 0 ? 3 : 2);
}

void say(std::string_view line) {
  if (write(STDOUT_FILENO, line.data(), line.size()) < 0) _exit(0);
}

void say_ok(pid_t pid) {
  std::array<char, 32> text{'o', 'k', ' '};
  char* end = std::to_chars(text.data() + 3, text.data() + text.size() - 1, pid).ptr;
  *end++ = '\n';
  say({text.data(), static_cast<std::size_t>(end - text.data())});
}

std::size_t to_number(std::string_view text) {
  std::size_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Uses small pages only, because a huge page would exceed the request.
Mapping map(std::size_t kib, int flags, int fd) {
  const std::size_t bytes = kib * 1024;
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
  if (at == MAP_FAILED) die("mmap failed\n");
  madvise(at, bytes, MADV_NOHUGEPAGE);
  return {static_cast<char*>(at), bytes};
}

void write_pages(Mapping mapping, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += kPage) static_cast<volatile char*>(mapping.at)[i] = 1;
}

void read_pages(Mapping mapping) {
  for (std::size_t i = 0; i < mapping.bytes; i += kPage) (void)static_cast<volatile char*>(mapping.at)[i];
}

// Reads every page of the program itself, in each process. Otherwise page faults would map a random number of its pages
// and change PSS.
void read_image() {
  const auto read_segments = [](dl_phdr_info* info, std::size_t, void*) {
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const auto& segment = info->dlpi_phdr[i];
      if (segment.p_type != PT_LOAD || (segment.p_flags & PF_R) == 0) continue;
      const std::size_t begin = (info->dlpi_addr + segment.p_vaddr) / kPage * kPage;
      const std::size_t end = info->dlpi_addr + segment.p_vaddr + segment.p_memsz;
      read_pages({reinterpret_cast<char*>(begin), end - begin});
    }
    return 0;
  };
  dl_iterate_phdr(read_segments, nullptr);
}

[[noreturn]] void idle() {
  for (;;) pause();
}

// Forks a child that runs `work`, reports that through a pipe, and idles. The parent returns once the work is done.
template <typename Work>
pid_t child(Work work) {
  std::array<int, 2> done{};
  if (pipe(done.data()) != 0) die("pipe failed\n");
  const pid_t pid = fork();
  if (pid < 0) die("fork failed\n");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(done[0]);
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    read_image();
    work();
    close(done[1]);
    idle();
  }
  close(done[1]);
  char nothing = 0;
  while (read(done[0], &nothing, 1) > 0) {
  }
  close(done[0]);
  return pid;
}

pid_t shared(std::size_t kib) {
  const int fd = memfd_create("holder", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, static_cast<off_t>(kib * 1024)) != 0) die("memfd failed\n");
  const Mapping mapping = map(kib, MAP_SHARED, fd);
  close(fd);
  write_pages(mapping, mapping.bytes);
  return child([&] { read_pages(mapping); });
}

void map_file(std::string_view path) {
  std::array<char, 512> name{};
  path.copy(name.data(), name.size() - 1);
  const int fd = open(name.data(), O_RDWR | O_CLOEXEC);
  const off_t bytes = lseek(fd, 0, SEEK_END);
  if (bytes <= 0) die("no such file\n");
  read_pages(map(static_cast<std::size_t>(bytes) / 1024, MAP_SHARED, fd));
  close(fd);
}

pid_t copy_on_write(std::size_t kib) {
  const Mapping mapping = map(kib, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  write_pages(mapping, mapping.bytes);
  return child([&] {
    read_pages(mapping);
    write_pages(mapping, mapping.bytes / 2);
  });
}

pid_t zombie() {
  const pid_t pid = fork();
  if (pid < 0) die("fork failed\n");
  if (pid == 0) _exit(0);
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT);
  return pid;
}

// Forks a grandchild whose parent exits. PR_SET_PDEATHSIG would kill it with that parent, so it watches a pipe of this
// process instead.
pid_t orphan() {
  std::array<int, 2> life{};
  std::array<int, 2> answer{};
  if (pipe2(life.data(), O_CLOEXEC) != 0 || pipe2(answer.data(), O_CLOEXEC) != 0) die("pipe failed\n");
  const pid_t pid = fork();
  if (pid < 0) die("fork failed\n");
  if (pid == 0) {
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      for (const int fd : {life[1], answer[0], answer[1], STDIN_FILENO, STDOUT_FILENO}) close(fd);
      char nothing = 0;
      while (read(life[0], &nothing, 1) > 0) {
      }
      _exit(0);
    }
    _exit(write(answer[1], &grandchild, sizeof grandchild) == sizeof grandchild ? 0 : 1);
  }
  pid_t grandchild = -1;
  if (read(answer[0], &grandchild, sizeof grandchild) != sizeof grandchild) die("no grandchild\n");
  waitpid(pid, nullptr, 0);
  close(life[0]);
  close(answer[0]);
  close(answer[1]);
  return grandchild;
}

void set_comm(std::string_view hex) {
  std::array<char, 16> name{};
  for (std::size_t i = 0; i + 1 < hex.size() && i / 2 + 1 < name.size(); i += 2) {
    unsigned char byte = 0;
    std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
    name[i / 2] = static_cast<char>(byte);
  }
  prctl(PR_SET_NAME, name.data());
}

// The fields of /proc/self/stat from the third one, `state`, on.
std::array<std::uint64_t, 64> stat_fields() {
  std::array<char, 4096> text{};
  const int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  const ssize_t got = read(fd, text.data(), text.size());
  close(fd);
  std::string_view rest(text.data(), got < 0 ? 0 : static_cast<std::size_t>(got));
  rest.remove_prefix(rest.rfind(')') + 1);
  std::array<std::uint64_t, 64> fields{};
  for (std::size_t field = 3; field < fields.size() && !rest.empty(); ++field) {
    rest.remove_prefix(1);
    const std::size_t end = rest.find(' ') == std::string_view::npos ? rest.size() : rest.find(' ');
    std::from_chars(rest.data(), rest.data() + end, fields[field]);
    rest.remove_prefix(end);
  }
  return fields;
}

// Moves arg_start, from which the kernel reads a command line.
bool show_arguments(std::size_t kib) {
  constexpr std::string_view kArgument = "--password=hunter2secret-hunter2secret-hunter2secret-hunter2secret-hunter";
  const Mapping mapping = map(kib, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  for (std::size_t at = 0; at + kArgument.size() < mapping.bytes; at += kArgument.size() + 1)
    kArgument.copy(mapping.at + at, kArgument.size());
  const auto fields = stat_fields();
  prctl_mm_map now{};
  now.start_code = fields[26];
  now.end_code = fields[27];
  now.start_stack = fields[28];
  now.start_data = fields[45];
  now.end_data = fields[46];
  now.start_brk = fields[47];
  now.brk = reinterpret_cast<std::uint64_t>(sbrk(0));
  now.arg_start = reinterpret_cast<std::uint64_t>(mapping.at);
  now.arg_end = now.arg_start + mapping.bytes;
  now.env_start = now.arg_end;
  now.env_end = now.arg_end;
  now.exe_fd = static_cast<std::uint32_t>(-1);
  return prctl(PR_SET_MM, PR_SET_MM_MAP, &now, sizeof now, 0) == 0;
}

[[noreturn]] void exec_self(std::string_view argument) {
  std::array<char, 256> text{};
  argument.copy(text.data(), text.size() - 1);
  char name[] = "holder";
  const std::array<char*, 3> arguments{name, text.data(), nullptr};
  execv("/proc/self/exe", arguments.data());
  die("exec failed\n");
}

void obey(std::string_view line, Private& held) {
  const std::size_t space = line.find(' ');
  const std::string_view word = line.substr(0, space);
  const std::string_view argument = space == std::string_view::npos ? "" : line.substr(space + 1);
  const auto hold = [&] {
    const Mapping mapping = map(to_number(argument), MAP_PRIVATE | MAP_ANONYMOUS, -1);
    write_pages(mapping, mapping.bytes);
    return mapping;
  };
  if (word == "private") {
    if (held.count == held.mappings.size()) die("too many mappings\n");
    held.mappings[held.count++] = hold();
  } else if (word == "free") {
    while (held.count > 0) {
      const Mapping mapping = held.mappings[--held.count];
      munmap(mapping.at, mapping.bytes);
    }
  } else if (word == "spike") {
    const Mapping mapping = hold();
    munmap(mapping.at, mapping.bytes);
  } else if (word == "comm") {
    set_comm(argument);
  } else if (word == "reap") {
    const auto pid = static_cast<pid_t>(to_number(argument));
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  } else if (word == "shared") {
    return say_ok(shared(to_number(argument)));
  } else if (word == "map") {
    map_file(argument);
  } else if (word == "cow") {
    return say_ok(copy_on_write(to_number(argument)));
  } else if (word == "fork") {
    return say_ok(child([] {}));
  } else if (word == "zombie") {
    return say_ok(zombie());
  } else if (word == "orphan") {
    return say_ok(orphan());
  } else if (word == "arguments") {
    if (!show_arguments(to_number(argument))) return say("denied\n");
  } else if (word == "exec") {
    exec_self(argument);
  } else {
    die("unknown command\n");
  }
  say("ok\n");
}

}  // namespace

int main() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // A static buffer, touched at the start, so that reading a command dirties no further page.
  static std::array<char, 4096> text;
  text.fill(0);
  read_image();
  Private held;
  say("ready\n");
  std::size_t filled = 0;
  for (;;) {
    const ssize_t got = read(STDIN_FILENO, text.data() + filled, text.size() - filled);
    if (got <= 0) return 0;
    filled += static_cast<std::size_t>(got);
    std::string_view all{text.data(), filled};
    for (std::size_t end = all.find('\n'); end != std::string_view::npos; end = all.find('\n')) {
      obey(all.substr(0, end), held);
      all.remove_prefix(end + 1);
    }
    filled = all.size();
    std::memmove(text.data(), all.data(), filled);
  }
}
