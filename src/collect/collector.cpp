#include "collect/collector.h"

#include <algorithm>
#include <iterator>
#include <unistd.h>

#include "base/complaint.h"
#include "collect/category/totals.h"
#include "collect/cgroup/cgroup_reader.h"
#include "collect/cgroup/container_reader.h"
#include "collect/exit/exit_collector.h"
#include "collect/looks.h"
#include "collect/machine_reader.h"
#include "collect/mappings/ledger_reader.h"
#include "collect/missing.h"
#include "collect/oom/oom_log.h"
#include "collect/pass.h"
#include "collect/process/identifier.h"
#include "collect/process/kin.h"
#include "collect/process/process_details.h"
#include "collect/process/process_table.h"
#include "collect/pss/approximation.h"
#include "collect/pss/read_planner.h"
#include "collect/tmpfs/tmpfs_reader.h"
#include "collect/worker/blocked_users.h"
#include "collect/worker/cost_span.h"

namespace memoir {
namespace {

// How often it is looked at what there is to read: cgroups that no process is in any more, files that were missing.
constexpr std::int64_t kLookEveryMs = 5 * 60 * 1000;

class Collector final : public TickSource {
 public:
  Collector(ProcFs root, const Clock& clock, Categoriser categoriser, Redactor redactor,
            const CollectorOptions& options, Result<std::unique_ptr<Census>> census,
            Result<std::unique_ptr<ProcessEvents>> events)
      : proc_(std::make_shared<const ProcFs>(std::move(root))),
        clock_(clock),
        machine_(*proc_),
        identifier_(std::move(categoriser), std::move(redactor), options),
        descriptors_(options.max_descriptors),
        told_(events ? std::move(*events) : nullptr),
        census_(census ? std::move(*census) : make_proc_census(proc_, descriptors_)),
        cgroups_(CgroupFs(options.cgroup_root), descriptors_),
        containers_(options.container_root, options.container_names, options.store_bytes),
        tmpfs_(proc_, TmpfsOptions::within(options.read_deadline, options.tmpfs_interval)),
        ends_(CgroupFs(options.cgroup_root), options.ticks_per_second),
        table_(proc_, descriptors_),
        planner_(options.read_share_ppm),
        reads_(proc_, table_, identifier_, totals_, options.read_deadline),
        ledgers_(proc_, options.ledgers, options.read_deadline) {
    if (census_) access_.census = census_->name();
    if (!census) note(no_census(census.error().message));
    if (census && !events) note(no_events(events.error().message));
    if (census && told_) note(no_signals(told_->no_signals()));
    ends_.set_large(options.large_end_kib);
    open_log(options.kernel_log);
  }

  void seed(const std::vector<KnownProcess>& known) override { identifier_.seed(known); }
  void set_rules(Categoriser categoriser, Redactor redactor) override;
  void set_store_bytes(std::int64_t bytes) override;
  void report_all() override;
  Result<Tick> collect(bool keyframe) override;
  Look look() override;
  int events_fd() const override { return told_ ? told_->wait_fd() : -1; }
  bool take_events() override { return take_told({}); }
  const Access& access() const override { return access_; }
  const std::vector<Event>& events() const override { return events_; }
  void set_read_share(std::int64_t ppm) override { planner_.set_share(ppm); }
  void set_closely(bool on) override { planner_.set_closely(on); }
  void set_large_end(std::int64_t kib) override { ends_.set_large(kib); }
  void set_ledgers(const LedgerLimits& limits) override { ledgers_.set_limits(limits); }
  void ask_ledgers(LedgerAsk ask) override { ledger_ask_ = ask; }
  void set_tmpfs_interval(std::chrono::milliseconds interval) override { tmpfs_.set_interval(interval); }

