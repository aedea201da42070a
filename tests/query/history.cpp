#include "query/history.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace memoir::test {

namespace {

using P = ProcessField;
using M = MachineField;

constexpr std::int64_t kMemTotal = 16 * 1024 * 1024;
constexpr std::int64_t kSwapTotal = 4 * 1024 * 1024;

void check(const Status& status) {
  if (!status) throw std::runtime_error(status.error().message);
}

void fill(ProcessMemory& memory, std::int64_t kib, std::int64_t hwm_kib) {
  for (const P field :
       {P::rss, P::pss, P::pss_dirty, P::pss_anon, P::private_dirty, P::anonymous, P::vm_rss, P::rss_anon}) {
    memory.set(field, kib);
  }
  for (const P field : {P::pss_file, P::pss_shmem, P::shared_clean, P::shared_dirty, P::private_clean, P::swap,
                        P::swap_pss, P::rss_file, P::rss_shmem, P::vm_swap}) {
    memory.set(field, 0);
  }
  memory.set(P::vm_hwm, std::max(hwm_kib, kib));
}

}  // namespace

History::History(std::int64_t interval_ms, std::int64_t start_ms, std::string host)
    : interval_ms_(interval_ms), host_(std::move(host)), boot_ms_(start_ms - kUptime), now_{start_ms, kUptime} {
  machine(2 * 1024 * 1024);
}

void History::begin_run(const std::string& census) {
  auto opened = Writer::open(path(), Durability::normal);
  if (!opened) throw std::runtime_error(opened.error().message);
  writer_ = *std::move(opened);
  const BootInfo boot{"11111111-2222-4333-8444-555555555555", boot_ms_, host_, "6.1.0-test"};
  check(writer_->begin_run({boot, 4242, "0.1.0 (test)", interval_ms_, now_, {}, census}));
  last_keyframe_ms_ = 0;
}

void History::end_run(const std::string& reason) {
  check(writer_->end_run(now_, reason));
  writer_.reset();
}

void History::birth(std::int32_t pid, const Person& person, std::int64_t pss_kib) {
  Life life;
  life.info.key = {pid, ++births_, 0};
  life.info.start_ms = now_.wall_ms - 3000;
  life.info.parent_pid = 1;
  life.info.user = person.user;
  life.info.comm = person.comm;
  life.info.exe = "/usr/bin/" + person.category;
  life.info.command = person.command;
  life.info.cgroup = person.cgroup;
  life.info.category = person.category;
  life.sample.key = life.info.key;
  life.sample.state = 'S';
  life.sample.parent_pid = 1;
  life.sample.threads = 1;
  life.sample.source = Source::exact;
  fill(life.sample.memory, pss_kib, pss_kib);
  lives_[pid] = life;
}

void History::parent(std::int32_t pid, std::int32_t parent_pid) {
  Life& life = lives_.at(pid);
  life.sample.parent_pid = parent_pid;
  if (life.newborn) life.info.parent_pid = parent_pid;
}

void History::hold(std::int32_t pid, std::int64_t pss_kib) {
  ProcessMemory& memory = lives_.at(pid).sample.memory;
  fill(memory, pss_kib, memory.or_zero(P::vm_hwm));
}

void History::mark(std::int32_t pid, std::int64_t hwm_kib) {
  lives_.at(pid).sample.memory.set(P::vm_hwm, hwm_kib);
}

void History::estimated(std::int32_t pid) {
  lives_.at(pid).sample.source = Source::estimated;
  reads_.emplace();
}

void History::exact(std::int32_t pid, std::int64_t thought_kib) {
  ProcessSample& sample = lives_.at(pid).sample;
  sample.source = Source::exact;
  reads_.value().check(thought_kib, sample.memory.or_zero(P::pss));
}

void History::approximate(std::int32_t pid) {
  ProcessSample& sample = lives_.at(pid).sample;
  sample.source = Source::approximate;
  for (const P field : {P::private_clean, P::private_dirty, P::shared_clean, P::shared_dirty, P::pss_dirty,
                        P::anonymous, P::swap_pss}) {
    sample.memory.clear(field);
  }
}

void History::set(std::int32_t pid, ProcessField field, std::optional<std::int64_t> kib) {
  lives_.at(pid).sample.memory.set(field, kib);
}

void History::zombie(std::int32_t pid) {
  ProcessSample& sample = lives_.at(pid).sample;
  sample.state = 'Z';
  sample.source = Source::inaccessible;
  sample.memory = ProcessMemory();
}

