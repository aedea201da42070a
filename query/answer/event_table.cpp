#include "query/answer/event_table.h"

#include <set>

namespace memoir::query {

const std::vector<std::string>& event_kinds() {
  static const std::vector<std::string> kinds{"alert",    "burst",     "clock-step", "degraded", "gap",        "held",
                                              "limit",    "lost",      "moved",      "oom-kill", "oom-victim", "reload",
                                              "restored", "set-aside", "suspend",    "unclean",  "wal"};
  return kinds;
}

Table event_table(const std::vector<Event>& events) {
  static const std::set<std::string> harmless{"clock-step", "limit", "reload", "suspend"};
  const Columns<Event> columns{
      {{"at_ms", "AT", Kind::time}, [](const Event& event) { return event.at.wall_ms; }},
      {{"kind", "KIND", Kind::text}, &Event::kind},
      {{"text", "WHAT", Kind::sentence, 0, Shown::everywhere, true}, &Event::text},
  };
  return make_table<Event>(columns, events, [](const Event& event) {
    return event.kind == "oom-kill" || event.kind == "oom-victim" ? Tone::problem
           : harmless.contains(event.kind)                        ? Tone::plain
                                                                  : Tone::warning;
  });
}

}  // namespace memoir::query
