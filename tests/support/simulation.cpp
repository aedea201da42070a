#include "support/simulation.h"

#include <algorithm>
#include <array>
#include <map>

namespace memoir::test {
namespace {

using P = ProcessField;
using M = MachineField;

constexpr std::int64_t kPageKib = 4;
constexpr std::int64_t kHourMs = 3'600'000;
// Returns the memory of a machine that is large enough for its processes.
std::int64_t mem_total_kib(const SimulationOptions& options) {
  constexpr std::int64_t kib = 64LL * 1024 * 1024;
  constexpr std::size_t processes = 150;
  return kib * static_cast<std::int64_t>(1 + options.processes / (processes + 1));
}

struct Kind {
  const char* category;
  const char* comm;
  const char* exe;
  const char* command;
  const char* user;
  std::uint32_t uid;
  const char* cgroup;
  std::int64_t anon_kib;  // typical anonymous memory
  std::int64_t file_kib;
};

constexpr std::array kKinds{
    Kind{"web", "nginx", "/usr/sbin/nginx", "nginx: worker process", "www-data", 33, "/system.slice/nginx.service",
         12'000, 6'000},
    Kind{"proxy", "haproxy", "/usr/sbin/haproxy", "/usr/sbin/haproxy -Ws -f /etc/haproxy/haproxy.cfg", "haproxy", 108,
         "/system.slice/haproxy.service", 40'000, 9'000},
    Kind{"database", "postgres", "/usr/lib/postgresql/15/bin/postgres", "postgres: 15/main: app app [local] idle",
         "postgres", 110, "/system.slice/postgresql@15-main.service", 18'000, 26'000},
    Kind{"cache", "redis-server", "/usr/bin/redis-check-rdb", "/usr/bin/redis-server 127.0.0.1:6379", "redis", 111,
         "/system.slice/redis-server.service", 220'000, 8'000},
    Kind{"jvm", "java", "/usr/lib/jvm/java-17-openjdk-amd64/bin/java", "java -Xmx2g -jar /opt/app/service.jar", "app",
         1001, "/system.slice/app.service", 1'400'000, 40'000},
    Kind{"python", "python3", "/usr/bin/python3.11", "/usr/bin/python3 /opt/jobs/worker.py", "app", 1001,
         "/system.slice/jobs.service", 90'000, 14'000},
    Kind{"node", "node", "/usr/bin/node", "node /srv/site/server.js", "www-data", 33, "/system.slice/site.service",
         160'000, 45'000},
    Kind{"ruby", "ruby", "/usr/bin/ruby3.1", "puma: cluster worker", "app", 1001, "/system.slice/puma.service", 210'000,
         12'000},
    Kind{"php", "php-fpm8.2", "/usr/sbin/php-fpm8.2", "php-fpm: pool www", "www-data", 33,
         "/system.slice/php8.2-fpm.service", 30'000, 24'000},
    Kind{"container", "containerd-shim", "/usr/bin/containerd-shim-runc-v2", "containerd-shim-runc-v2 -namespace moby",
         "root", 0, "/system.slice/containerd.service", 9'000, 8'000},
    Kind{"systemd", "systemd-journal", "/usr/lib/systemd/systemd-journald", "/lib/systemd/systemd-journald", "root", 0,
         "/system.slice/systemd-journald.service", 6'000, 20'000},
    Kind{"ssh", "sshd", "/usr/sbin/sshd", "sshd: admin@pts/0", "root", 0, "/system.slice/ssh.service", 2'500, 6'500},
    Kind{"cron", "cron", "/usr/sbin/cron", "/usr/sbin/CRON -f", "root", 0, "/system.slice/cron.service", 900, 2'300},
    Kind{"monitoring", "node_exporter", "/usr/bin/prometheus-node-exporter", "/usr/bin/prometheus-node-exporter",
         "prometheus", 112, "/system.slice/prometheus-node-exporter.service", 22'000, 11'000},
    Kind{"other", "bash", "/usr/bin/bash", "-bash", "admin", 1000, "/user.slice/user-1000.slice/session-1.scope", 1'900,
         3'400},
};

// Programs that cron, shells and services run briefly.
constexpr std::array kShortKinds{
    Kind{"cron", "sh", "/usr/bin/dash", "/bin/sh -c /usr/local/bin/backup-check", "root", 0,
         "/system.slice/cron.service", 120, 900},
    Kind{"monitoring", "check_disk", "/usr/lib/nagios/plugins/check_disk", "/usr/lib/nagios/plugins/check_disk -w 10%",
         "nagios", 113, "/system.slice/nrpe.service", 800, 2'000},
    Kind{"other", "git", "/usr/bin/git", "git fetch --quiet origin", "app", 1001, "/system.slice/deploy.service",
         14'000, 6'000},
    Kind{"python", "python3", "/usr/bin/python3.11", "/usr/bin/python3 /opt/jobs/report.py --id", "app", 1001,
         "/system.slice/jobs.service", 45'000, 12'000},
    Kind{"other", "gzip", "/usr/bin/gzip", "gzip -9 access.log", "root", 0, "/system.slice/logrotate.service", 700,
         900},
    Kind{"php", "php", "/usr/bin/php8.2", "php artisan schedule:run", "www-data", 33, "/system.slice/cron.service",
         28'000, 18'000},
};

std::int64_t whole_pages(std::int64_t kib) {
  return kib / kPageKib * kPageKib;
}

}  // namespace

Simulation::Simulation(const SimulationOptions& options)
    : options_(options), engine_(options.seed), now_(options.start) {
  for (std::size_t i = 0; i < options_.processes; ++i) {
    processes_.push_back(make(now_.wall_ms - random(60'000, now_.boot_ms)));
  }
}

BootInfo Simulation::boot() const {
  return {"00000000-0000-4000-8000-00000000000" + std::to_string(boots_ % 10), now_.wall_ms - now_.boot_ms, "simulated",
          "6.1.0-18-amd64"};
}

std::int64_t Simulation::random(std::int64_t from, std::int64_t to) {
  return from + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(to - from + 1));
}

bool Simulation::chance(double probability) {
  return static_cast<double>(engine_() >> 11) * 0x1p-53 < probability;
}

Simulation::Process Simulation::make(std::int64_t start_ms) {
  const Kind& kind = kKinds[static_cast<std::size_t>(random(0, kKinds.size() - 1))];
  Process process;
  last_pid_ += static_cast<std::int32_t>(random(1, 9));
  const std::int64_t since_boot = std::max<std::int64_t>(now_.boot_ms - (now_.wall_ms - start_ms), 0);
  const ProcessKey key{last_pid_, static_cast<std::uint64_t>(since_boot / 10), 0};
  process.info = {key,      start_ms,     1,           kind.uid, kind.user,    kind.comm,
                  kind.exe, kind.command, kind.cgroup, "/",      kind.category};
  if (chance(0.5)) process.info.command += " " + std::to_string(random(1, 40));
  ProcessSample& sample = process.sample;
  sample.key = key;
  sample.state = 'S';
  sample.parent_pid = 1;
  sample.threads = static_cast<std::int32_t>(kind.anon_kib > 100'000 ? random(8, 60) : random(1, 4));
  sample.source = Source::exact;
  ProcessMemory& memory = sample.memory;
  for (const P field :
       {P::ksm, P::lazy_free, P::anon_huge_pages, P::shmem_pmd_mapped, P::file_pmd_mapped, P::shared_hugetlb,
        P::private_hugetlb, P::locked, P::swap, P::swap_pss, P::vm_lck, P::vm_pin, P::vm_swap, P::hugetlb_pages})
    memory.set(field, 0);
  memory.set(P::private_dirty, whole_pages(kind.anon_kib * random(40, 220) / 100));
  memory.set(P::private_clean, whole_pages(kind.file_kib * random(5, 40) / 100));
  memory.set(P::shared_clean, whole_pages(kind.file_kib * random(50, 100) / 100));
  memory.set(P::shared_dirty, whole_pages(chance(0.2) ? random(4, 9000) : 0));
  memory.set(P::vm_stk, 132);
  memory.set(P::vm_exe, whole_pages(random(100, 9000)));
  memory.set(P::vm_lib, whole_pages(random(1500, 30'000)));
  memory.set(P::vm_data, memory.or_zero(P::private_dirty) * 2);
  memory.set(P::vm_size, memory.or_zero(P::vm_data) + memory.or_zero(P::vm_lib) + 80'000);
  memory.set(P::vm_peak, memory.or_zero(P::vm_size));
  memory.set(P::vm_pte, whole_pages(memory.or_zero(P::vm_size) / 512 + 40));
  process.activity = options_.changing;
  if (options_.skewed) {
    // A twentieth of the processes makes nine tenths of the changes; four fifths change about once an hour.
    const std::int64_t rank = random(0, 99);
    process.activity *= rank < 5 ? 18.0 : rank < 20 ? 0.4 : 0.05;
  }
  add_up(process);
  return process;
}

Simulation::Process Simulation::make_short_lived(std::int64_t start_ms) {
  const Kind& kind = kShortKinds[static_cast<std::size_t>(random(0, kShortKinds.size() - 1))];
  Process process = make(start_ms);
  ProcessInfo& info = process.info;
  info.comm = kind.comm;
  info.exe = kind.exe;
  info.command = kind.command;
  info.user = kind.user;
  info.uid = kind.uid;
  info.cgroup = kind.cgroup;
  info.category = kind.category;
  if (chance(0.3)) info.command += " " + std::to_string(random(1, 2000));
  ProcessMemory& memory = process.sample.memory;
  memory.set(P::private_dirty, whole_pages(kind.anon_kib * random(40, 220) / 100));
  memory.set(P::private_clean, whole_pages(kind.file_kib * random(5, 40) / 100));
  memory.set(P::shared_clean, whole_pages(kind.file_kib * random(50, 100) / 100));
  memory.set(P::shared_dirty, 0);
  memory.set(P::vm_hwm, 0);
  add_up(process);
  process.activity = 2 * options_.changing;
  const std::int64_t rank = random(0, 19);
  const std::int64_t life_ms = rank < 14   ? random(1'000, 20'000)
                               : rank < 19 ? random(20'000, 240'000)
                                           : random(240'000, 600'000);
  process.ends_ms = now_.boot_ms - (now_.wall_ms - start_ms) + life_ms;
  return process;
}

// Computes the sums from the four parts of RSS.
void Simulation::add_up(Process& process) {
  ProcessMemory& memory = process.sample.memory;
  const std::int64_t anon = memory.or_zero(P::private_dirty);
  const std::int64_t clean = memory.or_zero(P::private_clean);
  const std::int64_t shared = memory.or_zero(P::shared_clean);
  const std::int64_t shmem = memory.or_zero(P::shared_dirty);
  memory.set(P::anonymous, anon);
  // As measured on Linux 6.18: in six of seven processes every page is referenced, and the parts of PSS lose nothing by
  // rounding.
  const bool usual = process.info.key.pid % 7 != 0;
  memory.set(P::referenced, anon + clean + (usual ? shared + shmem : shared / 2));
  memory.set(P::pss_anon, anon);
  memory.set(P::pss_file, clean + shared / 7);
  memory.set(P::pss_shmem, shmem / 3);
  memory.set(P::pss_dirty, anon + shmem / 3);
  memory.set(P::pss, anon + clean + shared / 7 + shmem / 3 + (usual ? 0 : 1));
  memory.set(P::rss_anon, anon);
  memory.set(P::rss_file, clean + shared);
  memory.set(P::rss_shmem, shmem);
  const std::int64_t rss = anon + clean + shared + shmem;
  memory.set(P::rss, rss);
  memory.set(P::vm_rss, rss);
  memory.set(P::vm_hwm, std::max(memory.or_zero(P::vm_hwm), rss));
}

// Adds or removes a few anonymous pages; at times the heap grows.
void Simulation::move(Process& process) {
  ProcessMemory& memory = process.sample.memory;
  const auto grow = [&](P field, std::int64_t kib) {
    memory.set(field, std::max<std::int64_t>(memory.or_zero(field) + kib, kPageKib));
  };
  grow(P::private_dirty, kPageKib * (chance(0.5) ? random(1, 20) : -random(1, 19)));
  if (chance(0.2)) {
    const std::int64_t growth = kPageKib * 33 * random(-3, 4);
    grow(P::vm_data, growth);
    grow(P::vm_size, growth);
    grow(P::vm_pte, kPageKib * random(-1, 1));
    memory.set(P::vm_peak, std::max(memory.or_zero(P::vm_peak), memory.or_zero(P::vm_size)));
  }
  add_up(process);
}

// Makes processes start and exit, as in the time since the previous tick.
void Simulation::age(Tick& tick) {
  while (chance(options_.births / (1.0 + options_.births)) && !processes_.empty()) {
    const auto victim = processes_.begin() + random(0, static_cast<std::int64_t>(processes_.size()) - 1);
    if (victim->ends_ms != 0) continue;
    end(victim, tick);
    begin(make(now_.wall_ms - random(1, options_.interval_ms)), tick);
  }
  if (options_.short_lived > 0 || options_.flood > 0) age_short_lived(tick);
  if (options_.flood > 0) age_flood(tick);
  std::sort(tick.exits.begin(), tick.exits.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  // A process that starts and exits between two ticks is unsampled.
  std::erase_if(tick.exits, [&](const ProcessExit& exit) {
    return std::erase_if(tick.born, [&](const ProcessInfo& info) { return info.key == exit.key; }) > 0;
  });
}

void Simulation::end(std::vector<Process>::iterator victim, Tick& tick) {
  tick.exits.push_back({victim->sample.key, ExitKind::exited});
  processes_.erase(victim);
}

void Simulation::begin(Process process, Tick& tick) {
  tick.born.push_back(process.info);
  processes_.push_back(std::move(process));
}

void Simulation::age_short_lived(Tick& tick) {
  for (std::size_t i = processes_.size(); i-- > 0;) {
    if (processes_[i].ends_ms != 0 && processes_[i].ends_ms <= now_.boot_ms)
      end(processes_.begin() + static_cast<std::ptrdiff_t>(i), tick);
  }
  const double per_tick = options_.short_lived * static_cast<double>(options_.interval_ms) / kHourMs;
  while (chance(per_tick / (1.0 + per_tick))) {
    Process process = make_short_lived(now_.wall_ms - random(1, options_.interval_ms));
    // A process that has exited by now is unsampled.
    if (process.ends_ms > now_.boot_ms) begin(std::move(process), tick);
  }
}

void Simulation::age_flood(Tick& tick) {
  constexpr std::int64_t users = 8;
  constexpr std::int64_t max_names = 16'384;  // per user and day
  constexpr std::int64_t day_ms = 24 * kHourMs;
  const std::int64_t day = (now_.wall_ms - options_.start.wall_ms) / day_ms;
  const std::int64_t of_day_ms = (now_.wall_ms - options_.start.wall_ms) % day_ms;
  if (of_day_ms < options_.interval_ms) flooded_ = 0;
  const std::int64_t due = options_.flood * std::min(of_day_ms + options_.interval_ms, kHourMs) / kHourMs;
  for (; flooded_ < due; ++flooded_) {
    Process process = make_short_lived(now_.wall_ms - random(1, options_.interval_ms));
    const std::int64_t number = flooded_ / users;
    ProcessInfo& info = process.info;
    info.uid = static_cast<std::uint32_t>(2000 + flooded_ % users);
    info.user = "user" + std::to_string(info.uid);
    info.cgroup = "/user.slice/user-" + std::to_string(info.uid) + ".slice/session-1.scope";
    info.comm = "flood";
    info.exe = "/home/" + info.user + "/flood";
    info.command = info.exe + " [cut: other of " + info.user + ']';
    if (number < max_names) {
      // The number is written in letters, because identities ignore digits.
      info.command = info.exe + " --job=";
      for (std::int64_t rest = day * max_names + number, i = 0; i < 6; ++i, rest /= 26)
        info.command += static_cast<char>('a' + rest % 26);
    }
    process.ends_ms = now_.boot_ms + 2 * options_.interval_ms;
    begin(std::move(process), tick);
  }
}

void Simulation::move_machine() {
  MachineMemory& memory = machine_.memory;
  const std::int64_t total_kib = mem_total_kib(options_);
  if (!memory.has(M::mem_total)) {
    for (std::size_t i = 0; i < kFirstPressure; ++i) memory.set(static_cast<M>(i), random(0, 3) * 4096);
    memory.set(M::mem_total, total_kib);
    memory.set(M::swap_total, 8LL * 1024 * 1024);
    memory.set(M::swap_free, 8LL * 1024 * 1024);
    memory.set(M::cached, total_kib / 4);
    memory.set(M::pgfault, 1'000'000'000);
    for (const M absent : {M::zswap, M::zswapped, M::nfs_unstable, M::vmalloc_chunk, M::unaccepted, M::balloon})
      memory.clear(absent);
  }
  std::int64_t anon = 0;
  for (const Process& process : processes_) anon += process.sample.memory.or_zero(P::pss_anon);
  const auto wander = [&](M field, std::int64_t kib) {
    memory.set(field, std::max<std::int64_t>(memory.or_zero(field) + random(-kib, kib), 0));
  };
  for (const M field : {M::cached, M::active_file, M::inactive_file, M::dirty, M::mapped, M::slab_reclaimable,
                        M::slab_unreclaimable, M::kernel_stack, M::page_tables, M::committed_as, M::buffers})
    wander(field, 400);
  memory.set(M::anon_pages, anon);
  memory.set(M::active_anon, anon / 8);
  memory.set(M::inactive_anon, anon - anon / 8);
  memory.set(M::active, memory.or_zero(M::active_anon) + memory.or_zero(M::active_file));
  memory.set(M::inactive, memory.or_zero(M::inactive_anon) + memory.or_zero(M::inactive_file));
  memory.set(M::slab, memory.or_zero(M::slab_reclaimable) + memory.or_zero(M::slab_unreclaimable));
  memory.set(M::kernel_reclaimable, memory.or_zero(M::slab_reclaimable));
  memory.set(M::mem_free, total_kib - anon - memory.or_zero(M::cached) - memory.or_zero(M::slab));
  memory.set(M::mem_available, memory.or_zero(M::mem_free) + memory.or_zero(M::cached) * 9 / 10);
  memory.set(M::pgfault, memory.or_zero(M::pgfault) + random(5'000, 90'000));
  wander(M::workingset_nodes, 60);
  const auto count = [&](M field, std::int64_t most) { memory.set(field, memory.or_zero(field) + random(0, most)); };
  count(M::pgmajfault, 3);
  count(M::thp_fault_alloc, 2);
  count(M::workingset_refault_file, 20);
  count(M::psi_some_total, 900);
  count(M::psi_full_total, 500);
  for (const M average : {M::psi_some_avg10, M::psi_some_avg60, M::psi_some_avg300, M::psi_full_avg10,
                          M::psi_full_avg60, M::psi_full_avg300})
    memory.set(average, chance(0.05) ? random(0, 40) : 0);
}

std::vector<CategorySample> Simulation::totals() const {
  std::map<std::string, CategorySample> categories;
  for (const Process& process : processes_) {
    CategorySample& total = categories[process.info.category];
    const ProcessMemory& memory = process.sample.memory;
    total.category = process.info.category;
    ++total.processes;
    total.rss_kib += memory.or_zero(P::rss);
    total.pss_kib += memory.or_zero(P::pss);
    total.uss_kib += uss_kib(memory).value_or(0);
    total.swap_kib += memory.or_zero(P::swap);
    total.swap_pss_kib += memory.or_zero(P::swap_pss);
  }
  std::vector<CategorySample> samples;
  samples.reserve(categories.size());
  for (auto& [name, sample] : categories) samples.push_back(sample);
  return samples;
}

// Reads new processes, processes with old readings, and occasionally another one.
void Simulation::read(ProcessSample& sample) const {
  constexpr std::int64_t oldest_ms = 600'000;
  const bool is_due =
      !sample.read_boot_ms || now_.boot_ms - *sample.read_boot_ms >= oldest_ms || (ticks_ + sample.key.pid) % 32 == 0;
  if (is_due) sample.read_boot_ms = now_.boot_ms;
  sample.source = is_due ? Source::exact : Source::held;
}

Tick Simulation::next(bool keyframe) {
  Tick tick;
  const bool first = ticks_++ == 0;
  if (first) {
    for (const Process& process : processes_) tick.born.push_back(process.info);
  } else {
    age(tick);
    for (Process& process : processes_) {
      if (chance(process.activity)) move(process);
    }
  }
  move_machine();
  tick.begin = now_;
  tick.end = {now_.wall_ms + 21, now_.boot_ms + 21};
  tick.keyframe = first || keyframe || now_.boot_ms % kHourMs < options_.interval_ms;
  for (Cost& cost : tick.cost) cost = {random(50, 900), random(60, 1000)};
  for (const Cost& cost : tick.cost) tick.total = {tick.total.cpu_us + cost.cpu_us, tick.total.wall_us + cost.wall_us};
  tick.counts.seen = static_cast<std::int64_t>(processes_.size());
  tick.counts.kernel_threads = 190;
  tick.machine = machine_;
  for (Process& process : processes_) {
    read(process.sample);
    tick.processes.push_back(process.sample);
  }
  tick.categories = totals();
  pause(options_.interval_ms);
  return tick;
}

void Simulation::pause(std::int64_t ms) {
  now_.wall_ms += ms;
  now_.boot_ms += ms;
}

void Simulation::step_wall(std::int64_t ms) {
  now_.wall_ms += ms;
}

void Simulation::reboot() {
  ++boots_;
  ticks_ = 0;
  last_pid_ = 300;
  now_.wall_ms += 40'000;
  now_.boot_ms = 20'000;
  processes_.clear();
  for (std::size_t i = 0; i < options_.processes; ++i) processes_.push_back(make(now_.wall_ms - random(0, 15'000)));
}

}  // namespace memoir::test
