#include "query/copies/interruption.h"

#include <array>
#include <csignal>

namespace memoir::query {
namespace {

constexpr std::array kSignals{SIGINT, SIGHUP, SIGTERM};

volatile std::sig_atomic_t noted = 0;
std::array<struct sigaction, kSignals.size()> handlers_before;

void note(int) {
  noted = 1;
}

}  // namespace

Interruption::Interruption() {
  noted = 0;
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &handlers_before[i]);
    // nohup(1) has a program ignore the hangup.
    if (handlers_before[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

Interruption::~Interruption() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &handlers_before[i], nullptr);
}

bool Interruption::came() {
  return noted != 0;
}

}  // namespace memoir::query
