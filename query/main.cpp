#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <malloc.h>
#include <optional>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "query/application.h"
#include "query/args/zone.h"
#include "query/render/layout.h"
#include "query/render/terminal.h"
#include "query/session/exception.h"
#include "query/watch.h"

namespace {

using memoir::Done;
using memoir::Status;

// If the reader closes early (`memoir top | head`), SIGPIPE ends memoir silently.
Status write_out(std::string_view text) {
  const std::size_t written = std::fwrite(text.data(), 1, text.size(), stdout);
  if (written == text.size()) return Done{};
  return memoir::Error{memoir::ErrorKind::io, std::string("cannot write the answer: ") + std::strerror(errno)};
}

Status flush_out() {
  if (std::fflush(stdout) == 0) return Done{};
  return memoir::Error{memoir::ErrorKind::io, std::string("cannot write the answer: ") + std::strerror(errno)};
}

// Wraps the lines that start with "memoir: " at words. Other lines may be meant for copying.
std::string error_text(const std::string& error) {
  const auto screen = memoir::query::terminal_screen(STDERR_FILENO);
  if (!screen) return error;
  std::string out;
  std::string_view rest = error;
  while (!rest.empty()) {
    const std::string_view line = memoir::cut_line(rest);
    const bool sentence = line.starts_with("memoir: ");
    out += sentence ? memoir::query::wrap(line, screen->columns, 2) : std::string(line);
    out += '\n';
  }
  return out;
}

// Returns the pager of long answers, chosen as git does: $MEMOIR_PAGER, then $PAGER, then less. If the first variable
// that is set is empty or "cat", there is no pager.
std::optional<std::string> pager_command() {
  for (const char* variable : {"MEMOIR_PAGER", "PAGER"}) {
    const char* set = std::getenv(variable);
    if (set == nullptr) continue;
    const std::string command(set);
    return command.empty() || command == "cat" ? std::nullopt : std::optional(command);
  }
  return "less";
}

// Sets LESS=FRX unless LESS is set: less then exits if the answer fits the screen, passes colours, and leaves the
// answer on the screen. Returns after the pager exits; false if it could not be started and nothing was shown.
bool show_in_pager(const std::string& command, std::string_view text) {
  setenv("LESS", "FRX", 0);
  std::FILE* pager = popen(command.c_str(), "w");
  if (pager == nullptr) return false;
  // Ctrl-C is for the pager, which may also exit before everything is written.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  std::fwrite(text.data(), 1, text.size(), pager);
  const int status = pclose(pager);
  constexpr int not_found = 127;
  constexpr int not_executable = 126;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  return code != not_found && code != not_executable;
}

// Returns whether the answer was long and was shown in a pager.
bool paged(const memoir::query::Outcome& outcome) {
  const auto screen = memoir::query::terminal_screen();
  if (!outcome.paged || !screen) return false;
  if (static_cast<std::size_t>(std::count(outcome.out.begin(), outcome.out.end(), '\n')) < screen->lines) return false;
  const auto command = pager_command();
  return command && show_in_pager(*command, outcome.out);
}

// A sanitizer needs extra memory. g++ and clang define different macros.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

// Returns the limit on memoir's memory, in bytes: the answer from a crafted file could fill all memory. Answers from
// genuine files need less than half of the limit. $MEMOIR_DATA_MIB may lower it.
rlim_t max_memory() {
  constexpr rlim_t max_mib = 240;
  const char* const said = std::getenv("MEMOIR_DATA_MIB");
  const auto mib = memoir::parse_number<rlim_t>(said == nullptr ? "" : said);
  return std::clamp(mib.value_or(max_mib), rlim_t{1}, max_mib) << 20U;  // Linux treats 0 as no limit
}

// Keeps the memory of a long answer until its end, in huge pages if the kernel has some: faults of single pages would
// take a tenth of the time. Untouched memory costs nothing.
void prepare_heap(rlim_t most) {
  constexpr int at_once = 32 << 20U;  // the highest possible threshold
  if (kSanitized || most < 2 * rlim_t{at_once}) return;
  mallopt(M_MMAP_THRESHOLD, at_once);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_TOP_PAD, at_once);
  auto* const begin = static_cast<char*>(sbrk(0));
  void* volatile first = std::malloc(at_once / 2);  // the heap grows by its pad, too
  // Near the memory limit, a large pad would not fit.
  mallopt(M_TOP_PAD, 128 << 10U);
  if (first == nullptr) return;
  std::free(first);
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  char* const aligned = begin + (page - reinterpret_cast<std::uintptr_t>(begin) % page) % page;
  madvise(aligned, static_cast<std::size_t>(static_cast<char*>(sbrk(0)) - aligned), MADV_HUGEPAGE);
}

void limit_memory(rlim_t most) {
  rlimit limit{};
  if (kSanitized || getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur <= most) return;
  limit.rlim_cur = most;
  setrlimit(RLIMIT_DATA, &limit);
}

int run(const std::vector<std::string>& arguments) {
  using memoir::query::Exit;
  if (const auto command = memoir::query::watched_command(arguments)) {
    const auto write = [](std::string_view text) {
      const Status written = write_out(text);
      return written ? flush_out() : written;
    };
    const memoir::query::Outcome ended = memoir::query::watch(*command, memoir::SystemClock{}, write);
    std::fputs(error_text(ended.error).c_str(), stderr);
    return static_cast<int>(ended.exit);
  }
  const memoir::query::Outcome outcome = memoir::query::run_query(arguments, memoir::SystemClock{}, write_out);
  std::fputs(error_text(outcome.error).c_str(), stderr);
  if (paged(outcome)) return static_cast<int>(outcome.exit);
  Status written = write_out(outcome.out);
  if (written) written = flush_out();
  if (written) return static_cast<int>(outcome.exit);
  std::fprintf(stderr, "memoir: %s\n", written.error().message.c_str());
  return static_cast<int>(Exit::failed);
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto path = memoir::query::odd_zone_file()) {
    std::fprintf(stderr, "memoir: TZ is %s, which is not a time zone; set it to one such as Europe/Berlin\n",
                 memoir::to_printable(*path).c_str());
    return static_cast<int>(memoir::query::Exit::usage);
  }
  memoir::query::use_utf8();
  const rlim_t most = max_memory();
  limit_memory(most);
  prepare_heap(most);
  try {
    return run(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "memoir: %s\n", memoir::query::exception_message(error).c_str());
    return static_cast<int>(memoir::query::Exit::failed);
  }
}