void History::death(std::int32_t pid) {
  exits_.push_back({lives_.at(pid).info.key, ExitKind::exited});
  lives_.erase(pid);
}

void History::exec(std::int32_t pid, const Person& person, std::int64_t pss_kib) {
  Life& life = lives_.at(pid);
  exits_.push_back({life.info.key, ExitKind::execed});
  const ProcessInfo before = life.info;
  birth(pid, person, pss_kib);
  ProcessInfo& info = lives_.at(pid).info;
  info.key = {pid, before.key.start_ticks, before.key.exec_count + 1};
  info.start_ms = before.start_ms;
  lives_.at(pid).sample.key = info.key;
}

void History::report_exit(std::int32_t pid, std::int32_t exit_code) {
  const ProcessInfo& info = lives_.at(pid).info;
  const std::int64_t exited_ms = now_.wall_ms - 1'000;
  ends_.push_back({info.key, exited_ms, exited_ms - info.start_ms, exit_code, {}, {}});
  ++events_->exits;
}

void History::exec_and_exit(std::int32_t pid, const Person& person, std::int64_t peak_kib, std::int32_t exit_code) {
  const ProcessInfo before = lives_.at(pid).info;
  flash(pid, person, peak_kib, exit_code);
  ProcessInfo& info = flashed_.back();
  info.key = {pid, before.key.start_ticks, before.key.exec_count + 1};
  info.start_ms = before.start_ms;
  ends_.back().process = seen_.back().process = info.key;
  ends_.back().lived_ms = ends_.back().exited_ms - before.start_ms;
  death(pid);
}

void History::machine(std::int64_t used_kib, std::int64_t swap_kib) {
  MachineMemory& memory = machine_.memory;
  memory.set(M::mem_total, kMemTotal);
  memory.set(M::mem_available, kMemTotal - used_kib);
  memory.set(M::mem_free, kMemTotal - used_kib);
  memory.set(M::swap_total, kSwapTotal);
  memory.set(M::swap_free, kSwapTotal - swap_kib);
}

void History::oom_kills(std::int64_t count) {
  machine_.memory.set(M::oom_kill, count);
}

std::vector<CategorySample> History::totals() const {
  std::map<std::string, CategorySample> totals;
  for (const auto& [pid, life] : lives_) {
    CategorySample& total = totals[life.info.category];
    const ProcessMemory& memory = life.sample.memory;
    total.category = life.info.category;
    ++total.processes;
    total.inexact += life.sample.source == Source::exact ? 0 : 1;
    total.rss_kib += memory.or_zero(P::rss);
    total.pss_kib += memory.or_zero(P::pss);
    total.uss_kib += memory.or_zero(P::private_dirty);
  }
  std::vector<CategorySample> list;
  for (auto& [name, total] : totals) list.push_back(total);
  return list;
}

void History::shmem(const std::vector<std::string>& names) {
  segments_ = {SysvSegment{.shmid = 5, .creator_pid = 7, .size_kib = 512, .rss_kib = 400}};
  TmpfsSample mount;
  mount.walk = TmpfsWalk::whole;
  mount.limit_kib = 64 * 1024;
  mount.used_kib = 800;
  mount.walked_ms = now_.wall_ms;
  mount.content = {2, 0, 0, 0, 0, 800, 900};
  mount.largest = {{"", true, 800, 900, 2, 0, now_.wall_ms}};
  for (const std::string& name : names) mount.largest.push_back({name, false, 300, 300, 1, 0, now_.wall_ms});
  std::ranges::sort(mount.largest, {}, &TmpfsEntry::path);
  std::vector<TmpfsSample> mounts;
  std::vector<std::string> places{"/dev/shm"};
  for (const std::string& name : names) places.push_back('/' + name);
  std::ranges::sort(places);
  for (const std::string& place : places) {
    mounts.push_back(mount);
    mounts.back().mount_point = place;
  }
  tmpfs_ = std::move(mounts);
}

void History::cgroup(const CgroupSample& sample) {
  cgroups_[sample.path] = sample;
}

void History::cgroup_detail(const CgroupDetail& detail) {
  cgroup_details_[detail.path] = detail;
}

void History::container(const CgroupContainer& container) {
  containers_.push_back(container);
}

void History::summary(std::int32_t pid, ProcessMappings summary) {
  summary.process = lives_.at(pid).sample.key;
  if (summary.state == MappingState::exact) summary.read_ms = now_.wall_ms;
  summaries_[pid] = std::move(summary);
}

