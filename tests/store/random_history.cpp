#include "random_history.h"

#include <algorithm>
#include <array>

#include "model/rules.h"
#include "store/rows/sample_rows.h"

namespace memoir::test {
namespace {

constexpr std::array kNames{"web", "db", "other", "cache \"x\"", "jvm\n"};

std::string name(std::int64_t index) {
  return kNames[static_cast<std::size_t>(index) % kNames.size()];
}

}  // namespace

RandomHistory::RandomHistory(std::uint32_t seed) : engine_(seed) {
  for (std::int32_t pid = 1; pid < 9; ++pid) give_birth(pid, 100, 0);
}

BootInfo RandomHistory::boot() const {
  return {"boot-" + std::to_string(boots_), 1'700'000'000'000, "host", "6.1"};
}

bool RandomHistory::chance(double probability) {
  return std::uniform_real_distribution<>(0, 1)(engine_) < probability;
}

std::int64_t RandomHistory::number(std::int64_t from, std::int64_t to) {
  return std::uniform_int_distribution<std::int64_t>(from, to)(engine_);
}

void RandomHistory::give_birth(std::int32_t pid, std::uint64_t start_ticks, std::uint32_t execs) {
  Life life;
  const ProcessKey key{pid, start_ticks, execs};
  const std::string text = std::to_string(number(0, 5)) + std::string("\x01\x1b[31m\0 ü", 9);
  life.info = {key,
               number(0, 1'790'000'000'000),
               1,
               static_cast<std::uint32_t>(number(0, 4'294'967'295)),
               "u" + text,
               text,
               "/bin/" + text,
               chance(0.1) ? std::string(70'000, 'x') : "run " + text,
               "/" + text,
               "/tmp",
               name(number(0, 4))};
  life.sample.key = key;
  move(life.sample);
  lives_[key] = life;
}

void RandomHistory::move(ProcessSample& sample) {
  constexpr std::array sources{Source::exact, Source::exact, Source::estimated, Source::approximate,
                               Source::inaccessible};
  constexpr std::array states{'R', 'S', 'Z', '?'};
  ProcessMemory& memory = sample.memory;
  const std::int64_t reach = chance(0.5) ? 3 : 1LL << 50;
  for (std::size_t i = 0; i < ProcessMemory::kCount; ++i) {
    if (chance(0.3)) memory.set(static_cast<ProcessField>(i), number(0, reach));
    if (chance(0.1)) memory.clear(static_cast<ProcessField>(i));
  }
  if (chance(0.2)) sample.source = sources[static_cast<std::size_t>(number(0, 4))];
  // The values are consistent, as the kernel's are, so that omitted columns are tested too.
  using P = ProcessField;
  if (chance(0.7)) {
    const auto rest = [](std::int64_t all, std::int64_t part) { return std::max<std::int64_t>(all - part, 0); };
    memory.set(P::pss_anon, memory.get(P::rss_anon));
    memory.set(P::private_clean, rest(memory.or_zero(P::rss_file), memory.or_zero(P::shared_clean)));
    memory.set(P::private_dirty,
               rest(memory.or_zero(P::rss_anon) + memory.or_zero(P::rss_shmem), memory.or_zero(P::shared_dirty)));
  }
  if (chance(0.7))
    memory.set(P::vm_rss, memory.or_zero(P::rss_anon) + memory.or_zero(P::rss_file) + memory.or_zero(P::rss_shmem));
  if (chance(0.7)) {
    memory.set(P::rss, sample.source == Source::exact
                           ? memory.or_zero(P::shared_clean) + memory.or_zero(P::shared_dirty) +
                                 memory.or_zero(P::private_clean) + memory.or_zero(P::private_dirty)
                           : memory.or_zero(P::vm_rss));
  }
  if (chance(0.1)) memory = {};
  sample.state = states[static_cast<std::size_t>(number(0, 3))];
  sample.parent_pid = static_cast<std::int32_t>(number(0, 2));
  sample.threads = static_cast<std::int32_t>(number(0, 2));
}

void RandomHistory::move_machine() {
  for (std::size_t i = 0; i < MachineMemory::kCount; ++i) {
    if (chance(0.02)) machine_.memory.set(static_cast<MachineField>(i), number(-5, 1LL << 60));
    if (chance(0.01)) machine_.memory.clear(static_cast<MachineField>(i));
  }
  if (chance(0.3)) {
    machine_.other.clear();
    for (const char* key : {"VendorA", "VendorB", "VendorC"}) {
      if (chance(0.7)) machine_.other.push_back({key, number(-1, 2)});
    }
  }
}

void RandomHistory::move_cgroups() {
  for (const char* path : {"/", "/a", "/a/b", "/c", "/d"}) {
    if (chance(0.05)) cgroups_.erase(path);
    if (!chance(0.1)) continue;
    const auto some = [&] { return chance(0.5) ? std::optional(number(0, 1LL << 60)) : std::nullopt; };
    cgroups_[path] = {path, number(0, 9), some(), some(), some(), some(), some(), some(), some(), some()};
  }
}

void RandomHistory::live() {
  now_.wall_ms += 10'000;
  now_.boot_ms += 10'000;
  if (chance(0.03)) now_.wall_ms += number(-200'000, 200'000);
  move_machine();
  std::vector<ProcessKey> keys;
  for (const auto& [key, life] : lives_) keys.push_back(key);
  for (const ProcessKey& key : keys) {
    Life& life = lives_[key];
    if (chance(0.3)) move(life.sample);
    if (chance(0.03)) life.info.category = name(number(0, 4)), life.reported = false;
    const bool exec = chance(0.03);
    if (exec) give_birth(key.pid, key.start_ticks, key.exec_count + 1);
    if (exec || chance(0.03)) {
      if (chance(0.9)) exits_.push_back({key, exec ? ExitKind::execed : ExitKind::exited});
      if (!exec && chance(0.3)) give_birth(key.pid, key.start_ticks + 1000, 0);
      lives_.erase(key);
    } else if (chance(0.04)) {
      if (chance(0.5)) exits_.push_back({key, ExitKind::exited});
      hidden_.insert(lives_.extract(key));
    }
  }
  for (auto life = hidden_.begin(); life != hidden_.end();) {
    const auto after = std::next(life);
    if (chance(0.3)) lives_.insert(hidden_.extract(life));
    life = after;
  }
  if (chance(0.3)) give_birth(static_cast<std::int32_t>(number(10, 99)), static_cast<std::uint64_t>(now_.boot_ms), 0);
}

void RandomHistory::lose_tick() {
  live();
  exits_.clear();
  for (auto& [key, life] : lives_) life.reported = true;
}

void RandomHistory::restart(bool reboot) {
  exits_.clear();
  if (reboot) {
    ++boots_;
    now_.boot_ms = 3'000;
    lives_.clear();
    hidden_.clear();
    for (std::int32_t pid = 1; pid < 6; ++pid) give_birth(pid, 100, 0);
  }
  now_.wall_ms += 100'000;
  now_.boot_ms += 100'000;
  for (auto& [key, life] : lives_) {
    life.reported = life.reported && chance(0.5);
  }
}

void RandomHistory::report(Life& life, Tick& tick) {
  const std::pair id(boot().boot_id, life.info.key);
  if (!life.reported) {
    tick.born.push_back(life.info);
    infos_[id] = life.info;
    life.reported = true;
    return;
  }
  ProcessInfo stranger;
  stranger.key = life.info.key;
  stranger.comm = "?";
  stranger.category = kOtherCategory;
  infos_.try_emplace(id, stranger);
}

Tick RandomHistory::next() {
  live();
  Tick tick;
  tick.begin = now_;
  tick.end = {now_.wall_ms + 7, now_.boot_ms + 7};
  tick.keyframe = chance(0.05);
  tick.skipped = number(0, 2);
  tick.total = {number(0, 99), number(0, 99)};
  for (Cost& cost : tick.cost) cost = {number(0, 99), number(0, 99)};
  tick.counts = {number(0, 9), number(0, 9), number(0, 9), number(0, 9),
                 number(0, 9), number(0, 9), number(0, 9), number(0, 9)};
  for (const auto count :
       {&TickReads::exact, &TickReads::held, &TickReads::estimated, &TickReads::deferred, &TickReads::longest_us,
        &TickReads::checked, &TickReads::checked_kib, &TickReads::error_kib}) {
    tick.reads.*count = number(0, 99);
  }
  tick.scans = {number(0, 99), number(0, 99), number(0, 99)};
  tick.machine = machine_;
  std::swap(tick.exits, exits_);
  std::sort(tick.exits.begin(), tick.exits.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  std::map<std::string, CategorySample> totals;
  for (auto& [key, life] : lives_) {
    ProcessSample& sample = life.sample;
    if (is_known(sample.source)) {
      sample.source = sample.read_boot_ms && chance(0.5) ? Source::held : Source::exact;
      if (sample.source == Source::exact) sample.read_boot_ms = now_.boot_ms;
    } else if (sample.source != Source::estimated) {
      sample.read_boot_ms.reset();
    }
    tick.processes.push_back(sample);
    report(life, tick);
    CategorySample& total = totals[life.info.category];
    total.category = life.info.category;
    ++total.processes;
    total.pss_kib = number(0, 3);
  }
  for (const auto& [category, total] : totals) tick.categories.push_back(total);
  move_cgroups();
  for (const auto& [path, cgroup] : cgroups_) tick.cgroups.push_back(cgroup);
  std::shuffle(tick.born.begin(), tick.born.end(), engine_);
  return tick;
}

}  // namespace memoir::test
