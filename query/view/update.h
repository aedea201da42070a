#pragma once

// One step of the view: a message changes the model and leads to requests. Pure; the loop carries out the requests.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "query/view/model.h"

namespace memoir::query::view {

// A key, by its name in the key table; other characters are their own name.
struct KeyPress {
  std::string name;
};
struct Resized {
  Screen screen;
};
struct Answered {
  Slot slot = Slot::page;
  std::uint64_t id = 0;
  std::shared_ptr<const Report> report;
  std::string error;  // instead of a report
  std::string file;   // path to which it was saved
};
// The tick that a seek has found.
struct Sought {
  std::uint64_t id = 0;
  std::int64_t at_ms = 0;
};
// A tick was recorded, or the state of the recording changed. `same`: only the time has changed.
struct Ticked {
  RecordingInfo recorded;
  bool same = false;
};
// The file can no longer be read, until the next Ticked.
struct Lost {
  std::string message;
};
using Msg = std::variant<KeyPress, Resized, Answered, Sought, Ticked, Lost>;

struct AskFor {
  Slot slot = Slot::page;
  std::uint64_t id = 0;
  Words words;
  bool rests = false;     // asked only if no newer question follows shortly
  std::string file = {};  // saved to a new file with this name and the ending of its format
};
// Finds the tick at or before a time, or one that is `steps` ticks further.
struct Seek {
  std::uint64_t id = 0;
  std::int64_t at_ms = 0;
  int steps = 0;
  std::optional<std::int64_t> after_ms = {};  // a later tick than this
  std::optional<std::string> tier = {};       // --tier
};
struct Copy {
  std::string text;
};
enum class Signal : std::uint8_t { redraw, suspend, quit };
using Request = std::variant<AskFor, Seek, Copy, Signal>;

struct Step {
  Model model;
  std::vector<Request> requests;
};

// Where the view starts.
struct Start {
  Page page = Page::processes;
  std::optional<std::int64_t> at_ms;  // nullopt: the view follows the last tick
  std::optional<Range> range;         // range of the time bar
  bool last_oom = false;
  Place place;  // options of the pages
};

Step start(const Setup& setup, Screen screen, const RecordingInfo& recorded, const Start& from);
Step update(Model model, const Msg& msg);

}  // namespace memoir::query::view