 private:
  Status read(Pass& pass);
  template <typename Seen>
  Status ask_census(Status (Census::*how)(Seen&), Seen& seen);
  Status list_processes(bool all, const std::vector<CensusProcess>& seen);
  Status find_processes(bool all, Pass& pass);
  bool take_told(const std::vector<ProcessExit>& exits);
  void open_log(const std::string& path);
  void read_log();
  void use_events(Pass& pass);
  bool look_due(const Tick& tick);
  Granted plan(Pass& pass);
  void read_cgroups(bool look, const Granted& granted, Pass& pass);
  void assemble(Tick& tick);
  void find_access();
  void note(std::string_view sentence);

  const std::shared_ptr<const ProcFs> proc_;
  const Clock& clock_;
  Buffer buffer_;
  MachineReader machine_;
  Identifier identifier_;
  CategoryTotals totals_;
  DescriptorBudget descriptors_;  // before what has slots of it
  std::unique_ptr<ProcessEvents> told_;
  std::vector<ProcessEvent> happened_;  // as it told last
  std::int64_t lost_events_ = 0;        // since the tick before
  Complaint lost_;
  OomLog log_;
  std::vector<OomLog::Kill> kills_;  // of which it told last
  Kin kin_;
  std::int64_t read_until_ms_ = 0;  // the tick before (boot clock)
  std::unique_ptr<Census> census_;
  std::vector<Glance> glances_;  // by it, between ticks
  Looks looks_;
  TickLooks looked_;            // since the tick before,
  MachineMemory machine_then_;  // which had this
  CgroupReader cgroups_;
  ContainerReader containers_;
  TmpfsReader tmpfs_;
  EndReader ends_;
  ProcessTable table_;
  ReadPlanner planner_;
  ProcessDetails reads_;
  LedgerReader ledgers_;
  LedgerAsk ledger_ask_ = LedgerAsk::due;
  std::vector<std::int32_t> pids_;
  Complaint malformed_;
  Complaint blocked_;
  BlockedUsers blocked_users_;
  std::vector<Event> events_;
  Access access_;
  bool first_ = true;
  std::int64_t looked_boot_ms_ = 0;
};

bool Collector::look_due(const Tick& tick) {
  const bool due = first_ || tick.keyframe || tick.begin.boot_ms - looked_boot_ms_ >= kLookEveryMs;
  if (due) looked_boot_ms_ = tick.begin.boot_ms;
  return due;
}

// What is read in turn, in one order with what is read by need.
Granted Collector::plan(Pass& pass) {
  std::vector<Claim> claims;
  ledgers_.claim(pass.tick.begin.boot_ms, claims);
  tmpfs_.claim(pass.tick.begin.boot_ms, claims);
  cgroups_.claim(pass.tick.begin.boot_ms, claims);
  return planner_.plan(table_.entries(), claims, pass);
}

void Collector::read_cgroups(bool look, const Granted& granted, Pass& pass) {
  std::vector<CgroupMember> members;
  members.reserve(table_.entries().size());
  for (const auto& entry : table_.entries()) members.push_back({entry->info.cgroup, entry->charge_moved()});
  cgroups_.read(members, look, pass, granted.count(ClaimKind::cgroups) > 0);
}

// A census that fails has been tried several times: it is not asked again. That by /proc can but fail to list it.
template <typename Seen>
Status Collector::ask_census(Status (Census::*how)(Seen&), Seen& seen) {
  if (!census_) return Done{};
  Status by_first = (census_.get()->*how)(seen);
  if (by_first || census_->listed() != nullptr) return by_first;
  census_ = make_proc_census(proc_, descriptors_);
  access_.census = census_->name();
  note(no_census(by_first.error().message));
  return (census_.get()->*how)(seen);
}

// A census that lists nobody sees all that matter, in half the time of listing /proc: only now and then is that done,
// for those that it does not see, and for the kernel's threads.
Status Collector::list_processes(bool all, const std::vector<CensusProcess>& seen) {
  if (!census_) return proc_->list(pids_);
  if (census_->listed() != nullptr) {
    pids_ = *census_->listed();
    return Done{};
  }
  if (all) return proc_->list(pids_);
  pids_.clear();
  for (const CensusProcess& process : seen) pids_.push_back(process.pid);
  table_.add_known(pids_);
  return Done{};
}

Status Collector::find_processes(bool all, Pass& pass) {
  CostSpan span;
  std::vector<CensusProcess> seen;
  TRY(ask_census(&Census::look, seen));
  span.add_to(pass.tick.cost, CostKind::status);
  TRY(list_processes(all, seen));
  span.add_to(pass.tick.cost, CostKind::list);
  looks_.forget_entries();
  table_.update(pids_, census_ ? &seen : nullptr, pass);
  use_events(pass);
  span.add_to(pass.tick.cost, CostKind::status);
  return Done{};
}

// True: an OOM killer chose somebody. `exits`: whom the table has lost since the tick before.
bool Collector::take_told(const std::vector<ProcessExit>& exits) {
  if (!told_) return false;
  const Result<std::uint64_t> missing = told_->take(happened_);
  if (!missing) {
    told_ = nullptr;
    note(no_events(missing.error().message));
    return false;
  }
  lost_events_ += static_cast<std::int64_t>(*missing);
  const Moment now = clock_.now();
  bool chosen = false;
  for (const ProcessEvent& event : happened_) {
    kin_.note(event);
    chosen |= ends_.note(event, table_.entries(), exits, now, looks_.looked_ms());
  }
  return chosen;
}

void Collector::open_log(const std::string& path) {
  if (path.empty()) return;
  const Status opened = log_.open(path, proc_->root() + "/sys/kernel/dmesg_restrict", ::sysconf(_SC_PAGESIZE) / 1024,
                                  clock_.now().boot_ms);
  if (!opened) note(no_log(opened.error().message));
}

// Before the table forgets whom it is about.
void Collector::read_log() {
  const Moment now = clock_.now();
  const Status read = log_.take(now.boot_ms, kills_);
  if (!read) {
    log_warning(read.error().message);  // the note waits for the next run
    note(no_log(read.error().message));
  }
  ends_.expect_log(log_.reads());
  if (kills_.empty()) return;
  take_told({});  // each kill is told by an event before it is logged
  for (const OomLog::Kill& kill : kills_) ends_.note(kill, table_.entries(), now);
}

// After the table is up to date: what happens from now on is for the next tick.
void Collector::use_events(Pass& pass) {
  const bool were_told = told_ != nullptr;
  take_told(pass.tick.exits);
  if (told_) pass.tick.events.emplace().lost = lost_events_;
  const bool complete = lost_events_ == 0 && were_told == (told_ != nullptr);
  lost_.report(complete ? "" : "events of processes were lost: more of them began and ended than there was room for");
  kin_.see(table_.entries(), read_until_ms_, !complete);
  lost_events_ = 0;
}

Status Collector::read(Pass& pass) {
  CostSpan span;
  TRY(machine_.read(pass));
  read_log();
  span.add_to(pass.tick.cost, CostKind::machine);
  const bool look = look_due(pass.tick);
  TRY(find_processes(look, pass));
  const Granted granted = plan(pass);
  ProcessDetails::Jobs others = tmpfs_.ask(look, pass.tick.begin.boot_ms, granted.count(ClaimKind::walk) > 0);
  if (auto job = containers_.ask()) others.push_back(std::move(job));
  std::ranges::move(ends_.ask(identifier_), std::back_inserter(others));
  reads_.run(pass, std::move(others));
  planner_.estimate_pools(table_.entries(), pass);
  span = CostSpan();
  tmpfs_.take(identifier_.names(), pass);
  containers_.take(pass);
  ends_.tell(table_.entries(), identifier_, pass);
  read_cgroups(look, granted, pass);
  span.add_to(pass.tick.cost, CostKind::machine);
  ledgers_.read(table_.entries(), std::exchange(ledger_ask_, LedgerAsk::due), tmpfs_.mounts(), identifier_.names(),
                pass, granted.count(ClaimKind::ledger));
  return Done{};
}

void Collector::assemble(Tick& tick) {
  totals_.clear();
  tick.processes.reserve(table_.entries().size());
  for (const auto& entry : table_.entries()) {
    tick.processes.push_back(entry->sample);
    if (entry->sample.state == 'Z') ++tick.counts.zombies;
    tick.reads.count(entry->sample.source);
  }
  bound_approximate(tick.processes, tick.machine.memory);
  for (std::size_t i = 0; i < tick.processes.size(); ++i) totals_.add(table_.entries()[i]->category, tick.processes[i]);
  looks_.take(table_.entries(), totals_, tick);
  tick.looks = std::exchange(looked_, {});
  machine_then_ = tick.machine.memory;
  tick.counts.seen = static_cast<std::int64_t>(tick.processes.size());
  tick.categories = totals_.samples();
  std::ranges::sort(tick.exits, {}, &ProcessExit::key);
}

void Collector::note(std::string_view sentence) {
  if (sentence.empty()) return;
  if (!access_.note.empty()) access_.note += ' ';
  access_.note += sentence;
}

void Collector::find_access() {
  if (reads_.others_denied() > 0 && reads_.others_read() == 0) note(kNoRollups);
  if (!machine_.has_pressure()) note(kNoPressure);
  const bool init_listed = !pids_.empty() && pids_.front() == 1;
  if (::geteuid() != 0 && !init_listed) note(kHidden);
}

void Collector::set_rules(Categoriser categoriser, Redactor redactor) {
  identifier_.set_rules(std::move(categoriser), std::move(redactor));
  for (const auto& entry : table_.entries()) {
    entry->identity_due = true;
    entry->user_due = true;
  }
}

void Collector::set_store_bytes(std::int64_t bytes) {
  identifier_.set_store_bytes(bytes);
  containers_.set_store_bytes(bytes);
}

void Collector::report_all() {
  for (const auto& entry : table_.entries()) entry->changed = true;
  containers_.forget();
  machine_.tell_all();
  tmpfs_.tell_all();
}

Result<Tick> Collector::collect(bool keyframe) {
  Tick tick;
  tick.keyframe = keyframe;
  tick.begin = clock_.now();
  CostSpan whole;
  Pass pass{.tick = tick, .buffer = buffer_};
  TRY(read(pass));
  assemble(tick);
  if (std::exchange(first_, false)) {
    find_access();
    identifier_.forget_seeds();
  }
  malformed_.report(pass.malformed);
  blocked_.report(pass.blocked);
  events_ = blocked_users_.see(pass.blocked_users, tick.begin,
                               [this](std::uint32_t uid) { return identifier_.user_name(uid); });
  tick.end = clock_.now();
  read_until_ms_ = tick.end.boot_ms;
  whole.add_to(tick.total);
  planner_.spend(pass);
  return tick;
}

TickSource::Look Collector::look() {
  Look look;
  if (first_ || !census_) return look;
  CostSpan span;
  if (ask_census(&Census::glance, glances_)) {
    look.available_kib = machine_.available_kib(buffer_);
    look.oom_kill = take_told({});
    look.growth =
        looks_.see(table_.entries(), totals_, machine_then_, glances_, look.available_kib, clock_.now().wall_ms);
  }
  span.add_to(look.cost);
  looked_.add(look.cost);
  return look;
}

}  // namespace

std::unique_ptr<TickSource> make_proc_source(ProcFs proc, const Clock& clock, Categoriser categoriser,
                                             Redactor redactor, const CollectorOptions& options,
                                             Result<std::unique_ptr<Census>> census,
                                             Result<std::unique_ptr<ProcessEvents>> events) {
  return std::make_unique<Collector>(std::move(proc), clock, std::move(categoriser), std::move(redactor), options,
                                     std::move(census), std::move(events));
}

}  // namespace memoir
