#include "collect/tmpfs/plan.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <fmt/format.h>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "base/transformed.h"

namespace memoir {
namespace {

constexpr std::int64_t kEarlier = 6;  // after a large change, a file system is walked after 1/kEarlier of the interval
constexpr std::int64_t kCpuShare = 20'000;  // walks may use 1/kCpuShare of a core
constexpr std::int64_t kUnknownWalkUs = 1'000;
constexpr std::int64_t kUnwalkedRounds = 2;  // a file system that was never walked counts as this many intervals late
constexpr std::int64_t kTellEveryMs = 5 * 60 * 1000;
constexpr std::int64_t kMinMoveKib = 1024;
constexpr std::int64_t kMuchKib = 64 * 1024;
constexpr std::array<std::int64_t, 2> kFillPercents{80, 95};  // a walk is due when usage reaches one of these

// Returns whether a value changed by more than a 16th of the previous one, but at least 1 MiB and at most 64 MiB.
bool moved_much(std::optional<std::int64_t> before, std::optional<std::int64_t> now) {
  if (!before || !now) return before.has_value() != now.has_value();
  return std::abs(*now - *before) > std::clamp(*before / 16, kMinMoveKib, kMuchKib);
}

// Returns whether any value changed, or may have changed because the kernel does not count it.
bool moved(const std::optional<TmpfsUsage>& before, const std::optional<TmpfsUsage>& now) {
  return before != now || !now || !now->used_kib || !now->inodes;
}

// Returns how many of kFillPercents the usage has reached.
std::ptrdiff_t fill_level(const std::optional<TmpfsUsage>& room) {
  if (!room || !room->used_kib || room->limit_kib.value_or(0) <= 0) return 0;
  return std::ranges::count_if(kFillPercents, [&room](std::int64_t percent) {
    return static_cast<double>(*room->used_kib) * 100 >= static_cast<double>(*room->limit_kib * percent);
  });
}

TmpfsUsage room_of(const TmpfsSample& sample) {
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
    if (known == places_.end()) place.sample.mount_point = to_utf8(reading.mount.mount_point);
    if (known == places_.end()) place.seen_ms = now_ms;
    if (known == places_.end()) changed_ = true;
    place.sample.source = to_utf8(reading.mount.source);
    place.mount = std::move(reading.mount);
    place.room = reading.room;
    update(place, now_ms);
  }
  if (places.size() < places_.size()) changed_ = true;
  places_ = std::move(places);
  std::ranges::sort(places_, {}, [](const Place& place) -> const std::string& { return place.sample.mount_point; });
}

void TmpfsPlan::update(Place& place, std::int64_t now_ms) {
  TmpfsSample& reported = place.sample;
  const TmpfsUsage room = place.room.value_or(TmpfsUsage{place.mount.limit_kib});
  const TmpfsWalk walk = place.room ? place.walk : TmpfsWalk::not_read;
  const bool urgent =
      walk != reported.walk || room.limit_kib != reported.limit_kib || moved_much(reported.used_kib, room.used_kib);
  const bool later = now_ms - place.reported_ms >= kTellEveryMs && room != room_of(reported);
  if (!urgent && !later) return;
  reported.walk = walk;
  reported.limit_kib = room.limit_kib;
  reported.used_kib = room.used_kib;
  reported.inodes = room.inodes;
  place.reported_ms = now_ms;
  changed_ = true;
}

void TmpfsPlan::note_oom_kill() {
  for (Place& place : places_) {
    const bool changed =
        place.room_at_walk && place.room && moved_much(place.room_at_walk->used_kib, place.room->used_kib);
    place.killed_near = changed || (fill_level(place.room) > 0 && moved(place.room_at_walk, place.room));
  }
}

bool TmpfsPlan::is_urgent(const Place& place) {
  return place.killed_near || fill_level(place.room) > fill_level(place.room_at_walk);
}

bool TmpfsPlan::is_due(const Place& place, std::int64_t now_ms) const {
  if (!place.room) return false;
  if (!place.walked_ms || is_urgent(place)) return true;
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
    const auto rank = [](const Place& of) { return std::pair(!is_urgent(of), of.walked_ms); };
    if (next == nullptr || rank(place) < rank(*next)) next = &place;
  }
  return next;
}

std::optional<TmpfsPlan::Turn> TmpfsPlan::coming(const std::vector<TmpfsMount>& stuck, std::int64_t now_ms) const {
  const Place* const next = next_place(stuck, now_ms);
  if (next == nullptr) return std::nullopt;
  if (is_urgent(*next))
    return Turn{next->walked_ms ? next->walk_us : kUnknownWalkUs, kUnwalkedRounds * interval_ms_, true};
  if (!next->walked_ms) return Turn{kUnknownWalkUs, kUnwalkedRounds * interval_ms_ + now_ms - next->seen_ms};
  return Turn{next->walk_us, std::max<std::int64_t>(now_ms - *next->walked_ms - interval_ms_, 0)};
}

std::optional<TmpfsMount> TmpfsPlan::next_walk(const std::vector<TmpfsMount>& stuck, std::int64_t now_ms) {
  if (const std::int64_t earned = earned_us(now_ms); earned > 0) {
    credit_us_ = std::min(kMaxCreditUs, credit_us_ + earned);
    credit_ms_ = now_ms;
  }
  const Place* const next = next_place(stuck, now_ms);
  if (next == nullptr) return std::nullopt;
  Place& place = places_[static_cast<std::size_t>(next - places_.data())];
  place.walked_ms = now_ms;
  place.room_at_walk = place.room;
  place.killed_near = false;
  return place.mount;
}

void TmpfsPlan::take(const TmpfsMount& mount, TmpfsTree tree, std::int64_t wall_ms) {
  credit_us_ -= tree.cpu_us;
  const auto place =
      std::ranges::find_if(places_, [&](const Place& known) { return same_file_system(known.mount, mount); });
  if (place == places_.end()) return;
  if (!tree.problem.empty() && !std::exchange(place->complained, true)) {
    log_warning(fmt::format("the tmpfs at {} is {}: {}", to_printable(place->sample.mount_point),
                            tree.walk == TmpfsWalk::cut ? "only partly walked" : "not walked", tree.problem));
  }
  place->walk_us = tree.cpu_us;
  place->walk = tree.walk;
  place->sample.walk = tree.walk;
  changed_ = true;
  if (tree.walk == TmpfsWalk::not_read) return;
  place->sample.walked_ms = wall_ms;
  place->sample.content = tree.content;
  place->sample.largest = std::move(tree.largest);
}

std::optional<std::vector<TmpfsSample>> TmpfsPlan::report(bool keyframe) {
  if (!std::exchange(changed_, false) && !keyframe) return std::nullopt;
  return transformed(places_, &Place::sample);
}

}  // namespace memoir
