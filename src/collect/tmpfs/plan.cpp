#include "collect/tmpfs/plan.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <utility>

#include "base/each_of.h"
#include "base/log.h"
#include "base/text.h"

namespace memoir {
namespace {

constexpr std::int64_t kEarlier = 6;        // one that moved much is walked after a 6th of the interval
constexpr std::int64_t kCpuShare = 20'000;  // one so many'th of a core
constexpr std::int64_t kUnknownWalkUs = 1'000;
constexpr std::int64_t kUnwalkedRounds = 2;  // of one that was never walked nothing is known: as if so many too late
constexpr std::int64_t kTellEveryMs = 5 * 60 * 1000;
constexpr std::int64_t kLeastMoveKib = 1024;
constexpr std::int64_t kMuchKib = 64 * 1024;

// By a 16th of what there was, but for little; by 64 MiB in any case.
bool moved_much(std::optional<std::int64_t> before, std::optional<std::int64_t> now) {
  if (!before || !now) return before.has_value() != now.has_value();
  return std::abs(*now - *before) > std::clamp(*before / 16, kLeastMoveKib, kMuchKib);
}

// What the kernel does not count may have moved.
bool moved(const std::optional<TmpfsRoom>& before, const std::optional<TmpfsRoom>& now) {
  return before != now || !now || !now->used_kib || !now->inodes;
}

TmpfsRoom room_of(const TmpfsSample& sample) {
  return {sample.limit_kib, sample.used_kib, sample.inodes};
}

bool same_file_system(const TmpfsMount& a, const TmpfsMount& b) {
  return a.major == b.major && a.minor == b.minor && a.mount_point == b.mount_point;
}

}  // namespace

void TmpfsPlan::see(std::vector<Reading> readings, std::int64_t now_ms) {
  std::vector<Place> places;
  places.reserve(readings.size());
  for (Reading& reading : readings) {
    const auto known =
        std::ranges::find_if(places_, [&](const Place& place) { return same_file_system(place.mount, reading.mount); });
    Place& place = places.emplace_back(known == places_.end() ? Place() : std::move(*known));
    if (known == places_.end()) place.told.mount_point = to_utf8(reading.mount.mount_point);
    if (known == places_.end()) place.seen_ms = now_ms;
    if (known == places_.end()) tell_ = true;
    place.mount = std::move(reading.mount);
    place.room = reading.room;
    update(place, now_ms);
  }
  if (places.size() < places_.size()) tell_ = true;
  places_ = std::move(places);
  std::ranges::sort(places_, {}, [](const Place& place) -> const std::string& { return place.told.mount_point; });
}

void TmpfsPlan::update(Place& place, std::int64_t now_ms) {
  TmpfsSample& told = place.told;
  const TmpfsRoom room = place.room.value_or(TmpfsRoom{place.mount.limit_kib});
  const TmpfsWalk walk = place.room ? place.walk : TmpfsWalk::not_read;
  const bool urgent = walk != told.walk || room.limit_kib != told.limit_kib || moved_much(told.used_kib, room.used_kib);
  const bool later = now_ms - place.told_ms >= kTellEveryMs && room != room_of(told);
  if (!urgent && !later) return;
  told.walk = walk;
  told.limit_kib = room.limit_kib;
  told.used_kib = room.used_kib;
  told.inodes = room.inodes;
  place.told_ms = now_ms;
  tell_ = true;
}

bool TmpfsPlan::is_due(const Place& place, std::int64_t now_ms) const {
  if (!place.room) return false;
  if (!place.walked_ms) return true;
  const std::int64_t since = now_ms - *place.walked_ms;
  if (since < interval_ms_ / kEarlier || !moved(place.room_at_walk, place.room)) return false;
  return since >= interval_ms_ ||
         moved_much(place.room_at_walk ? place.room_at_walk->used_kib : std::nullopt, place.room->used_kib);
}

std::int64_t TmpfsPlan::earned_us(std::int64_t now_ms) const {
  return std::max<std::int64_t>(now_ms - credit_ms_, 0) * 1000 / kCpuShare;
}

const TmpfsPlan::Place* TmpfsPlan::next_place(const std::vector<TmpfsMount>& stuck, std::int64_t now_ms) const {
  if (interval_ms_ == 0 || credit_us_ + earned_us(now_ms) <= 0) return nullptr;
  const Place* next = nullptr;
  for (const Place& place : places_) {
    if (std::ranges::find(stuck, place.mount) != stuck.end() || !is_due(place, now_ms)) continue;
    if (next == nullptr || place.walked_ms < next->walked_ms) next = &place;
  }
  return next;
}

std::optional<TmpfsPlan::Turn> TmpfsPlan::coming(const std::vector<TmpfsMount>& stuck, std::int64_t now_ms) const {
  const Place* const next = next_place(stuck, now_ms);
  if (next == nullptr) return std::nullopt;
  if (!next->walked_ms) return Turn{kUnknownWalkUs, kUnwalkedRounds * interval_ms_ + now_ms - next->seen_ms};
  return Turn{next->walk_us, std::max<std::int64_t>(now_ms - *next->walked_ms - interval_ms_, 0)};
}

std::optional<TmpfsMount> TmpfsPlan::next_walk(const std::vector<TmpfsMount>& stuck, std::int64_t now_ms) {
  if (const std::int64_t earned = earned_us(now_ms); earned > 0) {
    credit_us_ = std::min(kMostCreditUs, credit_us_ + earned);
    credit_ms_ = now_ms;
  }
  const Place* const next = next_place(stuck, now_ms);
  if (next == nullptr) return std::nullopt;
  Place& place = places_[static_cast<std::size_t>(next - places_.data())];
  place.walked_ms = now_ms;
  place.room_at_walk = place.room;
  return place.mount;
}

void TmpfsPlan::take(const TmpfsMount& mount, TmpfsTree tree, std::int64_t wall_ms) {
  credit_us_ -= tree.cpu_us;
  const auto place =
      std::ranges::find_if(places_, [&](const Place& known) { return same_file_system(known.mount, mount); });
  if (place == places_.end()) return;
  if (!tree.problem.empty() && !std::exchange(place->complained, true)) {
    log_warning(fmt::format("the tmpfs at {} is {}: {}", to_printable(place->told.mount_point),
                            tree.walk == TmpfsWalk::cut ? "not walked whole" : "not walked", tree.problem));
  }
  place->walk_us = tree.cpu_us;
  place->walk = tree.walk;
  place->told.walk = tree.walk;
  tell_ = true;
  if (tree.walk == TmpfsWalk::not_read) return;
  place->told.walked_ms = wall_ms;
  place->told.content = tree.content;
  place->told.largest = std::move(tree.largest);
}

std::optional<std::vector<TmpfsSample>> TmpfsPlan::tell(bool keyframe) {
  if (!std::exchange(tell_, false) && !keyframe) return std::nullopt;
  return each_of(places_, &Place::told);
}

}  // namespace memoir
