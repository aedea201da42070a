// One of several exit events of a process is kept.

#include "census/exit_dedup.h"

#include "support/catch.h"

namespace memoir::test {
namespace {

ProcessEvent event_of(ProcessEventKind kind, std::int32_t pid, std::uint64_t start_ticks) {
  ProcessEvent event;
  event.kind = kind;
  event.pid = pid;
  event.start_ticks = start_ticks;
  return event;
}

TEST_CASE("a process exits once, even if several exit events report its last thread") {
  using Kind = ProcessEventKind;
  const ProcessEvent forked = event_of(Kind::forked, 7, 100);
  const ProcessEvent ended = event_of(Kind::exited, 7, 100);
  const ProcessEvent reborn = event_of(Kind::exited, 7, 101);
  ExitDedup ends;
  std::vector events{forked, ended, ended, reborn};
  ends.keep_first(events);
  CHECK(events == std::vector{forked, ended, reborn});

  events = {ended, event_of(Kind::exited, 8, 100)};
  ends.keep_first(events);
  CHECK(events == std::vector{event_of(Kind::exited, 8, 100)});

  events = {};
  ends.keep_first(events);
  events = {ended};
  ends.keep_first(events);
  CHECK(events == std::vector{ended});
}

}  // namespace
}  // namespace memoir::test
