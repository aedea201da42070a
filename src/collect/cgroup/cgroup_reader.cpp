#include "collect/cgroup/cgroup_reader.h"

#include <algorithm>
#include <cstdlib>

#include "proc/cgroup_memory.h"

namespace memoir {
namespace {

constexpr std::int64_t kDetailEveryMs = 60'000;

// Whole readings: each in this time. Who is behind reads at most so many times as many at a tick as come due, and so
// many rounds too late are made up for.
constexpr std::int64_t kWholeEveryMs = 5 * 60 * 1000;
constexpr double kCatchUp = 2;
constexpr double kMostRounds = 2;
constexpr std::int64_t kUnknownWholeUs = 50;

// Usage this far below a limit is near it: a tenth.
constexpr std::int64_t kNearPart = 10;

bool is_near(std::int64_t kib, std::optional<std::int64_t> limit_kib) {
  return limit_kib && kib >= *limit_kib - *limit_kib / kNearPart;
}

bool near_a_limit(const CgroupSample& sample) {
  return is_near(sample.current_kib, sample.max_kib) || is_near(sample.current_kib, sample.high_kib);
}

// Every page that a cgroup takes moves its usage: what is a little off is told as it was.
bool moved_little(std::int64_t before_kib, std::int64_t now_kib) {
  constexpr std::int64_t least_kib = 128;
  return std::abs(now_kib - before_kib) <= std::max(before_kib / 256, least_kib);
}

// By the counter that the hierarchy has.
std::optional<std::int64_t> kills_of(const CgroupDetail& detail) {
  return detail.oom_kills ? detail.oom_kills : detail.own_oom_kills;
}

}  // namespace

// A file that is missing, not permitted or not supported is no news: the cgroup may be gone, or its kernel an old one.
template <typename T>
std::optional<T> CgroupReader::value(const std::string& path, Cgroup& cgroup, CgroupFile name,
                                     Result<T> (*parse)(std::string_view), Pass& pass) {
  if (!cgroups_.has(name)) return std::nullopt;
  std::optional<File>& file = cgroup.files[static_cast<std::size_t>(name)];
  if (!file) file.emplace(File{KeptFile(budget_)});
  if (file->missing) return std::nullopt;
  const auto open = [&] { return cgroups_.open(path, name); };
  const bool was_kept = file->kept.kept();
  auto text = file->kept.read(open, pass.buffer);
  if (!text && was_kept) {
    // The cgroup is gone, but another may have its name.
    cgroup.replaced = true;
    file->kept.close();
    text = file->kept.read(open, pass.buffer);
  }
  file->missing = !text;
  if (!text) return std::nullopt;
  const Result<T> parsed = parse(*text);
  if (parsed) return *parsed;
  if (parsed.error().kind == ErrorKind::malformed) pass.note_malformed(parsed.error());
  return std::nullopt;
}

CgroupReader::Cgroup& CgroupReader::at(std::string_view path) {
  if (const auto found = known_.find(path); found != known_.end()) return found->second;
  Cgroup& cgroup = known_.emplace(std::string(path), Cgroup()).first->second;
  if (const std::string_view above = cgroup_above(path); !above.empty()) cgroup.above = &at(above);
  return cgroup;
}

// Where one went, that has changed as well.
void CgroupReader::count(const std::vector<CgroupMember>& members) {
  std::vector<std::pair<Cgroup*, std::size_t>> before;
  before.reserve(known_.size());
  for (auto& [path, cgroup] : known_) {
    cgroup.used = false;
    before.emplace_back(&cgroup, std::exchange(cgroup.members, 0));
  }
  for (const CgroupMember& member : members) {
    if (member.cgroup.empty()) continue;
    Cgroup& own = at(member.cgroup);
    ++own.members;
    for (Cgroup* in = &own; in != nullptr && !in->used; in = in->above) in->used = true;
  }
  for (const auto& [cgroup, count] : before) {
    if (cgroup->members < count) mark_moved(cgroup);
  }
}

void CgroupReader::read_limits(const std::string& path, Cgroup& cgroup, Pass& pass) {
  const auto limit = [&](CgroupFile file) { return value(path, cgroup, file, parse_cgroup_limit, pass); };
  const auto max = limit(CgroupFile::max);
  if (!max) return cgroup.sample.reset();
  if (!cgroup.sample) cgroup.sample.emplace().path = path;
  CgroupSample& sample = *cgroup.sample;
  sample.max_kib = *max;
  sample.high_kib = limit(CgroupFile::high).value_or(std::nullopt);
  sample.swap_max_kib = limit(CgroupFile::swap_max).value_or(std::nullopt);
}

void CgroupReader::read_usage(const std::string& path, Cgroup& cgroup, Pass& pass) {
  const auto get = [&](CgroupFile file, auto parse) { return value(path, cgroup, file, parse, pass); };
  const auto current = get(CgroupFile::current, parse_cgroup_usage);
  if (!current) return cgroup.sample.reset();
  CgroupSample& sample = *cgroup.sample;
  if (cgroups_.has(CgroupFile::swap_current)) sample.swap_kib = get(CgroupFile::swap_current, parse_cgroup_usage);
  // Near a limit page cache gives way to other memory, and the sum stays.
  const bool near = near_a_limit(sample) || is_near(*current, sample.max_kib) || is_near(*current, sample.high_kib);
  if (cgroup.detail && !cgroup.whole && !near && moved_little(sample.current_kib, *current)) return;
  sample.current_kib = *current;
  const CgroupStat stat = get(CgroupFile::stat, parse_cgroup_stat).value_or(CgroupStat());
  sample.file_kib = stat.file;
  sample.anon_kib = stat.anon;
  sample.shmem_kib = stat.shmem;
  sample.kernel_kib = stat.kernel ? stat.kernel : get(CgroupFile::kernel, parse_cgroup_usage);
  if (!cgroups_.has(CgroupFile::swap_current)) sample.swap_kib = stat.swap;
}

void CgroupReader::read_peaks(const std::string& path, Cgroup& cgroup, const Held& before, Pass& pass) {
  const Held now = held(*cgroup.sample);
  const auto read = [&](CgroupFile file, PeakBetween& peak, std::int64_t before_kib, std::int64_t now_kib) -> Extremes {
    const auto kib = value(path, cgroup, file, parse_cgroup_usage, pass);
    if (!kib) return {};
    const Extremes seen = peak.see(*kib, pass.tick.begin.wall_ms, before_kib, now_kib);
    const KeptFile& kept = cgroup.files.at(static_cast<std::size_t>(file))->kept;
    if (!kept.kept() || !cgroup.resets) return seen;
    const Status reset = cgroups_.reset_peak(kept.descriptor());
    if (reset) peak.note_reset();
    if (!reset && reset.error().kind == ErrorKind::denied) cgroup.resets = false;
    return seen;
  };
  cgroup.usage_between = read(CgroupFile::peak, cgroup.peak, before.usage_kib, now.usage_kib);
  if (pass.tick.machine.memory.get(MachineField::swap_total) == 0) return;
  cgroup.swap_between = read(CgroupFile::swap_peak, cgroup.swap_peak, before.swap_kib, now.swap_kib);
}

void CgroupReader::read_detail(const std::string& path, Cgroup& cgroup, Pass& pass) {
  const auto get = [&](CgroupFile file, auto parse) { return value(path, cgroup, file, parse, pass); };
  // "max", which is no limit, protects all that there is.
  const auto limit = [&](CgroupFile file) { return get(file, parse_cgroup_limit).value_or(std::nullopt); };
  CgroupDetail detail;
  detail.path = path;
  detail.min_kib = limit(CgroupFile::min);
  detail.low_kib = limit(CgroupFile::low);
  detail.peak_kib = cgroup.peak.ever_kib();
  detail.swap_peak_kib = cgroup.swap_peak.ever_kib();
  const CgroupEvents events = get(CgroupFile::events, parse_cgroup_events).value_or(CgroupEvents());
  const CgroupEvents own = get(CgroupFile::events_local, parse_cgroup_events).value_or(CgroupEvents());
  detail.low_events = events.low;
  detail.high_events = events.high;
  detail.max_events = events.max ? events.max : get(CgroupFile::failures, parse_cgroup_count);
  detail.oom_events = events.oom;
  detail.oom_kills = cgroups_.counts_below() ? events.oom_kill : std::nullopt;
  detail.own_oom_kills = cgroups_.counts_below() ? own.oom_kill : events.oom_kill;
  const auto pressure = get(CgroupFile::pressure, parse_cgroup_pressure).value_or(CgroupPressure());
  detail.psi_some_total_us = pressure.some_total_us;
  detail.psi_full_total_us = pressure.full_total_us;
  if (!cgroup.detail) cgroup.oom_kills = kills_of(detail);
  cgroup.detail = std::move(detail);
  cgroup.detail_boot_ms = pass.tick.begin.boot_ms;
  cgroup.moved_since_detail = false;
}

bool CgroupReader::detail_due(const Cgroup& cgroup, const Pass& pass) const {
  if (!cgroup.detail || oom_killed_) return true;
  return cgroup.moved_since_detail && pass.tick.begin.boot_ms - cgroup.detail_boot_ms >= kDetailEveryMs;
}

// Returns whether the detail was read.
bool CgroupReader::update(const std::string& path, Cgroup& cgroup, Pass& pass) {
  cgroup.moved_since_detail = cgroup.moved_since_detail || cgroup.moved;
  const bool detail = cgroup.whole || detail_due(cgroup, pass);
  const bool near = cgroup.sample && near_a_limit(*cgroup.sample);
  // One that nobody is in any more is about to go.
  if (!detail && !near && !cgroup.moved && cgroup.used) return false;
  if (detail || near) read_limits(path, cgroup, pass);
  if (cgroup.sample) {
    const Held before = held(*cgroup.sample);
    read_usage(path, cgroup, pass);
    if (cgroup.sample) read_peaks(path, cgroup, before, pass);
  }
  if (cgroup.replaced) {
    cgroup.forget();
    return update(path, cgroup, pass);
  }
  if (!cgroup.sample || (!detail && !near && !near_a_limit(*cgroup.sample))) return false;
  read_detail(path, cgroup, pass);
  return true;
}

// Returns whether its detail is another than before, or was due anyway.
bool CgroupReader::update_whole(const std::string& path, Cgroup& cgroup, Pass& pass) {
  const std::int64_t before_us = thread_cpu_us();
  for (auto& file : cgroup.files) {
    if (file) file->missing = false;
  }
  const bool due = detail_due(cgroup, pass) || (cgroup.sample && near_a_limit(*cgroup.sample));
  const std::optional<CgroupDetail> before = cgroup.detail;
  const bool read = update(path, cgroup, pass);
  const std::int64_t took_us = thread_cpu_us() - before_us;
  whole_us_ += (took_us - whole_us_) / (whole_us_ == 0 ? 1 : 8);
  pass.in_turn_us += took_us;
  return read && (due || cgroup.detail != before);
}

double CgroupReader::owed_at(std::int64_t boot_ms) const {
  const auto all = static_cast<double>(known_.size());
  if (!turned_ms_) return all;
  return owed_ + all * static_cast<double>(boot_ms - *turned_ms_) / kWholeEveryMs;
}

void CgroupReader::claim(std::int64_t boot_ms, std::vector<Claim>& claims) const {
  const double owed = owed_at(boot_ms);
  if (owed < 1) return;
  const auto behind_ms = static_cast<std::int64_t>(owed / static_cast<double>(known_.size()) * kWholeEveryMs);
  const std::int64_t each_us = whole_us_ > 0 ? whole_us_ : kUnknownWholeUs;
  claims.push_back(
      {ClaimKind::cgroups, static_cast<std::int64_t>(owed) * each_us, turn_urgency(behind_ms, kWholeEveryMs)});
}

// Those that come after who was read last, by their paths.
void CgroupReader::choose_whole(bool turns, std::int64_t boot_ms) {
  const bool first = !turned_ms_;
  const auto all = static_cast<double>(known_.size());
  const double due = first ? all : all * static_cast<double>(boot_ms - *turned_ms_) / kWholeEveryMs;
  owed_ = owed_at(boot_ms);
  turned_ms_ = boot_ms;
  for (auto& [path, cgroup] : known_) cgroup.whole = first;
  if (first) owed_ = 0;
  if (first || !turns) return;
  owed_ = std::min(owed_, kMostRounds * all);
  const auto most = static_cast<std::size_t>(std::min(owed_, kCatchUp * due + 1));
  auto next = known_.upper_bound(turn_);
  for (std::size_t i = 0; i < std::min(most, known_.size()); ++i, ++next) {
    if (next == known_.end()) next = known_.begin();
    next->second.whole = true;
    turn_ = next->first;
    --owed_;
  }
}

// Only where the machine's own counter says that there was one: then all have been read at this tick.
void CgroupReader::tell_oom_kills(Pass& pass) {
  if (!oom_killed_) return;
  std::map<std::string_view, std::int64_t> kills;
  for (auto& [path, cgroup] : known_) {
    if (!cgroup.sample || !cgroup.detail) continue;
    const auto before = std::exchange(cgroup.oom_kills, kills_of(*cgroup.detail));
    if (before && cgroup.oom_kills > before) kills.emplace(path, *cgroup.oom_kills - *before);
  }
  // What a cgroup below is known to have had is told of that one only.
  for (const auto& [path, count] : kills) {
    std::int64_t own = count;
    for (const auto& [below, of_below] : kills) {
      if (cgroups_.counts_below() && below != path && cgroup_above(below) == path) own -= of_below;
    }
    if (own > 0) pass.tick.oom_kills.push_back({std::string(path), own});
  }
}

// Those that hold memory.
void CgroupReader::tell(bool details, Pass& pass) const {
  Tick& tick = pass.tick;
  tick.cgroups.reserve(known_.size());
  if (details) tick.cgroup_details.emplace().reserve(known_.size());
  for (const auto& [path, cgroup] : known_) {
    if (!cgroup.sample || (cgroup.sample->current_kib == 0 && cgroup.sample->swap_kib.value_or(0) == 0)) continue;
    tick.cgroups.push_back(*cgroup.sample);
    if (details && cgroup.detail) tick.cgroup_details->push_back(*cgroup.detail);
    if (cgroup.usage_between.any() || cgroup.swap_between.any())
      tick.extremes.cgroups.push_back({path, cgroup.usage_between, cgroup.swap_between});
  }
}

void CgroupReader::read(const std::vector<CgroupMember>& members, bool look, Pass& pass, bool turns) {
  for (auto& [path, cgroup] : known_) {
    cgroup.moved = false;
    cgroup.usage_between = cgroup.swap_between = {};
  }
  if (look || !pass.tick.born.empty() || !pass.tick.exits.empty()) count(members);
  for (const CgroupMember& member : members) {
    if (member.moved && !member.cgroup.empty()) mark_moved(&at(member.cgroup));
  }
  // Who came and went between two ticks moved it, too.
  const auto visited = [&](const std::string& path) {
    if (const auto found = known_.find(path); found != known_.end()) mark_moved(&found->second);
  };
  for (const ProcessInfo& info : pass.tick.born) visited(info.cgroup);
  for (const EndSum& sum : pass.tick.end_sums) visited(sum.cgroup);
  if (look) std::erase_if(known_, [](const auto& known) { return !known.second.used; });
  choose_whole(turns, pass.tick.begin.boot_ms);
  const auto of_machine = pass.tick.machine.memory.get(MachineField::oom_kill);
  oom_killed_ = std::exchange(machine_oom_kills_, of_machine) != of_machine;
  bool details = pass.tick.keyframe;
  for (auto& [path, cgroup] : known_) {
    const bool was_there = cgroup.sample.has_value();
    if (cgroup.whole ? update_whole(path, cgroup, pass) : update(path, cgroup, pass)) details = true;
    if (was_there && !cgroup.sample) cgroup.forget();
  }
  tell_oom_kills(pass);
  tell(details, pass);
}

}  // namespace memoir
