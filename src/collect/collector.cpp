#include "collect/collector.h"

#include <algorithm>
#include <iterator>
#include <unistd.h>

#include "collect/blocked_users.h"
#include "collect/categories/totals.h"
#include "collect/cgroup_reader.h"
#include "collect/complaint.h"
#include "collect/container_reader.h"
#include "collect/end_reader.h"
#include "collect/identifier.h"
#include "collect/kin.h"
#include "collect/ledger_reader.h"
#include "collect/looks.h"
#include "collect/machine_reader.h"
#include "collect/missing.h"
#include "collect/need/approximation.h"
#include "collect/oom/oom_log.h"
#include "collect/pass.h"
#include "collect/process_reads.h"
#include "collect/process_table.h"
#include "collect/read_planner.h"
#include "collect/reads/cost_span.h"
#include "collect/tmpfs_reader.h"

namespace memoir {
namespace {

// How often it is looked at what there is to read: cgroups that no process is in any more, files that were missing.
constexpr std::int64_t kLookEveryMs = 5 * 60 * 1000;

}  // namespace

struct Collector::State {
  State(ProcFs root, const Clock& time, Categoriser categoriser, Redactor redactor, const CollectorOptions& options,
        Result<std::unique_ptr<Census>> found, Result<std::unique_ptr<ProcessEvents>> told_by)
      : proc(std::make_shared<const ProcFs>(std::move(root))),
        clock(time),
        machine(*proc),
        identifier(std::move(categoriser), std::move(redactor), options),
        descriptors(options.max_descriptors),
        told(told_by ? *std::move(told_by) : nullptr),
        census(found ? *std::move(found) : make_proc_census(proc, descriptors)),
        cgroups(CgroupFs(options.cgroup_root), descriptors),
        containers(ContainerFiles(options.container_root), options.container_names, options.store_bytes),
        tmpfs(proc, TmpfsOptions::within(options.read_deadline, options.tmpfs_interval)),
        ends(CgroupFs(options.cgroup_root), options.ticks_per_second),
        table(proc, descriptors),
        planner(options.read_share_ppm),
        reads(proc, table, identifier, totals, options.read_deadline),
        ledgers(proc, options.ledgers, options.read_deadline) {
    if (census) access.census = census->name();
    ends.set_large(options.large_end_kib);
  }

  Status read(Pass& pass);
  Status look(Status (Census::*how)(std::vector<CensusProcess>&));
  Status list_processes(bool all);
  Status find_processes(bool all, Pass& pass);
  bool take_events(const std::vector<ProcessExit>& exits);
  void open_log(const std::string& path);
  void read_log();
  void use_events(Pass& pass);
  bool look_due(const Tick& tick);
  Granted plan(Pass& pass);
  void read_cgroups(bool look, const Granted& granted, Pass& pass);
  void assemble(Tick& tick);
  void find_access();
  void note(std::string_view sentence);

