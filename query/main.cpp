#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/text.h"
#include "query/application.h"
#include "query/exception.h"
#include "query/pager.h"
#include "query/render/layout.h"
#include "query/render/terminal.h"

namespace {

using memoir::Done;
using memoir::Status;

// A reader that has seen enough (`memoir top | head`) ends us by SIGPIPE, quietly.
Status write_out(std::string_view text) {
  const std::size_t written = std::fwrite(text.data(), 1, text.size(), stdout);
  if (written == text.size()) return Done{};
  return memoir::Error{memoir::ErrorKind::io, std::string("cannot write the answer: ") + std::strerror(errno)};
}

Status flush_out() {
  if (std::fflush(stdout) == 0) return Done{};
  return memoir::Error{memoir::ErrorKind::io, std::string("cannot write the answer: ") + std::strerror(errno)};
}

// Sentences are broken at words. What is indented or below the first line of a message may be there to be copied.
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

// Whether the answer was long, and the user has seen it in a pager.
bool paged(const memoir::query::Outcome& outcome) {
  const auto screen = memoir::query::terminal_screen();
  if (!outcome.paged || !screen || !memoir::query::is_longer(outcome.out, *screen)) return false;
  const auto command = memoir::query::pager_command();
  return command && memoir::query::show_in_pager(*command, outcome.out);
}

// A sanitizer needs room of its own. g++ and clang say it each in its way.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

// A file may be made so that its answer fills the machine: one of ours takes less than half of this. Who runs us may
// have less to spare.
rlim_t most_memory() {
  constexpr rlim_t most_mib = 240;
  const char* const said = std::getenv("MEMOIR_DATA_MIB");
  const auto mib = memoir::parse_number<rlim_t>(said == nullptr ? "" : said);
  return std::clamp(mib.value_or(most_mib), rlim_t{1}, most_mib) << 20U;  // 0 is no limit to Linux
}

// What a long answer takes is kept until its end, and comes in huge pages where the kernel has some: page by page it
// would be a tenth of its time. What is not touched costs nothing.
void prepare_heap(rlim_t most) {
  constexpr int at_once = 32 << 20U;  // the highest threshold that there may be
  if (kSanitized || most < 2 * rlim_t{at_once}) return;
  mallopt(M_MMAP_THRESHOLD, at_once);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_TOP_PAD, at_once);
  auto* const begin = static_cast<char*>(sbrk(0));
  void* volatile first = std::malloc(at_once / 2);  // the heap grows by its pad, too
  // What would be left of a limit is less than such a pad.
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
  const memoir::query::Outcome outcome = memoir::query::answer(arguments, memoir::SystemClock{}, write_out);
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
  memoir::query::use_utf8();
  const rlim_t most = most_memory();
  limit_memory(most);
  prepare_heap(most);
  try {
    return run(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "memoir: %s\n", memoir::query::exception_message(error).c_str());
    return static_cast<int>(memoir::query::Exit::failed);
  }
}
