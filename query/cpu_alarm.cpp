#include "query/cpu_alarm.h"

#include <csignal>
#include <cstdint>
#include <fmt/format.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/text.h"
#include "query/application.h"

namespace memoir::query {
namespace {

// The text is made before the signal can arrive, because a signal handler must not allocate memory.
std::string& alarm_message() {
  static std::string text;
  return text;
}

void end_program(int) {
  const std::string& text = alarm_message();
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(static_cast<int>(Exit::failed));
}

void start_timer(std::chrono::microseconds within) {
  constexpr std::int64_t second_us = 1'000'000;
  const itimerval timer{.it_interval = {},
                        .it_value = {.tv_sec = within.count() / second_us, .tv_usec = within.count() % second_us}};
  setitimer(ITIMER_PROF, &timer, nullptr);
}

}  // namespace

CpuAlarm::CpuAlarm(const std::string& path, std::chrono::milliseconds within) {
  alarm_message() = fmt::format("memoir: {}: the answer takes too long; use a shorter range\n", to_printable(path));
  struct sigaction action {};
  action.sa_handler = end_program;
  sigaction(SIGPROF, &action, nullptr);
  start_timer(within);
}

CpuAlarm::~CpuAlarm() {
  start_timer({});
}

}  // namespace memoir::query
