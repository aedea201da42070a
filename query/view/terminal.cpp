#include "query/view/terminal.h"

#include <array>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <utility>

#include "base/text.h"
#include "query/view/mouse.h"

// Included after all others, because it defines macros with common names.
#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1
#include <curses.h>

namespace memoir::query::view {
namespace {

constexpr short kYellowPair = 1;
constexpr short kRedPair = 2;
constexpr int kEscapeDelayMs = 25;

struct SpecialKey {
  int code;
  const char* name;
};
constexpr std::array kSpecialKeys{SpecialKey{KEY_UP, "Up"},        SpecialKey{KEY_DOWN, "Down"},
                                  SpecialKey{KEY_LEFT, "Left"},    SpecialKey{KEY_RIGHT, "Right"},
                                  SpecialKey{KEY_PPAGE, "PgUp"},   SpecialKey{KEY_NPAGE, "PgDn"},
                                  SpecialKey{KEY_HOME, "Home"},    SpecialKey{KEY_END, "End"},
                                  SpecialKey{KEY_ENTER, "Enter"},  SpecialKey{KEY_BACKSPACE, "Backspace"},
                                  SpecialKey{KEY_BTAB, "Backtab"}, SpecialKey{KEY_DC, "Del"},
                                  SpecialKey{KEY_IC, "Ins"}};

std::string name_of_mouse();

std::string name_of_special(int code) {
  if (code == KEY_MOUSE) return name_of_mouse();
  for (const SpecialKey& key : kSpecialKeys) {
    if (key.code == code) return key.name;
  }
  for (int number = 1; number <= 12; ++number) {
    if (code == KEY_F(number)) return fmt::format("F{}", number);
  }
  return {};
}

std::string name_of_mouse() {
  MEVENT event{};
  if (getmouse(&event) != OK || event.x < 0 || event.y < 0) return {};
  struct Button {
    mmask_t mask;
    const char* name;
  };
  constexpr std::array buttons{Button{BUTTON1_PRESSED, "Press"}, Button{BUTTON1_RELEASED, "Release"},
                               Button{BUTTON4_PRESSED, "WheelUp"}, Button{BUTTON5_PRESSED, "WheelDown"}};
  for (const Button& button : buttons) {
    if ((event.bstate & button.mask) != 0)
      return mouse_key(button.name, static_cast<std::size_t>(event.x), static_cast<std::size_t>(event.y));
  }
  return {};
}

std::string name_of_character(std::wint_t character) {
  constexpr std::wint_t escape = 0x1b;
  constexpr std::wint_t backspace = 0x7f;
  if (character == L'\r' || character == L'\n') return "Enter";
  if (character == L'\t') return "Tab";
  if (character == L' ') return "Space";
  if (character == escape) return "Esc";
  if (character == backspace || character == L'\b') return "Backspace";
  if (character < L' ') return fmt::format("^{}", static_cast<char>('@' + static_cast<int>(character)));
  std::array<char, MB_LEN_MAX> bytes{};
  std::mbstate_t state{};
  const std::size_t count = std::wcrtomb(bytes.data(), static_cast<wchar_t>(character), &state);
  return count == static_cast<std::size_t>(-1) ? std::string() : std::string(bytes.data(), count);
}

std::string base64(std::string_view text) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 3; ++j)
      bits = bits << 8U | (i + j < text.size() ? static_cast<unsigned char>(text[i + j]) : 0U);
    for (std::size_t j = 0; j < 4; ++j) out += i + j > text.size() ? '=' : letters[bits >> (18U - 6U * j) & 63U];
  }
  return out;
}

// The state needed to restore the terminal after a crash; signal handlers use it.
termios saved_terminal{};
bool has_saved_terminal = false;
std::array<int, 2> signal_pipe{-1, -1};

