#include "collect/cgroup/cgroup_reader.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "base/clock.h"
#include "proc/cgroup_memory.h"

namespace memoir {
namespace {

constexpr std::int64_t kDetailEveryMs = 60'000;

// Each cgroup is read completely once in this interval. If readings were delayed, a tick reads at most kCatchUp times
// the cgroups that became due, and kMaxRounds limits the backlog.
constexpr std::int64_t kWholeEveryMs = 5 * 60 * 1000;
constexpr double kCatchUp = 2;
constexpr double kMaxRounds = 2;
constexpr std::int64_t kUnknownWholeUs = 50;

// Usage is near a limit if less than 1/kNearPart of the limit is left.
constexpr std::int64_t kNearPart = 10;

bool is_near(std::int64_t kib, std::optional<std::int64_t> limit_kib) {
  return limit_kib && kib >= *limit_kib - *limit_kib / kNearPart;
}

bool near_a_limit(const CgroupSample& sample) {
  return is_near(sample.current_kib, sample.max_kib) || is_near(sample.current_kib, sample.high_kib);
}

// Small changes are not reported, because every charged page changes the usage.
bool moved_little(std::int64_t before_kib, std::int64_t now_kib) {
  constexpr std::int64_t min_kib = 128;
  return std::abs(now_kib - before_kib) <= std::max(before_kib / 256, min_kib);
}

// Returns the number of kills, including those of descendants if the hierarchy counts them.
std::optional<std::int64_t> kills_of(const CgroupDetail& detail) {
  return detail.oom_kills ? detail.oom_kills : detail.own_oom_kills;
}

// Wraps a parser so that it notes odd lines.
template <typename T>
auto noting(Result<T> (*parse)(std::string_view, OddLines*), OddLines& odd) {
  return [parse, odd = &odd](std::string_view text) { return parse(text, odd); };
}

}  // namespace

// Reads a value. A missing, unreadable or unsupported file is normal, because the cgroup may be deleted or the kernel
// old.
template <typename Parse>
auto CgroupReader::value(const std::string& path, Cgroup& cgroup, CgroupFile name, const Parse& parse) {
  using T = std::decay_t<decltype(*parse(std::string_view()))>;
  if (!cgroups_.has(name)) return std::optional<T>();
  std::optional<File>& file = cgroup.files[static_cast<std::size_t>(name)];
  if (!file) file.emplace(File{CachedFile(budget_)});
  if (file->missing) return std::optional<T>();
  const auto open = [&] { return cgroups_.open(path, name); };
  const bool was_kept = file->kept.kept();
  auto text = file->kept.read(open, *pass_.buffer);
  if (!text && was_kept) {
    // The cgroup was deleted, but another cgroup may have its name now.
    cgroup.replaced = true;
    file->kept.close();
    text = file->kept.read(open, *pass_.buffer);
  }
  file->missing = !text;
  if (!text) return std::optional<T>();
  const Result<T> parsed = parse(*text);
  if (parsed) return std::optional<T>(*parsed);
  // An empty usage file means that the cgroup was deleted.
  file->missing = name == CgroupFile::current && parsed.error().kind == ErrorKind::not_found;
  if (parsed.error().kind == ErrorKind::malformed) pass_.odd.note(parsed.error());
  return std::optional<T>();
}

bool CgroupReader::has_space(std::uint32_t uid) const {
  const auto owned = owned_.find(uid);
  const std::size_t own = owned == owned_.end() ? 0 : owned->second;
  if (uid == 0) return own < limits_.of_root;
  const auto root = owned_.find(0);
  return own < limits_.of_user && known_.size() - (root == owned_.end() ? 0 : root->second) < limits_.of_users;
}

// Returns the cgroup at `path`, which is added if the limits permit. Otherwise returns its nearest known ancestor;
// nullptr if there is none.
CgroupReader::Cgroup* CgroupReader::at(std::string_view path, std::uint32_t uid) {
  if (const auto found = known_.find(path); found != known_.end()) return &found->second;
  const std::string_view above_path = cgroup_above(path);
  Cgroup* const above = above_path.empty() ? nullptr : at(above_path, uid);
  if (!has_space(uid)) return above;
  Cgroup& cgroup = known_.emplace(std::string(path), Cgroup()).first->second;
  cgroup.above = above;
  cgroup.uid = uid;
  ++owned_[uid];
  return &cgroup;
}

// Forgets cgroups that had no process at the last count. They have been read once more since, because the OOM killer
// may have killed their last process.
void CgroupReader::forget_unused() {
  for (auto known = known_.begin(); known != known_.end();) {
    if (known->second.used) {
      ++known;
      continue;
    }
    const auto owned = owned_.find(known->second.uid);
    if (--owned->second == 0) owned_.erase(owned);
    known = known_.erase(known);
  }
}

// Counts the processes of each cgroup. A cgroup that lost a process has changed.
void CgroupReader::count(const std::vector<CgroupMember>& members) {
  forget_unused();
  left_.unknown = 0;
  std::vector<std::pair<Cgroup*, std::size_t>> before;
  before.reserve(known_.size());
  for (auto& [path, cgroup] : known_) {
    cgroup.used = false;
    before.emplace_back(&cgroup, std::exchange(cgroup.members, 0));
  }
  for (const CgroupMember& member : members) {
    if (member.cgroup.empty()) continue;
    Cgroup* const own = at(member.cgroup, member.uid);
    if (own == nullptr || !known_.contains(member.cgroup)) ++left_.unknown;
    if (own == nullptr) continue;
    ++own->members;
    for (Cgroup* in = own; in != nullptr && !in->used; in = in->above) in->used = true;
  }
  for (const auto& [cgroup, count] : before) {
    if (cgroup->members < count) mark_moved(cgroup);
  }
}

void CgroupReader::read_limits(const std::string& path, Cgroup& cgroup) {
  const auto limit = [&](CgroupFile file) { return value(path, cgroup, file, parse_cgroup_limit); };
  const auto max = limit(CgroupFile::max);
  // The root has no limit file. If the file is odd, the previous value stays.
  if (!max && cgroup.missing(CgroupFile::max)) return cgroup.sample.reset();
  if (!cgroup.sample) cgroup.sample.emplace().path = path;
  CgroupSample& sample = *cgroup.sample;
  if (max) sample.max_kib = *max;
  sample.high_kib = limit(CgroupFile::high).value_or(std::nullopt);
  sample.swap_max_kib = limit(CgroupFile::swap_max).value_or(std::nullopt);
}

void CgroupReader::read_usage(const std::string& path, Cgroup& cgroup) {
  const auto get = [&](CgroupFile file, auto parse) { return value(path, cgroup, file, parse); };
  const auto current = get(CgroupFile::current, parse_cgroup_usage);
  if (!current) {
    // If the file is odd, the previous value stays.
    if (cgroup.missing(CgroupFile::current) || !cgroup.detail) cgroup.sample.reset();
    return;
  }
  CgroupSample& sample = *cgroup.sample;
  if (cgroups_.has(CgroupFile::swap_current)) sample.swap_kib = get(CgroupFile::swap_current, parse_cgroup_usage);
  // Near a limit, other memory displaces page cache: the parts change although the sum does not.
  const bool near = near_a_limit(sample) || is_near(*current, sample.max_kib) || is_near(*current, sample.high_kib);
  if (cgroup.detail && !cgroup.whole && !near && moved_little(sample.current_kib, *current)) return;
  sample.current_kib = *current;
  const CgroupStat stat = get(CgroupFile::stat, noting(parse_cgroup_stat, pass_.odd)).value_or(CgroupStat());
  sample.file_kib = stat.file;
  sample.anon_kib = stat.anon;
  sample.shmem_kib = stat.shmem;
  sample.kernel_kib = stat.kernel ? stat.kernel : get(CgroupFile::kernel, parse_cgroup_usage);
  if (!cgroups_.has(CgroupFile::swap_current)) sample.swap_kib = stat.swap;
}

void CgroupReader::read_peaks(const std::string& path, Cgroup& cgroup, const Held& before) {
  const Held now = held(*cgroup.sample);
  const auto read = [&](CgroupFile file, PeakTracker& peak, std::int64_t before_kib, std::int64_t now_kib,
                        Extremes& between) {
    const auto kib = value(path, cgroup, file, parse_cgroup_usage);
    if (!kib) return;
    const Extremes seen = peak.see(*kib, pass_.begin.wall_ms, before_kib, now_kib);
    if (seen.highest && (!between.highest || between.highest->kib < seen.highest->kib)) between = seen;
    const CachedFile& kept = cgroup.files.at(static_cast<std::size_t>(file))->kept;
    if (!kept.kept() || !cgroup.resets) return;
    const Status reset = cgroups_.reset_peak(kept.descriptor());
    if (reset) peak.note_reset();
    if (!reset && reset.error().kind == ErrorKind::denied) cgroup.resets = false;
  };
  read(CgroupFile::peak, cgroup.peak, before.usage_kib, now.usage_kib, cgroup.usage_between);
  if (!pass_.has_swap) return;
  read(CgroupFile::swap_peak, cgroup.swap_peak, before.swap_kib, now.swap_kib, cgroup.swap_between);
}

void CgroupReader::read_detail(const std::string& path, Cgroup& cgroup) {
  const auto get = [&](CgroupFile file, auto parse) { return value(path, cgroup, file, parse); };
  // The limit "max" means that everything is protected. It is stored as no limit.
  const auto limit = [&](CgroupFile file) { return get(file, parse_cgroup_limit).value_or(std::nullopt); };
  CgroupDetail detail;
  detail.path = path;
  detail.min_kib = limit(CgroupFile::min);
  detail.low_kib = limit(CgroupFile::low);
  detail.peak_kib = cgroup.peak.ever_kib();
  detail.swap_peak_kib = cgroup.swap_peak.ever_kib();
  const CgroupEvents events = get(CgroupFile::events, noting(parse_cgroup_events, pass_.odd)).value_or(CgroupEvents());
  const CgroupEvents own =
      get(CgroupFile::events_local, noting(parse_cgroup_events, pass_.odd)).value_or(CgroupEvents());
  detail.low_events = events.low;
  detail.high_events = events.high;
  detail.max_events = events.max ? events.max : get(CgroupFile::failures, parse_cgroup_count);
  detail.oom_events = events.oom;
  detail.oom_kills = cgroups_.counts_below() ? events.oom_kill : std::nullopt;
  detail.own_oom_kills = cgroups_.counts_below() ? own.oom_kill : events.oom_kill;
  const auto pressure = get(CgroupFile::pressure, noting(parse_cgroup_pressure, pass_.odd)).value_or(CgroupPressure());
  detail.psi_some_total_us = pressure.some_total_us;
  detail.psi_full_total_us = pressure.full_total_us;
  cgroup.oom_read = {kills_of(detail), events.oom_group_kill};
  if (!cgroup.detail) cgroup.oom_reported = cgroup.oom_read;
  cgroup.detail = std::move(detail);
  cgroup.detail_boot_ms = pass_.begin.boot_ms;
  cgroup.moved_since_detail = false;
}

bool CgroupReader::detail_due(const Cgroup& cgroup) const {
  if (!cgroup.detail || oom_killed_) return true;
  return cgroup.moved_since_detail && pass_.begin.boot_ms - cgroup.detail_boot_ms >= kDetailEveryMs;
}

// Reads the due files of a cgroup. Returns whether the detail was read.
bool CgroupReader::update(const std::string& path, Cgroup& cgroup) {
  cgroup.moved_since_detail = cgroup.moved_since_detail || cgroup.moved;
  const bool detail = cgroup.whole || detail_due(cgroup);
  const bool near = cgroup.sample && near_a_limit(*cgroup.sample);
  // A cgroup without processes is read once more, because it is about to be deleted.
  if (!detail && !near && !cgroup.moved && cgroup.used) return false;
  if (detail || near) read_limits(path, cgroup);
  if (cgroup.sample) {
    const Held before = held(*cgroup.sample);
    read_usage(path, cgroup);
    if (cgroup.sample) read_peaks(path, cgroup, before);
  }
  if (cgroup.replaced) {
    cgroup.forget();
    return update(path, cgroup);
  }
  if (!cgroup.sample || (!detail && !near && !near_a_limit(*cgroup.sample))) return false;
  read_detail(path, cgroup);
  return true;
}

// Reads a cgroup completely. Returns whether its detail changed, or was due anyway.
bool CgroupReader::update_whole(const std::string& path, Cgroup& cgroup) {
  const std::int64_t before_us = thread_cpu_us();
  for (auto& file : cgroup.files) {
    if (file) file->missing = false;
  }
  const bool due = detail_due(cgroup) || (cgroup.sample && near_a_limit(*cgroup.sample));
  const std::optional<CgroupDetail> before = cgroup.detail;
  const bool read = update(path, cgroup);
  const std::int64_t took_us = thread_cpu_us() - before_us;
  whole_us_ += (took_us - whole_us_) / (whole_us_ == 0 ? 1 : 8);
  pass_.in_turn_us += took_us;
  return read && (due || cgroup.detail != before);
}

double CgroupReader::owed_at(std::int64_t boot_ms) const {
  const auto all = static_cast<double>(known_.size());
  if (!turned_ms_) return all;
  return owed_ + all * static_cast<double>(boot_ms - *turned_ms_) / kWholeEveryMs;
}

void CgroupReader::claim(std::int64_t boot_ms, std::vector<ReadRequest>& claims) const {
  const double owed = owed_at(boot_ms);
  if (owed < 1 || known_.empty()) return;
  const auto behind_ms = static_cast<std::int64_t>(owed / static_cast<double>(known_.size()) * kWholeEveryMs);
  const std::int64_t each_us = whole_us_ > 0 ? whole_us_ : kUnknownWholeUs;
  claims.push_back(
      {RequestKind::cgroups, static_cast<std::int64_t>(owed) * each_us, turn_urgency(behind_ms, kWholeEveryMs)});
}

// Chooses the cgroups that this tick reads completely. The rotation continues after the path that was read last.
void CgroupReader::choose_whole(bool turns, std::int64_t boot_ms) {
  const bool first = !turned_ms_;
  const auto all = static_cast<double>(known_.size());
  const double due = first ? all : all * static_cast<double>(boot_ms - *turned_ms_) / kWholeEveryMs;
  owed_ = owed_at(boot_ms);
  turned_ms_ = boot_ms;
  for (auto& [path, cgroup] : known_) cgroup.whole = first;
  if (first) owed_ = 0;
  if (first || !turns) return;
  owed_ = std::min(owed_, kMaxRounds * all);
  const auto most = static_cast<std::size_t>(std::min(owed_, kCatchUp * due + 1));
  auto next = known_.upper_bound(turn_);
  for (std::size_t i = 0; i < std::min(most, known_.size()); ++i, ++next) {
    if (next == known_.end()) next = known_.begin();
    next->second.whole = true;
    turn_ = next->first;
    --owed_;
  }
}

// Reports kills only if the machine's own counter has risen, because then all cgroups have been read in this tick.
void CgroupReader::report_oom_kills(Tick& tick) {
  if (!oom_killed_) return;
  std::map<std::string_view, OomKills> rises;  // kills of each cgroup and its descendants
  for (auto& [path, cgroup] : known_) {
    if (!cgroup.sample || !cgroup.detail) continue;
    const OomCounts before = std::exchange(cgroup.oom_reported, cgroup.oom_read);
    const OomCounts& now = cgroup.oom_read;
    if (!before.kills || now.kills <= before.kills) continue;
    const std::int64_t of_groups = before.of_groups ? now.of_groups.value_or(0) - *before.of_groups : 0;
    rises.emplace(path, OomKills{path, *now.kills - *before.kills, std::max<std::int64_t>(of_groups, 0)});
  }
  std::string_view group;
  for (const auto& [path, rise] : rises) {
    if (!group.empty() && is_in_cgroup(path, group)) continue;
    OomKills own = rise;
    // Known kills of a child are reported for that child only.
    for (const auto& [below, of_below] : rises) {
      if (!cgroups_.counts_below() || below == path || cgroup_above(below) != path) continue;
      own.count -= of_below.count;
      own.repeated -= of_below.repeated;
    }
    // The counters do not show in which descendant the first victim of a killed group was.
    const bool is_group = own.repeated > 0;
    if (is_group) {
      group = path;
      own = rise;
      own.count -= own.repeated;
    }
    if (!is_group) own.repeated = 0;
    if (own.count > 0) tick.oom_kills.push_back(std::move(own));
  }
}

// Returns the cgroups in the order of reading. If there is no time for all, known and large cgroups come first,
// balanced between users.
std::vector<CgroupReader::Known::value_type*> CgroupReader::in_order() {
  struct Due {
    Known::value_type* known;
    bool is_new;
    std::int64_t kib;
    std::size_t rank;  // by size, among the cgroups of its user
  };
  std::vector<Known::value_type*> order;
  order.reserve(known_.size());
  if (!is_crowded_) {
    for (auto& known : known_) order.push_back(&known);
    return order;
  }
  std::vector<Due> due;
  due.reserve(known_.size());
  for (auto& known : known_) {
    const auto& sample = known.second.sample;
    due.push_back({&known, !sample, sample ? sample->current_kib : 0, 0});
  }
  const auto by_size = [](const Due& a, const Due& b) {
    return std::tuple(a.is_new, -a.kib, !a.known->second.unread) <
           std::tuple(b.is_new, -b.kib, !b.known->second.unread);
  };
  std::stable_sort(due.begin(), due.end(), by_size);
  std::map<std::uint32_t, std::size_t> ranks;
  for (Due& of : due) of.rank = ranks[of.known->second.uid]++;
  std::stable_sort(due.begin(), due.end(), [](const Due& a, const Due& b) { return a.rank < b.rank; });
  for (const Due& of : due) order.push_back(of.known);
  return order;
}

void CgroupReader::begin(const std::vector<CgroupMember>& members, bool refresh, const Tick& tick, bool turns) {
  for (auto& [path, cgroup] : known_) {
    cgroup.unread |= std::exchange(cgroup.moved, false);
  }
  if (refresh || !tick.born.empty() || !tick.exits.empty()) count(members);
  for (const CgroupMember& member : members) {
    if (member.moved && !member.cgroup.empty()) mark_moved(at(member.cgroup, member.uid));
  }
  // Processes that started and exited between two ticks changed their cgroup, too.
  const auto visited = [&](const std::string& path) {
    if (const auto found = known_.find(path); found != known_.end()) mark_moved(&found->second);
  };
  for (const ProcessInfo& info : tick.born) visited(info.cgroup);
  for (const ExitSum& sum : tick.exit_sums) visited(sum.cgroup);
  choose_whole(turns, tick.begin.boot_ms);
  const MachineMemory& machine = tick.machine.memory;
  const auto oom_kills = machine.get(MachineField::oom_kill);
  oom_killed_ |= std::exchange(machine_oom_kills_, oom_kills) != oom_kills;
  pass_.begin = tick.begin;
  pass_.has_swap = machine.get(MachineField::swap_total) != 0;
  pass_.refresh |= refresh;
  pass_.details |= tick.keyframe;
}

void CgroupReader::read(const std::vector<std::string>& avoid, Buffer& buffer,
                        const std::function<bool(const std::string& path)>& start) {
  pass_.buffer = &buffer;
  left_.unread = 0;
  const std::int64_t end_us = steady_us() + limits_.read_us;
  bool some_read = false;
  for (Known::value_type* const known : in_order()) {
    auto& [path, cgroup] = *known;
    cgroup.moved |= cgroup.unread;
    const bool due = cgroup.moved || cgroup.whole || detail_due(cgroup);
    if (std::ranges::find(avoid, path) != avoid.end()) {
      cgroup.unread = true;
      continue;
    }
    cgroup.unread = due && some_read && steady_us() >= end_us;
    some_read |= due;
    if (cgroup.unread) {
      ++left_.unread;
      continue;
    }
    if (!start(path)) return;
    const bool was_there = cgroup.sample.has_value();
    if (cgroup.whole ? update_whole(path, cgroup) : update(path, cgroup)) pass_.details = true;
    if (was_there && !cgroup.sample) cgroup.forget();
    cgroup.moved = false;
  }
  is_crowded_ = left_.unread > 0 || steady_us() >= end_us - limits_.read_us / 2;
}

void CgroupReader::report(CollectContext& context) {
  Tick& tick = context.tick;
  tick.odd_lines.add(pass_.odd);
  context.in_turn_us += pass_.in_turn_us;
  report_oom_kills(tick);
  oom_killed_ = false;
  if (pass_.refresh) forget_unused();
  tick.cgroups.reserve(known_.size());
  if (pass_.details) tick.cgroup_details.emplace().reserve(known_.size());
  for (auto& [path, cgroup] : known_) {
    const Extremes usage = std::exchange(cgroup.usage_between, {});
    const Extremes swap = std::exchange(cgroup.swap_between, {});
    if (!cgroup.sample || (cgroup.sample->current_kib == 0 && cgroup.sample->swap_kib.value_or(0) == 0)) continue;
    tick.cgroups.push_back(*cgroup.sample);
    if (pass_.details && cgroup.detail) tick.cgroup_details->push_back(*cgroup.detail);
    if (usage.any() || swap.any()) tick.extremes.cgroups.push_back({path, usage, swap});
  }
  pass_ = {};
}

}  // namespace memoir
