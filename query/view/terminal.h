#pragma once

// The terminal, by ncurses: reads keys and shows cells. Only one object at a time.

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "query/view/grid.h"

namespace memoir::query::view {

class Terminal {
 public:
  // Takes over the terminal on standard input and output. Returns an error if they are not a terminal. `color` and
  // `mouse`: whether colors and events of the mouse are wanted.
  static Result<std::unique_ptr<Terminal>> open(bool color, bool mouse);
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  // Restores the terminal.
  ~Terminal();

  Screen screen() const;
  // A message if TERM is unknown and another type is used; otherwise empty.
  const std::string& notice() const { return notice_; }

  // Returns the name of the next key or mouse event; nullopt if there is none.
  std::optional<std::string> read_key();
  // Call after the size has changed.
  void resize();
  void show(const CellGrid& grid);
  // Repaints everything with the next show().
  void repaint();
  // Stops the program as ^Z does, and returns when it is continued.
  void suspend();
  // Puts a text into the clipboard of the terminal (OSC 52), if it permits that.
  void copy(const std::string& text);
  // Returns whether earlier output is still being sent: a slow link gets no further frames.
  bool is_busy() const;

 private:
  Terminal() = default;

  std::string notice_;
  bool color_ = false;
};

// Receives SIGWINCH, SIGTERM, SIGHUP, SIGINT and SIGCONT as bytes in a pipe. After a crash, a handler restores the
// terminal.
class TerminalSignals {
 public:
  TerminalSignals();
  TerminalSignals(const TerminalSignals&) = delete;
  TerminalSignals& operator=(const TerminalSignals&) = delete;
  ~TerminalSignals();

  int file() const;
  struct Seen {
    bool resized = false;
    bool continued = false;
    bool ends = false;
  };
  // Returns the signals since the last call.
  Seen take();
};

}  // namespace memoir::query::view