void History::seen(std::int32_t pid, std::int64_t rss_kib, std::int64_t at_ms) {
  const Extremes high{{}, SeenSize{rss_kib, at_ms}};
  seen_.push_back({lives_.at(pid).sample.key, high, high, high});
}

void History::cgroup_peak(const std::string& path, std::int64_t usage_kib) {
  cgroup_peaks_.push_back({path, {{}, SeenSize{usage_kib, now_.wall_ms, {}, Origin::memory_peak}}, {}});
}

void History::flash(std::int32_t pid, const Person& person, std::int64_t peak_kib, std::int32_t exit_code) {
  const std::int64_t exited_ms = now_.wall_ms - 2'000;
  ProcessInfo info;
  info.key = {pid, ++births_, 0};
  info.start_ms = exited_ms - 40;
  info.parent_pid = 1;
  info.user = person.user;
  info.comm = info.command = person.comm;
  info.category = person.category;
  flashed_.push_back(info);
  ends_.push_back({info.key, exited_ms, 40, exit_code, peak_kib, MemoryAtExit{peak_kib - 100, 100, 0, 0}});
  seen_.push_back({info.key, {}, {}, {{}, SeenSize{peak_kib, exited_ms, exited_ms - 40, Origin::exit}}});
  ++events_->exits;
}

void History::flashes(const std::string& comm, std::int64_t count, std::int64_t peak_kib) {
  const std::int64_t exited_ms = now_.wall_ms - 1'000;
  exit_sums_.push_back({comm, "root", "", count, exited_ms - 5'000, exited_ms, 10 * count, peak_kib, exited_ms});
  events_->exits += count;
}

Tick History::make_tick() {
  Tick tick;
  tick.begin = now_;
  tick.end = {now_.wall_ms + 12, now_.boot_ms + 12};
  tick.keyframe = now_.wall_ms - last_keyframe_ms_ >= kHour;
  if (tick.keyframe) last_keyframe_ms_ = now_.wall_ms;
  tick.total = {10'000, 12'000};
  tick.machine = machine_;
  tick.categories = totals();
  tick.extremes.processes = std::exchange(seen_, {});
  tick.extremes.cgroups = std::exchange(cgroup_peaks_, {});
  if (reads_) tick.reads = std::exchange(*reads_, {});
  for (const auto& [path, sample] : cgroups_) tick.cgroups.push_back(sample);
  tick.cgroup_details.emplace();
  for (const auto& [path, detail] : cgroup_details_) tick.cgroup_details->push_back(detail);
  tick.containers = std::exchange(containers_, {});
  tick.segments = std::exchange(segments_, std::nullopt);
  tick.tmpfs = std::exchange(tmpfs_, std::nullopt);
  tick.counts.malformed = malformed_;
  tick.exits = std::exchange(exits_, {});
  tick.counts.seen = static_cast<std::int64_t>(lives_.size());
  tick.counts.kernel_threads = 7;
  for (auto& [pid, life] : lives_) {
    if (std::exchange(life.newborn, false)) tick.born.push_back(life.info);
    const Source source = life.sample.source;
    if (source == Source::exact) life.sample.read_boot_ms = now_.boot_ms;
    if (source == Source::approximate || source == Source::inaccessible) life.sample.read_boot_ms.reset();
    tick.processes.push_back(life.sample);
    if (reads_) tick.reads.count(life.sample.source);
    tick.counts.zombies += life.sample.state == 'Z' ? 1 : 0;
    tick.counts.denied += life.sample.source == Source::approximate ? 1 : 0;
  }
  for (auto& [pid, summary] : std::exchange(summaries_, {})) tick.summaries.push_back(std::move(summary));
  for (ProcessInfo& info : std::exchange(flashed_, {})) tick.born.push_back(std::move(info));
  tick.exit_records = std::exchange(ends_, {});
  std::ranges::sort(tick.exit_records, {}, &ExitRecord::process);
  tick.exit_sums = std::exchange(exit_sums_, {});
  tick.oom_victims = std::exchange(oom_victims_, {});
  if (events_) tick.events = std::exchange(*events_, {});
  return tick;
}

void History::tick(int count) {
  for (int i = 0; i < count; ++i) {
    check(writer_->write(make_tick()));
    pause(interval_ms_);
  }
}

void History::maintain() {
  for (bool more = true; more;) {
    const Result<Maintenance> done = writer_->maintain();
    if (!done) throw std::runtime_error(done.error().message);
    more = done->more;
  }
}

void History::event(const std::string& kind, const std::string& text) {
  check(writer_->write_event({now_, kind, text}));
}

}  // namespace memoir::test
