#include "collect/collector.h"

#include <algorithm>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"
#include "collect/approximation.h"
#include "collect/blocked_users.h"
#include "collect/categories/totals.h"
#include "collect/cgroup_reader.h"
#include "collect/cost_span.h"
#include "collect/identifier.h"
#include "collect/machine_reader.h"
#include "collect/pass.h"
#include "collect/process_reads.h"
#include "collect/process_table.h"
#include "collect/tmpfs_reader.h"

namespace memoir {
namespace {

// Left to the store, the log, the worker and libraries.
constexpr rlim_t kReservedDescriptors = 64;

// How often it is looked at what there is to read: cgroups that no process is in any more, files that were missing.
constexpr std::int64_t kLookEveryMs = 5 * 60 * 1000;

// Says a thing when it begins, not at every tick while it lasts.
class Complaint {
 public:
  void report(const std::string& text) {
    if (!text.empty() && !lasting_) log_warning(text);
    lasting_ = !text.empty();
  }

 private:
  bool lasting_ = false;
};

}  // namespace

struct Collector::State {
  State(ProcFs root, const Clock& time, Categoriser categoriser, Redactor redactor, const CollectorOptions& options)
      : proc(std::make_shared<const ProcFs>(std::move(root))),
        clock(time),
        machine(*proc),
        identifier(std::move(categoriser), std::move(redactor), options),
        descriptors(options.max_descriptors),
        cgroups(CgroupFs(options.cgroup_root), descriptors),
        tmpfs(proc),
        table(proc, descriptors),
        reads(proc, table, identifier, totals, options.read_deadline) {}

  Status read(Pass& pass);
  bool look_due(const Tick& tick);
  void read_cgroups(bool all, Pass& pass);
  void assemble(Tick& tick);
  void find_access();

  const std::shared_ptr<const ProcFs> proc;
  const Clock& clock;
  Buffer buffer;
  MachineReader machine;
  Identifier identifier;
  CategoryTotals totals;
  DescriptorBudget descriptors;  // before what has slots of it
  CgroupReader cgroups;
  TmpfsReader tmpfs;
  ProcessTable table;
  ProcessReads reads;
  std::vector<std::int32_t> pids;
  Complaint malformed;
  Complaint blocked;
  BlockedUsers blocked_users;
  std::vector<Event> events;
  Access access;
  bool first = true;
  std::int64_t looked_boot_ms = 0;
};

bool Collector::State::look_due(const Tick& tick) {
  const bool due = first || tick.keyframe || tick.begin.boot_ms - looked_boot_ms >= kLookEveryMs;
  if (due) looked_boot_ms = tick.begin.boot_ms;
  return due;
}

void Collector::State::read_cgroups(bool all, Pass& pass) {
  std::vector<std::string_view> paths;
  paths.reserve(table.entries().size());
  for (const auto& entry : table.entries()) paths.push_back(entry->info.cgroup);
  cgroups.read(paths, all, pass);
}

Status Collector::State::read(Pass& pass) {
  CostSpan span;
  TRY(machine.read(pass));
  span.add_to(pass.tick.cost, CostKind::machine);
  TRY(proc->list(pids));
  span.add_to(pass.tick.cost, CostKind::list);
  table.update(pids, pass);
  span.add_to(pass.tick.cost, CostKind::status);
  const bool look = look_due(pass.tick);
  ProcessReads::Jobs others;
  if (auto job = tmpfs.ask(look)) others.push_back(std::move(job));
  reads.run(pass, std::move(others));
  span = CostSpan();
  tmpfs.take(pass);
  read_cgroups(look, pass);
  span.add_to(pass.tick.cost, CostKind::machine);
  return Done{};
}

void Collector::State::assemble(Tick& tick) {
  totals.clear();
  tick.processes.reserve(table.entries().size());
  for (const auto& entry : table.entries()) {
    tick.processes.push_back(entry->sample);
    if (entry->sample.state == 'Z') ++tick.counts.zombies;
  }
  bound_approximate(tick.processes, tick.machine.memory);
  for (std::size_t i = 0; i < tick.processes.size(); ++i) totals.add(table.entries()[i]->category, tick.processes[i]);
  tick.counts.seen = static_cast<std::int64_t>(tick.processes.size());
  tick.categories = totals.samples();
  std::sort(tick.exits.begin(), tick.exits.end(),
            [](const ProcessExit& a, const ProcessExit& b) { return a.key < b.key; });
}

void Collector::State::find_access() {
  const auto add = [&](const char* sentence) {
    if (!access.note.empty()) access.note += ' ';
    access.note += sentence;
  };
  access.rollup_of_others = reads.others_denied() == 0 || reads.others_read() > 0;
  access.pressure = machine.has_pressure();
  if (!access.rollup_of_others) {
    add("smaps_rollup of other users' processes is not permitted, so their RSS stands in for PSS: give memoird "
        "CAP_SYS_PTRACE, or CAP_PERFMON on Linux 6.15 and newer.");
  }
  if (!access.pressure) {
    add("There is no /proc/pressure/memory: the kernel has no pressure stall information, or wants psi=1 at boot.");
  }
  const bool init_listed = !pids.empty() && pids.front() == 1;
  if (::geteuid() != 0 && !init_listed) {
    add("/proc hides other users' processes (hidepid): only one's own are recorded.");
  }
}

Collector::Collector(ProcFs proc, const Clock& clock, Categoriser categoriser, Redactor redactor,
                     const CollectorOptions& options)
    : state_(std::make_unique<State>(std::move(proc), clock, std::move(categoriser), std::move(redactor), options)) {}

Collector::~Collector() = default;

void Collector::seed(const std::vector<KnownProcess>& known) {
  state_->identifier.seed(known);
}

void Collector::set_rules(Categoriser categoriser, Redactor redactor) {
  state_->identifier.set_rules(std::move(categoriser), std::move(redactor));
  for (const auto& entry : state_->table.entries()) {
    entry->identity_due = true;
    entry->user_due = true;
  }
}

void Collector::set_store_bytes(std::int64_t bytes) {
  state_->identifier.set_store_bytes(bytes);
}

void Collector::report_all() {
  for (const auto& entry : state_->table.entries()) entry->changed = true;
}

Result<Tick> Collector::collect(bool keyframe) {
  State& state = *state_;
  Tick tick;
  tick.keyframe = keyframe;
  tick.begin = state.clock.now();
  CostSpan whole;
  Pass pass{.tick = tick, .buffer = state.buffer};
  TRY(state.read(pass));
  state.assemble(tick);
  if (std::exchange(state.first, false)) {
    state.find_access();
    state.identifier.forget_seeds();
  }
  state.malformed.report(pass.malformed);
  state.blocked.report(pass.blocked);
  state.events = state.blocked_users.see(pass.blocked_users, tick.begin,
                                         [&state](std::uint32_t uid) { return state.identifier.user_name(uid); });
  tick.end = state.clock.now();
  whole.add_to(tick.total);
  return tick;
}

const Access& Collector::access() const {
  return state_->access;
}

const std::vector<Event>& Collector::events() const {
  return state_->events;
}

std::size_t raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlim_t soft = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = soft;
  if (limit.rlim_cur <= kReservedDescriptors) return 0;
  return static_cast<std::size_t>(limit.rlim_cur - kReservedDescriptors);
}

}  // namespace memoir