  const std::shared_ptr<const ProcFs> proc;
  const Clock& clock;
  Buffer buffer;
  MachineReader machine;
  Identifier identifier;
  CategoryTotals totals;
  DescriptorBudget descriptors;  // before what has slots of it
  std::unique_ptr<ProcessEvents> told;
  std::vector<ProcessEvent> happened;  // as it told last
  std::int64_t lost_events = 0;        // since the tick before
  Complaint lost;
  OomLog log;
  std::vector<OomLog::Kill> kills;  // of which it told last
  Kin kin;
  std::int64_t read_until_ms = 0;  // the tick before (boot clock)
  std::unique_ptr<Census> census;
  std::vector<CensusProcess> seen;  // by it
  Looks looks;
  TickLooks looked;            // since the tick before,
  MachineMemory machine_then;  // which had this
  CgroupReader cgroups;
  ContainerReader containers;
  TmpfsReader tmpfs;
  EndReader ends;
  ProcessTable table;
  ReadPlanner planner;
  ProcessReads reads;
  LedgerReader ledgers;
  LedgerAsk ledger_ask = LedgerAsk::due;
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

// What is read in turn, in one order with what is read by need.
Granted Collector::State::plan(Pass& pass) {
  std::vector<Claim> claims;
  ledgers.claim(pass.tick.begin.boot_ms, claims);
  tmpfs.claim(pass.tick.begin.boot_ms, claims);
  cgroups.claim(pass.tick.begin.boot_ms, claims);
  return planner.plan(table.entries(), claims, pass);
}

void Collector::State::read_cgroups(bool look, const Granted& granted, Pass& pass) {
  std::vector<CgroupMember> members;
  members.reserve(table.entries().size());
  for (const auto& entry : table.entries()) members.push_back({entry->info.cgroup, entry->charge_moved()});
  cgroups.read(members, look, pass, granted.count(ClaimKind::cgroups) > 0);
}

// A census that fails has been tried several times: it is not asked again. That by /proc can but fail to list it.
Status Collector::State::look(Status (Census::*how)(std::vector<CensusProcess>&)) {
  if (!census) return Done{};
  Status by_first = (census.get()->*how)(seen);
  if (by_first || census->listed() != nullptr) return by_first;
  census = make_proc_census(proc, descriptors);
  access.census = census->name();
  note(no_census(by_first.error().message));
  return census->look(seen);
}

// A census that lists nobody sees all that matter, in half the time of listing /proc: only now and then is that done,
// for those that it does not see, and for the kernel's threads.
Status Collector::State::list_processes(bool all) {
  if (!census) return proc->list(pids);
  if (census->listed() != nullptr) {
    pids = *census->listed();
    return Done{};
  }
  if (all) return proc->list(pids);
  pids.clear();
  for (const CensusProcess& process : seen) pids.push_back(process.pid);
  table.add_known(pids);
  return Done{};
}

Status Collector::State::find_processes(bool all, Pass& pass) {
  CostSpan span;
  TRY(look(&Census::look));
  span.add_to(pass.tick.cost, CostKind::status);
  TRY(list_processes(all));
  span.add_to(pass.tick.cost, CostKind::list);
  table.update(pids, census ? &seen : nullptr, pass);
  use_events(pass);
  span.add_to(pass.tick.cost, CostKind::status);
  return Done{};
}

// True: an OOM killer chose somebody. `exits`: whom the table has lost since the tick before.
bool Collector::State::take_events(const std::vector<ProcessExit>& exits) {
  if (!told) return false;
  const Result<std::uint64_t> missing = told->take(happened);
  if (!missing) {
    told = nullptr;
    note(no_events(missing.error().message));
    return false;
  }
  lost_events += static_cast<std::int64_t>(*missing);
  const Moment now = clock.now();
  bool chosen = false;
  for (const ProcessEvent& event : happened) {
    kin.note(event);
    chosen |= ends.note(event, table.entries(), exits, now, looks.looked_ms());
  }
  return chosen;
}

void Collector::State::open_log(const std::string& path) {
  if (path.empty()) return;
  const Status opened =
      log.open(path, proc->root() + "/sys/kernel/dmesg_restrict", ::sysconf(_SC_PAGESIZE) / 1024, clock.now().boot_ms);
  if (!opened) note(no_log(opened.error().message));
}

// Before the table forgets whom it is about.
void Collector::State::read_log() {
  const Moment now = clock.now();
  const Status read = log.take(now.boot_ms, kills);
  if (!read) {
    log_warning(read.error().message);  // the note waits for the next run
    note(no_log(read.error().message));
  }
  ends.expect_log(log.reads());
  if (kills.empty()) return;
  take_events({});  // each kill is told by an event before it is logged
  for (const OomLog::Kill& kill : kills) ends.note(kill, table.entries(), now);
}

// After the table is up to date: what happens from now on is for the next tick.
void Collector::State::use_events(Pass& pass) {
  const bool were_told = told != nullptr;
  take_events(pass.tick.exits);
  if (told) pass.tick.events.emplace().lost = lost_events;
  const bool complete = lost_events == 0 && were_told == (told != nullptr);
  lost.report(complete ? "" : "events of processes were lost: more of them began and ended than there was room for");
  kin.see(table.entries(), read_until_ms, !complete);
  lost_events = 0;
}

Status Collector::State::read(Pass& pass) {
  CostSpan span;
  TRY(machine.read(pass));
  read_log();
  span.add_to(pass.tick.cost, CostKind::machine);
  const bool look = look_due(pass.tick);
  TRY(find_processes(look, pass));
  const Granted granted = plan(pass);
  ProcessReads::Jobs others = tmpfs.ask(look, pass.tick.begin.boot_ms, granted.count(ClaimKind::walk) > 0);
  if (auto job = containers.ask()) others.push_back(std::move(job));
  std::ranges::move(ends.ask(identifier), std::back_inserter(others));
  reads.run(pass, std::move(others));
  planner.estimate_pools(table.entries(), pass);
  span = CostSpan();
  tmpfs.take(identifier.names(), pass);
  containers.take(pass);
  ends.tell(table.entries(), identifier, pass);
  read_cgroups(look, granted, pass);
  span.add_to(pass.tick.cost, CostKind::machine);
  ledgers.read(table.entries(), std::exchange(ledger_ask, LedgerAsk::due), tmpfs.mounts(), identifier.names(), pass,
               granted.count(ClaimKind::ledger));
  return Done{};
}

void Collector::State::assemble(Tick& tick) {
  totals.clear();
  tick.processes.reserve(table.entries().size());
  for (const auto& entry : table.entries()) {
    tick.processes.push_back(entry->sample);
    if (entry->sample.state == 'Z') ++tick.counts.zombies;
    tick.reads.count(entry->sample.source);
  }
  bound_approximate(tick.processes, tick.machine.memory);
  for (std::size_t i = 0; i < tick.processes.size(); ++i) totals.add(table.entries()[i]->category, tick.processes[i]);
  looks.take(table.entries(), totals, tick);
  tick.looks = std::exchange(looked, {});
  machine_then = tick.machine.memory;
  tick.counts.seen = static_cast<std::int64_t>(tick.processes.size());
  tick.categories = totals.samples();
  std::sort(tick.exits.begin(), tick.exits.end(),
            [](const ProcessExit& a, const ProcessExit& b) { return a.key < b.key; });
}

void Collector::State::note(std::string_view sentence) {
  if (sentence.empty()) return;
  if (!access.note.empty()) access.note += ' ';
  access.note += sentence;
}

void Collector::State::find_access() {
  access.rollup_of_others = reads.others_denied() == 0 || reads.others_read() > 0;
  access.pressure = machine.has_pressure();
  if (!access.rollup_of_others) note(kNoRollups);
  if (!access.pressure) note(kNoPressure);
  const bool init_listed = !pids.empty() && pids.front() == 1;
  if (::geteuid() != 0 && !init_listed) note(kHidden);
}

Collector::Collector(ProcFs proc, const Clock& clock, Categoriser categoriser, Redactor redactor,
                     const CollectorOptions& options, Result<std::unique_ptr<Census>> census,
                     Result<std::unique_ptr<ProcessEvents>> events) {
  const std::string missing = !census   ? no_census(census.error().message)
                              : !events ? no_events(events.error().message)
                              : *events ? no_signals((*events)->no_signals())
                                        : std::string();
  state_ = std::make_unique<State>(std::move(proc), clock, std::move(categoriser), std::move(redactor), options,
                                   std::move(census), std::move(events));
  state_->note(missing);
  state_->open_log(options.kernel_log);
}

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
  state_->containers.set_store_bytes(bytes);
}

void Collector::set_read_share(std::int64_t ppm) {
  state_->planner.set_share(ppm);
}

void Collector::set_closely(bool on) {
  state_->planner.set_closely(on);
}

void Collector::set_large_end(std::int64_t kib) {
  state_->ends.set_large(kib);
}

void Collector::set_ledgers(const LedgerLimits& limits) {
  state_->ledgers.set_limits(limits);
}

void Collector::ask_ledgers(LedgerAsk ask) {
  state_->ledger_ask = ask;
}

void Collector::set_tmpfs_interval(std::chrono::milliseconds interval) {
  state_->tmpfs.set_interval(interval);
}

void Collector::report_all() {
  for (const auto& entry : state_->table.entries()) entry->changed = true;
  state_->containers.forget();
  state_->machine.tell_all();
  state_->tmpfs.tell_all();
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
  state.read_until_ms = tick.end.boot_ms;
  whole.add_to(tick.total);
  state.planner.spend(pass);
  return tick;
}

TickSource::Look Collector::look() {
  State& state = *state_;
  Look look;
  if (state.first || !state.census) return look;
  CostSpan span;
  if (state.look(&Census::glance)) {
    look.available_kib = state.machine.available_kib(state.buffer);
    look.oom_kill = state.take_events({});
    look.growth = state.looks.see(state.table.entries(), state.totals, state.machine_then, state.seen,
                                  look.available_kib, state.clock.now().wall_ms);
  }
  span.add_to(look.cost);
  state.looked.add(look.cost);
  return look;
}

int Collector::events_fd() const {
  return state_->told ? state_->told->wait_fd() : -1;
}

bool Collector::take_events() {
  return state_->take_events({});
}

const Access& Collector::access() const {
  return state_->access;
}

const std::vector<Event>& Collector::events() const {
  return state_->events;
}

}  // namespace memoir
