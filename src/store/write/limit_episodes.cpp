#include "store/write/limit_episodes.h"

#include <SQLiteCpp/Database.h>
#include <algorithm>
#include <fmt/format.h>

#include "base/sorted.h"
#include "store/rows/limit_episode_json.h"
#include "store/write/run_log.h"

namespace memoir {
namespace {

// Reclaiming page cache at a limit is normal. An episode is stored once other memory uses this share of the limit, or
// some process of the cgroup waited for a tenth of the time.
constexpr std::int64_t kOtherPercent = 80;
constexpr std::int64_t kWaitedPart = 10;
constexpr std::int64_t kMinWaitedOfMs = 5 * 60 * 1000;

constexpr std::int64_t kFullPercent = 95;  // usage at which a tmpfs counts as full
constexpr std::int64_t kSmallTmpfsKib = 1024;

// While the usage of a cgroup changes, its counters are read at least once in this time.
constexpr std::int64_t kCountersEveryMs = 60 * 1000;

// Maximum number of new events in five minutes, because users may own many cgroups.
constexpr std::int64_t kMaxNewEvents = 30;
constexpr std::int64_t kBlockMs = 5 * 60 * 1000;

std::string episode_text(const LimitEpisode& of) {
  const auto mib = [](std::int64_t kib) { return fmt::format("{:.1f} MiB", static_cast<double>(kib) / 1024); };
  const std::string used = of.used_kib && of.limit_kib ? mib(*of.used_kib) + " of " + mib(*of.limit_kib) : "";
  if (of.kind == LimitKind::tmpfs_full) return fmt::format("The tmpfs {} was full: {}", end_of_path(of.subject), used);
  return fmt::format("The cgroup {} reached {} {}{}", end_of_path(of.subject),
                     of.kind == LimitKind::limit ? "its limit (memory.max)" : "memory.high",
                     of.times == 1 ? "once" : fmt::format("{} times", of.times), used.empty() ? "" : "; " + used);
}

// Returns the rise of a counter. A counter below its previous value belongs to a new cgroup, and counts from 0.
std::int64_t rise(std::optional<std::int64_t> before, std::optional<std::int64_t> now) {
  if (!before || !now) return 0;
  return *now < *before ? *now : *now - *before;
}

class EpisodeStore {
 public:
  EpisodeStore(SQLite::Database& database, std::int64_t run_id, const Tick& tick, LimitEpisodes& episodes)
      : database_(database), run_id_(run_id), tick_(tick), episodes_(episodes) {
    const std::int64_t block = tick.begin.boot_ms / kBlockMs;
    if (episodes_.block != block) episodes_.count = 0;
    episodes_.block = block;
    std::erase_if(episodes_.open, [this](const OpenEpisode& of) {
      return of.episode.to_ms && now_ms() - *of.episode.to_ms > kEpisodePauseMs;
    });
  }

  // Adds the rises of a cgroup's counters since the previous tick.
  void add_rises(const CgroupDetail& was, const CgroupDetail& is) {
    const std::int64_t waited_us = rise(was.psi_some_total_us, is.psi_some_total_us);
    const bool counted = was.psi_some_total_us && is.psi_some_total_us;
    const CgroupSample* const usage = find_sorted(tick_.cgroups, is.path, &CgroupSample::path);
    const auto add = [&](LimitKind kind, std::int64_t times, std::optional<std::int64_t> CgroupSample::*limit) {
      if (times == 0) return;
      OpenEpisode& open = continued(kind, is.path, kCountersEveryMs);
      LimitEpisode& of = open.episode;
      of.times += times;
      if (counted) of.waited_us = of.waited_us.value_or(0) + waited_us;
      of.to_ms = now_ms();
      if (usage != nullptr) {
        of.used_kib = usage->current_kib;
        of.limit_kib = usage->*limit;
        of.cache_kib = usage->file_kib;
      }
      if (open.event_id != 0 || is_serious(of)) store(open);
    };
    add(LimitKind::limit, rise(was.max_events, is.max_events), &CgroupSample::max_kib);
    add(LimitKind::throttled, rise(was.high_events, is.high_events), &CgroupSample::high_kib);
  }

