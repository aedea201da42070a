#include "query/watch.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <fmt/format.h>
#include <sys/stat.h>
#include <thread>

#include "base/text.h"
#include "query/args/database_path.h"
#include "query/command_line.h"

namespace memoir::query {
namespace {

constexpr std::chrono::milliseconds kPollEvery{200};

constexpr const char* kHome = "\x1b[H";
constexpr const char* kClearLine = "\x1b[K";
constexpr const char* kClearBelow = "\x1b[J";

// Returns when the file and its write-ahead log were last written: each tick writes one of them.
std::array<timespec, 2> written_at(const std::string& path) {
  std::array<timespec, 2> times{};
  struct stat of {};
  if (stat(path.c_str(), &of) == 0) times[0] = of.st_mtim;
  if (stat((path + "-wal").c_str(), &of) == 0) times[1] = of.st_mtim;
  return times;
}

bool is_same(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

void wait_for_tick(const std::string& path) {
  const auto before = written_at(path);
  for (auto now = before; is_same(now[0], before[0]) && is_same(now[1], before[1]); now = written_at(path)) {
    std::this_thread::sleep_for(kPollEvery);
  }
}

std::size_t count_lines(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

// Runs the command for a shorter screen if its answer does not fit. Commands only estimate the lines that notes need.
Outcome fitting_answer(const std::vector<std::string>& command, const Clock& clock, const Screen& screen) {
  Outcome outcome = run_query(command, clock, {}, screen);
  const std::size_t lines = count_lines(outcome.out);
  if (lines < screen.lines) return outcome;
  const std::size_t fewer = std::min(screen.lines - 1, lines - screen.lines + 1);
  return run_query(command, clock, {}, Screen{screen.columns, screen.lines - fewer, true});
}

}  // namespace

std::optional<std::vector<std::string>> watched_command(const std::vector<std::string>& arguments) {
  std::vector<std::string> command = arguments;
  const bool first = !command.empty() && command.front() == "watch";
  if (first) command.erase(command.begin());
  // Ignores an interval as in `watch -n 2` or `top -d 2`: the answer is repeated at each tick.
  if (first && command.size() > 2 && (command[0] == "-n" || command[0] == "-d") && parse_number<double>(command[1]))
    command.erase(command.begin(), command.begin() + 2);
  const bool flag =
      std::erase_if(command, [](const std::string& word) { return word == "-w" || word == "--watch"; }) > 0;
  return first || flag ? std::optional(std::move(command)) : std::nullopt;
}

std::string screen_of(const std::string& answer, const Screen& screen) {
  const std::size_t lines = count_lines(answer);
  const bool fits = lines < screen.lines;
  std::string out = kHome;
  std::string_view rest = answer;
  for (std::size_t shown = 0; !rest.empty() && (fits || shown + 2 < screen.lines); ++shown) {
    out += fmt::format("{}{}\n", cut_line(rest), kClearLine);
  }
  if (!fits) out += fmt::format("… {} more lines{}", count_lines(rest), kClearLine);
  return out + kClearBelow;
}

Outcome watch(const std::vector<std::string>& command, const Clock& clock, const Sink& write) {
  const Result<Invocation> invocation = parse_command_line(command);
  if (!invocation) return {Exit::usage, "", fmt::format("memoir: {}\n", invocation.error().message), false};
  if (invocation->command != nullptr && invocation->command->interact)
    return {Exit::usage, "", "memoir: view follows the recording by itself; use memoir view\n", false};
  if (!terminal_screen())
    return {Exit::usage, "", "memoir: watch needs a terminal; without one, repeat the command itself\n", false};
  const Result<std::string> path = find_database(invocation->options.db);
  for (Status written = Done{}; written;) {
    Screen screen = terminal_screen().value_or(Screen{});
    screen.fit = true;
    Outcome outcome = fitting_answer(command, clock, screen);
    if (!path || (outcome.exit != Exit::answered && outcome.exit != Exit::empty)) return outcome;
    written = write(screen_of(outcome.out.empty() ? outcome.error : outcome.out, screen));
    if (written) wait_for_tick(*path);
  }
  return {Exit::failed, "", "", false};
}

}  // namespace memoir::query
