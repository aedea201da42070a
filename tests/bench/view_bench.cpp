// Cost of memoir view: the keys with their queries and screens, without a terminal; then the time and the bytes of the
// whole program on a terminal.
//
// view_bench F.db [COLUMNS LINES [WALKS]]     WALKS: only the walks with names that begin so, for a profiler

#include <charconv>
#include <chrono>
#include <csignal>
#include <fmt/format.h>
#include <fstream>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "cost.h"
#include "query/command_line.h"
#include "query/commands.h"
#include "query/view/draw.h"
#include "query/view/player.h"

namespace memoir::bench {
namespace {

using namespace query;
using Steady = std::chrono::steady_clock;

double ms_since(Steady::time_point start) {
  return std::chrono::duration<double, std::milli>(Steady::now() - start).count();
}

double percentile(std::vector<double> values, double percent) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(static_cast<double>(values.size() - 1) * percent / 100)];
}

void print_row(const std::string& what, const std::vector<double>& us) {
  fmt::print("{:<36} {:8.2f} {:8.2f} ms\n", what, median(us) / 1000, percentile(us, 99) / 1000);
}

Result<Parsed> parse_words(const view::Words& words) {
  const Invocation invocation = TRY(parse_command_line(words));
  return Parsed{invocation.command, invocation.options};
}

void without_terminal(const std::string& path, Screen screen, std::string_view only) {
  Session session = need(Session::open(path, kKeptBytes));
  const SystemClock clock;
  const Interaction around{clock, commands(), parse_words, {}};
  view::Setup setup;
  setup.commands = &commands();
  const view::RecordingInfo recorded = view::recorded_of(session, session.file().last_tick_ms);
  std::optional<view::Player> player;
  const double start_us = cost_us([&] {
    player.emplace(session, around, recorded.now_ms, view::start(setup, screen, recorded, {}));
    player->screen();
  });
  fmt::print("{:<36}   median      p99, CPU\n", fmt::format("{}x{}", screen.columns, screen.lines));
  print_row("start", {start_us});
  // `to`: keys that are pressed first, to go to a page.
  struct Walk {
    const char* what;
    const char* key;
    int times;
    const char* to = "";
  };
  const auto press = [&player](std::string_view keys) {
    for (std::string_view key = cut_word(keys); !key.empty(); key = cut_word(keys)) player->press(std::string(key));
  };
  for (const Walk& walk :
       {Walk{"step back", "T", 200}, Walk{"step", "t", 100}, Walk{"column", "Left", 60}, Walk{"row", "j", 100},
        Walk{"next page", "Tab", 60}, Walk{"jump by a bar, page 1", "{", 50, "1 F"},
        Walk{"jump by a bar, page 2", "{", 50, "2 F"}, Walk{"jump by a bar, page 3", "{", 50, "3 F"},
        Walk{"jump by a bar, page 4", "{", 50, "4 F"}, Walk{"jump by a bar, page 5", "{", 50, "5 F"},
        Walk{"jump by a bar, page 6", "{", 20, "6 F"}, Walk{"step back, of a process", "T", 50, "1 F Enter"}}) {
    if (!std::string_view(walk.what).starts_with(only)) continue;
    press(walk.to);
    std::vector<double> us;
    for (int i = 0; i < walk.times; ++i)
      us.push_back(cost_us([&] {
        player->press(walk.key);
        player->screen();
      }));
    print_row(walk.what, us);
  }
  std::vector<double> draws;
  std::vector<double> updates;
  for (int i = 0; i < 200; ++i) draws.push_back(cost_us([&] { view::draw(player->model()); }));
  for (int i = 0; i < 200; ++i) {
    view::Model model = player->model();
    updates.push_back(cost_us([&] { view::update(std::move(model), view::KeyPress{"j"}); }));
  }
  print_row("draw", draws);
  print_row("update", updates);
}