  void update(const TmpfsSample& mount) {
    const std::int64_t limit_kib = mount.limit_kib.value_or(0);
    const std::int64_t used_kib = mount.used_kib.value_or(0);
    if (limit_kib < kSmallTmpfsKib || used_kib * 100 < limit_kib * kFullPercent) return end_full(mount.mount_point);
    OpenEpisode& open = continued(LimitKind::tmpfs_full, mount.mount_point, 0);
    LimitEpisode& of = open.episode;
    const bool is_new = open.event_id == 0 || of.to_ms || used_kib > of.used_kib.value_or(0);
    of.to_ms.reset();
    of.limit_kib = limit_kib;
    of.used_kib = std::max(of.used_kib.value_or(0), used_kib);
    if (is_new) store(open);
  }

  // Ends the episodes of mounts that no longer exist. `mounts` is sorted.
  void end_unmounted(const std::vector<TmpfsSample>& mounts) {
    std::vector<std::string> ended;
    for (const OpenEpisode& of : episodes_.open) {
      const bool is_full = of.episode.kind == LimitKind::tmpfs_full && !of.episode.to_ms;
      if (is_full && find_sorted(mounts, of.episode.subject, &TmpfsSample::mount_point) == nullptr)
        ended.push_back(of.episode.subject);
    }
    for (const std::string& mount_point : ended) end_full(mount_point);
  }

 private:
  std::int64_t now_ms() const { return tick_.begin.wall_ms; }

  OpenEpisode* find(LimitKind kind, const std::string& subject) {
    const auto found = std::ranges::find_if(episodes_.open, [&](const OpenEpisode& of) {
      return of.episode.kind == kind && of.episode.subject == subject;
    });
    return found == episodes_.open.end() ? nullptr : &*found;
  }

  OpenEpisode& continued(LimitKind kind, const std::string& subject, std::int64_t before_ms) {
    OpenEpisode* open = find(kind, subject);
    if (open == nullptr) {
      open = &episodes_.open.emplace_back();
      open->episode = {.kind = kind, .subject = subject, .run_id = run_id_, .from_ms = now_ms() - before_ms};
      open->episode.at_ms = now_ms();
    }
    return *open;
  }

  static bool is_serious(const LimitEpisode& of) {
    if (of.used_kib && of.limit_kib && of.cache_kib &&
        (*of.used_kib - *of.cache_kib) * 100 >= *of.limit_kib * kOtherPercent)
      return true;
    const std::int64_t length_ms = std::max(of.to_ms.value_or(of.at_ms) - of.from_ms, kMinWaitedOfMs);
    return of.waited_us.value_or(0) * kWaitedPart >= length_ms * 1000;
  }

  void end_full(const std::string& mount_point) {
    OpenEpisode* const open = find(LimitKind::tmpfs_full, mount_point);
    if (open == nullptr || open->episode.to_ms) return;
    open->episode.to_ms = now_ms();
    store(*open);
  }

  void store(OpenEpisode& open) {
    const std::string text = episode_text(open.episode);
    const std::string json = episode_json(database_, open.episode);
    if (open.event_id != 0) {
      Statement(database_, "UPDATE event SET text = ?2, detail = ?3 WHERE id = ?1").run(open.event_id, text, json);
      return;
    }
    if (episodes_.count >= kMaxNewEvents) return;
    ++episodes_.count;
    open.event_id = insert_event(
        database_, run_id_,
        {tick_.begin, std::string(kLimitKinds.at(static_cast<std::size_t>(open.episode.kind))), text}, json);
  }

  SQLite::Database& database_;
  std::int64_t run_id_;
  const Tick& tick_;
  LimitEpisodes& episodes_;
};

}  // namespace

void store_limit_episodes(SQLite::Database& database, std::int64_t run_id,
                          const std::vector<StoredSample<CgroupDetail>>& before, const Tick& tick,
                          LimitEpisodes& episodes) {
  EpisodeStore store(database, run_id, tick, episodes);
  if (tick.cgroup_details) {
    auto was = before.begin();
    for (const CgroupDetail& is : *tick.cgroup_details) {
      while (was != before.end() && was->last.path < is.path) ++was;
      // Without an earlier reading, the time of a rise is unknown, so a new cgroup is skipped.
      if (was != before.end() && was->last.path == is.path) store.add_rises(was->last, is);
    }
  }
  if (tick.tmpfs) {
    for (const TmpfsSample& mount : *tick.tmpfs) store.update(mount);
    store.end_unmounted(*tick.tmpfs);
  }
}

}  // namespace memoir
