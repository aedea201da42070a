#include "analysis/restarts.h"

#include <algorithm>
#include <map>

namespace memoir {

namespace {

// Start times are computed from clock ticks and a boot time in whole seconds, so they may be wrong by this much.
constexpr std::int64_t kStartError = 1000;

using Places = std::vector<std::size_t>;

// Pairs the exits of an identity's processes with the starts that follow them.
void match(std::span<const Life> lives, const RestartRule& rule, Places births, std::vector<Restart>& restarts) {
  Places ends;
  for (const std::size_t place : births) {
    const Life& life = lives[place];
    if (life.exited_ms && *life.exited_ms - life.begin_ms >= rule.min_life_ms) ends.push_back(place);
  }
  std::ranges::stable_sort(ends, {}, [lives](std::size_t place) { return lives[place].last_ms; });
  std::ranges::stable_sort(births, {}, [lives](std::size_t place) { return lives[place].begin_ms; });
  auto birth = births.begin();
  for (const std::size_t end : ends) {
    while (birth != births.end() && lives[*birth].begin_ms <= lives[end].last_ms - kStartError) ++birth;
    if (birth == births.end()) return;
    if (*birth == end || lives[*birth].begin_ms > *lives[end].exited_ms + rule.longest_pause_ms) continue;
    restarts.push_back({end, *birth});
    ++birth;
  }
}

}  // namespace

std::vector<Restart> find_restarts(std::span<const Life> lives, const RestartRule& rule) {
  std::map<std::string_view, Places> by_identity;
  for (std::size_t place = 0; place < lives.size(); ++place) by_identity[lives[place].identity].push_back(place);
  std::vector<Restart> restarts;
  for (auto& [identity, places] : by_identity) match(lives, rule, std::move(places), restarts);
  std::ranges::stable_sort(restarts, {}, [lives](const Restart& restart) { return *lives[restart.ended].exited_ms; });
  return restarts;
}

}  // namespace memoir