// Runs the program on a pseudo-terminal.
class OnTerminal {
 public:
  OnTerminal(const std::string& path, Screen screen) {
    winsize size{};
    size.ws_col = static_cast<unsigned short>(screen.columns);
    size.ws_row = static_cast<unsigned short>(screen.lines);
    pid_ = forkpty(&file_, nullptr, nullptr, &size);
    if (pid_ != 0) return;
    setenv("TERM", "xterm-256color", 1);
    execl(MEMOIR, MEMOIR, "view", "--db", path.c_str(), nullptr);
    _exit(127);
  }
  OnTerminal(const OnTerminal&) = delete;
  OnTerminal& operator=(const OnTerminal&) = delete;
  ~OnTerminal() {
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
    close(file_);
  }

  struct Output {
    std::size_t bytes = 0;
    double first_ms = 0;  // times of the first and last byte
    double last_ms = 0;
  };
  // Reads until no output comes for this time.
  Output press(const std::string& keys, int quiet_ms) {
    const auto start = Steady::now();
    if (!keys.empty() && write(file_, keys.data(), keys.size()) < 0) return {};
    Output output;
    std::array<char, 4096> buffer{};
    for (pollfd of{file_, POLLIN, 0}; poll(&of, 1, quiet_ms) > 0;) {
      const ssize_t count = read(file_, buffer.data(), buffer.size());
      if (count <= 0) break;
      if (output.bytes == 0) output.first_ms = ms_since(start);
      output.last_ms = ms_since(start);
      output.bytes += static_cast<std::size_t>(count);
    }
    return output;
  }
  double cpu_ms() const { return cpu_ms_of(pid_); }
  double rss_mib() const {
    std::ifstream status(fmt::format("/proc/{}/status", pid_));
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) / 1024;
    }
    return 0;
  }

 private:
  int file_ = -1;
  pid_t pid_ = -1;
};

void on_terminal(const std::string& path, Screen screen) {
  constexpr int quiet_ms = 400;
  OnTerminal terminal(path, screen);
  const auto print = [](const char* what, const OnTerminal::Output& output) {
    fmt::print("{:<36} {:8} bytes, first after {:.1f} ms, last after {:.1f} ms\n", what, output.bytes, output.first_ms,
               output.last_ms);
  };
  print("first screen", terminal.press("", 1000));
  for (int i = 0; i < 3; ++i) print("step back", terminal.press("T", quiet_ms));
  print("20 steps at once", terminal.press(std::string(20, 'T'), quiet_ms));
  print("next page", terminal.press("\t", quiet_ms));
  for (const char page : std::string_view("23456")) terminal.press(std::string("{") + page, quiet_ms);
  fmt::print("{:<36} {:8.1f} MiB resident\n", "after the pages", terminal.rss_mib());
  terminal.press(":leaks\r", 3000);
  fmt::print("{:<36} {:8.1f} MiB resident\n", "after memoir leaks", terminal.rss_mib());
  terminal.press("\x1b", quiet_ms);
  terminal.press("1F", quiet_ms);
  const double before_ms = terminal.cpu_ms();
  const auto following = terminal.press("", 10'000);
  fmt::print("{:<36} {:8} bytes, {:.1f} ms CPU\n", "followed until 10 s of quiet", following.bytes,
             terminal.cpu_ms() - before_ms);
}

}  // namespace
}  // namespace memoir::bench

int main(int argc, char** argv) try {
  using namespace memoir;
  if (argc < 2) throw std::runtime_error("usage: view_bench F.db [COLUMNS LINES [WALKS]]");
  query::use_utf8();
  query::Screen screen{80, 24};
  if (argc > 3) screen = {std::stoul(argv[2]), std::stoul(argv[3])};
  const std::string_view only = argc > 4 ? argv[4] : "";
  bench::without_terminal(argv[1], screen, only);
  if (!only.empty()) return 0;
  bench::on_terminal(argv[1], screen);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "view_bench: {}\n", error.what());
  return 1;
}