constexpr std::array kSignals{SIGWINCH, SIGTERM, SIGHUP, SIGINT, SIGCONT};
constexpr std::array kCrashes{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

void on_signal(int signal) {
  const int before = errno;
  const auto byte = static_cast<unsigned char>(signal);
  [[maybe_unused]] const auto written = write(signal_pipe[1], &byte, 1);
  errno = before;
}

void on_crash(int signal) {
  constexpr std::string_view reset = "\x1b[?1049l\x1b[?25h\x1b[0m\r\n";
  [[maybe_unused]] const auto written = write(STDOUT_FILENO, reset.data(), reset.size());
  if (has_saved_terminal) tcsetattr(STDIN_FILENO, TCSANOW, &saved_terminal);
  std::signal(signal, SIG_DFL);
  raise(signal);
}

template <std::size_t count>
void handle(const std::array<int, count>& signals, void (*handler)(int)) {
  for (const int signal : signals) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace

Result<std::unique_ptr<Terminal>> Terminal::open(bool color, bool mouse) {
  if (isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0)
    return Error{ErrorKind::malformed, "view needs a terminal"};
  std::unique_ptr<Terminal> terminal(new Terminal);
  has_saved_terminal = tcgetattr(STDIN_FILENO, &saved_terminal) == 0;
  SCREEN* screen = newterm(nullptr, stdout, stdin);
  if (screen == nullptr) {
    const char* const given = std::getenv("TERM");
    for (const char* const type : {"xterm-256color", "vt100"}) {
      if (screen != nullptr) break;
      screen = newterm(type, stdout, stdin);
      terminal->notice_ = fmt::format("the terminal type {} is unknown; it is used as {}",
                                      to_printable(given == nullptr ? "" : given), type);
    }
  }
  if (screen == nullptr) return Error{ErrorKind::malformed, "no description of this terminal (TERM) is installed"};
  raw();
  noecho();
  nonl();
  keypad(stdscr, TRUE);
  nodelay(stdscr, TRUE);
  set_escdelay(kEscapeDelayMs);
  scrollok(stdscr, FALSE);
  if (color && has_colors()) {
    start_color();
    use_default_colors();
    init_pair(kYellowPair, COLOR_YELLOW, -1);
    init_pair(kRedPair, COLOR_RED, -1);
    terminal->color_ = true;
  }
  if (mouse) mousemask(BUTTON1_PRESSED | BUTTON1_RELEASED | BUTTON4_PRESSED | BUTTON5_PRESSED, nullptr);
  mouseinterval(0);
  terminal->resize();
  return terminal;
}

Terminal::~Terminal() {
  endwin();
}

Screen Terminal::screen() const {
  return {static_cast<std::size_t>(getmaxx(stdscr)), static_cast<std::size_t>(getmaxy(stdscr))};
}

std::optional<std::string> Terminal::read_key() {
  std::wint_t character = 0;
  for (;;) {
    const int kind = wget_wch(stdscr, &character);
    if (kind == ERR) return std::nullopt;
    std::string name =
        kind == KEY_CODE_YES ? name_of_special(static_cast<int>(character)) : name_of_character(character);
    if (!name.empty()) return name;
  }
}

void Terminal::resize() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0)
    resizeterm(size.ws_row, size.ws_col);
}

void Terminal::show(const CellGrid& grid) {
  const std::size_t lines = std::min(grid.lines(), screen().lines);
  werase(stdscr);
  for (std::size_t at = 0; at < lines; ++at) {
    wmove(stdscr, static_cast<int>(at), 0);
    const auto& cells = grid.line(at);
    const std::size_t columns = std::min(cells.size(), screen().columns);
    for (std::size_t from = 0; from < columns;) {
      std::string text;
      std::size_t to = from;
      while (to < columns && cells[to].style == cells[from].style) text += cells[to++].utf8;
      const Style& style = cells[from].style;
      attr_t attributes = 0;
      short pair = 0;
      if (style.reverse) attributes |= A_REVERSE;
      if (style.dim) attributes |= A_DIM;
      if (style.tone == Tone::marked || (!color_ && style.tone != Tone::plain)) attributes |= A_BOLD;
      if (color_ && style.tone == Tone::warning) pair = kYellowPair;
      if (color_ && style.tone == Tone::problem) pair = kRedPair;
      wattr_set(stdscr, attributes, pair, nullptr);
      waddnstr(stdscr, text.data(), static_cast<int>(text.size()));
      from = to;
    }
  }
  wattr_set(stdscr, 0, 0, nullptr);
  wmove(stdscr, static_cast<int>(std::min(grid.cursor_line(), lines - 1)), 0);
  wrefresh(stdscr);
}

void Terminal::repaint() {
  reset_prog_mode();
  clearok(curscr, TRUE);
}

void Terminal::suspend() {
  endwin();
  std::signal(SIGTSTP, SIG_DFL);
  kill(0, SIGTSTP);  // stops the whole process group, which includes a script that runs memoir
  resize();
  repaint();
}

void Terminal::copy(const std::string& text) {
  std::printf("\x1b]52;c;%s\x07", base64(text).c_str());
  std::fflush(stdout);
}

bool Terminal::is_busy() const {
  constexpr int max_bytes = 4096;
  int pending = 0;
  return ioctl(STDOUT_FILENO, TIOCOUTQ, &pending) == 0 && pending > max_bytes;
}

TerminalSignals::TerminalSignals() {
  if (pipe2(signal_pipe.data(), O_NONBLOCK | O_CLOEXEC) != 0) signal_pipe = {-1, -1};
  handle(kSignals, on_signal);
  handle(kCrashes, on_crash);
}

TerminalSignals::~TerminalSignals() {
  handle(kSignals, SIG_DFL);
  handle(kCrashes, SIG_DFL);
  for (int& file : signal_pipe) close(std::exchange(file, -1));
}

int TerminalSignals::file() const {
  return signal_pipe[0];
}

TerminalSignals::Seen TerminalSignals::take() {
  Seen seen;
  unsigned char byte = 0;
  while (read(signal_pipe[0], &byte, 1) == 1) {
    seen.resized = seen.resized || byte == SIGWINCH;
    seen.continued = seen.continued || byte == SIGCONT;
    seen.ends = seen.ends || byte == SIGTERM || byte == SIGHUP || byte == SIGINT;
  }
  return seen;
}

}  // namespace memoir::query::view
