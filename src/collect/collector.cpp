#include "collect/collector.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <unistd.h>

#include "base/warn_once.h"
#include "collect/category/totals.h"
#include "collect/cgroup/cgroup_collector.h"
#include "collect/cgroup/container_reader.h"
#include "collect/collect_context.h"
#include "collect/degraded.h"
#include "collect/exit/exit_collector.h"
#include "collect/machine_reader.h"
#include "collect/mappings/mapping_reader.h"
#include "collect/oom/oom_log.h"
#include "collect/process/process_details.h"
#include "collect/process/process_resolver.h"
#include "collect/process/process_table.h"
#include "collect/process/relatives.h"
#include "collect/pss/approximation.h"
#include "collect/pss/read_planner.h"
#include "collect/scan_tracker.h"
#include "collect/shortfall.h"
#include "collect/tmpfs/tmpfs_reader.h"
#include "collect/worker/blocked_users.h"
#include "collect/worker/cost_span.h"
#include "collect/worker/user_costs.h"

namespace memoir {
namespace {

// Interval of searches for cgroups without processes and for files that were missing.
constexpr std::int64_t kRefreshEveryMs = 5 * 60 * 1000;

CgroupFs find_cgroups(const ProcFs& proc, const std::string& root) {
  Buffer buffer;
  const auto mounts = read_file(proc.path(SystemFile::mountinfo), buffer);
  return CgroupFs(root, mounts ? *mounts : std::string_view());
}

class Collector final : public TickSource {
 public:
  Collector(ProcFs root, const Clock& clock, Categoriser categoriser, Redactor redactor,
            const CollectorOptions& options, Result<std::unique_ptr<Census>> census,
            Result<std::unique_ptr<ProcessEvents>> events)
      : proc_(std::make_shared<const ProcFs>(std::move(root))),
        clock_(clock),
        machine_(*proc_),
        identifier_(std::move(categoriser), std::move(redactor), options),
        descriptors_(std::make_shared<DescriptorBudget>(options.max_descriptors)),
        kernel_events_(events ? std::move(*events) : nullptr),
        census_(census ? std::move(*census) : make_proc_census(proc_, *descriptors_)),
        cgroup_fs_(find_cgroups(*proc_, options.cgroup_root)),
        cgroups_(cgroup_fs_, descriptors_, options.read_deadline),
        containers_(options.container_root, options.container_names, options.store_bytes),
        tmpfs_(proc_, TmpfsOptions::within(options.read_deadline, options.tmpfs_interval)),
        exits_(cgroup_fs_, options.ticks_per_second),
        table_(proc_, *descriptors_),
        planner_(options.read_share_ppm),
        reads_(proc_, table_, identifier_, totals_, options.read_deadline),
        summaries_(proc_, options.summaries, options.read_deadline) {
    if (census_) access_.census = census_->name();
    if (!census) note(no_census(census.error().message));
    if (census && !events) note(no_events(events.error().message));
    if (census && kernel_events_) note(no_signals(kernel_events_->no_signals()));
    exits_.set_large(options.min_exit_peak_kib);
    if (cgroup_fs_.top().empty()) note(kForeignCgroups);
    open_log(options.kernel_log);
  }

  void seed(const std::vector<KnownProcess>& known) override { identifier_.seed(known); }
  void seed_name(const KnownName& name, std::int64_t at_boot_ms) override {
    identifier_.names().seed(name, at_boot_ms);
  }
  void set_rules(Categoriser categoriser, Redactor redactor) override;
  void set_store_bytes(std::int64_t bytes) override;
  void report_all() override;
  Result<Tick> collect(bool keyframe) override;
  ScanResult scan() override;
  int events_fd() const override { return kernel_events_ ? kernel_events_->wait_fd() : -1; }
  bool take_events() override { return take_kernel_events({}); }
  const Access& access() const override { return access_; }
  const std::vector<Event>& events() const override { return events_; }
  void set_read_share(std::int64_t ppm) override { planner_.set_share(ppm); }
  void set_burst(bool on) override { planner_.set_burst(on); }
  void set_min_exit_peak(std::int64_t kib) override { exits_.set_large(kib); }
  void set_summaries(const MappingLimits& limits) override { summaries_.set_limits(limits); }
  void request_summaries(MappingRequest ask) override { mapping_request_ = ask; }
  void request_all() override {
    mapping_request_ = MappingRequest::planned;
    planner_.request_all();
  }
  void set_tmpfs_interval(std::chrono::milliseconds interval) override { tmpfs_.set_interval(interval); }

 private:
  Status read(CollectContext& context);
  template <typename Seen>
  Status ask_census(Status (Census::*how)(Seen&), Seen& seen);
  Status list_processes(bool all, const std::vector<CensusProcess>& seen);
  Status find_processes(bool all, CollectContext& context);
  bool take_kernel_events(const std::vector<ProcessExit>& exits);
  void open_log(const std::string& path);
  void read_log();
  void use_events(CollectContext& context);
  bool refresh_due(const Tick& tick);
  Grants plan(CollectContext& context);
  void read_cgroups(bool refresh, const Grants& granted, CollectContext& context);
  void assemble(Tick& tick);
  void find_access();
  void note(std::string_view sentence);

  const std::shared_ptr<const ProcFs> proc_;
  const Clock& clock_;
  Buffer buffer_;
  MachineReader machine_;
  ProcessResolver identifier_;
  CategoryTotals totals_;
  const std::shared_ptr<DescriptorBudget> descriptors_;  // declared before the owners of its slots
  std::unique_ptr<ProcessEvents> kernel_events_;
  std::vector<ProcessEvent> happened_;  // result buffer of the event source
  std::int64_t lost_events_ = 0;        // number of lost events since the previous tick
  WarnOnce lost_;
  OomLog log_;
  std::vector<OomLog::Kill> kills_;  // result buffer of the log
  Relatives relatives_;
  std::int64_t read_until_ms_ = 0;  // end of the previous tick (boot clock)
  std::unique_ptr<Census> census_;
  std::vector<BriefSample> brief_samples_;  // result buffer of the census, between ticks
  ScanTracker scan_tracker_;
  TickScans scans_;             // cost of the scans since the previous tick
  MachineMemory machine_then_;  // machine memory at the previous tick
  const CgroupFs cgroup_fs_;
  CgroupCollector cgroups_;
  ContainerReader containers_;
  TmpfsReader tmpfs_;
  ExitCollector exits_;
  ProcessTable table_;
  ReadPlanner planner_;
  ProcessDetails reads_;
  MappingReader summaries_;
  MappingRequest mapping_request_ = MappingRequest::due;
  std::vector<std::int32_t> pids_;
  WarnOnce malformed_;
  WarnOnce blocked_;
  Shortfalls shortfalls_;
  BlockedUsers blocked_users_;
  UserCosts user_costs_;
  Shortfall expensive_{"Reads of processes"};
  std::vector<Event> events_;
  Access access_;
  bool first_ = true;
  std::int64_t refreshed_boot_ms_ = 0;
};

bool Collector::refresh_due(const Tick& tick) {
  const bool due = first_ || tick.keyframe || tick.begin.boot_ms - refreshed_boot_ms_ >= kRefreshEveryMs;
  if (due) refreshed_boot_ms_ = tick.begin.boot_ms;
  return due;
}

// Grants the rotating reads and the reads on demand of this tick from one budget.
Grants Collector::plan(CollectContext& context) {
  std::vector<ReadRequest> claims;
  summaries_.claim(context.tick.begin.boot_ms, claims);
  tmpfs_.claim(context.tick.begin.boot_ms, claims);
  cgroups_.claim(context.tick.begin.boot_ms, claims);
  return planner_.plan(table_.entries(), claims, context);
}

void Collector::read_cgroups(bool refresh, const Grants& granted, CollectContext& context) {
  std::vector<CgroupMember> members;
  members.reserve(table_.entries().size());
  for (const auto& entry : table_.entries()) members.push_back({entry->info.cgroup, entry->charge_moved(), entry->uid});
  cgroups_.read(members, refresh, granted.count(RequestKind::cgroups) > 0, context);
}

// Calls `how` of the census. A BPF census that fails has already retried, so the census by /proc replaces it. The
// census by /proc fails only if it cannot list the processes.
template <typename Seen>
Status Collector::ask_census(Status (Census::*how)(Seen&), Seen& seen) {
  if (!census_) return Done{};
  Status by_first = (census_.get()->*how)(seen);
  if (by_first || census_->listed() != nullptr) return by_first;
  census_ = make_proc_census(proc_, *descriptors_);
  access_.census = census_->name();
  note(no_census(by_first.error().message));
  return (census_.get()->*how)(seen);
}

// Fills `pids_`. A census that does not list /proc observes all relevant processes, in half the time of a listing.
// /proc is then listed only occasionally, for kernel threads and for processes that the census omits.
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

Status Collector::find_processes(bool all, CollectContext& context) {
  CostSpan span;
  std::vector<CensusProcess> seen;
  TRY(ask_census(&Census::read, seen));
  span.add_to(context.tick.cost, CostKind::status);
  TRY(list_processes(all, seen));
  span.add_to(context.tick.cost, CostKind::list);
  scan_tracker_.forget_entries();
  table_.update(pids_, census_ ? &seen : nullptr, context);
  use_events(context);
  span.add_to(context.tick.cost, CostKind::status);
  return Done{};
}

// Takes the waiting kernel events. Returns true if an OOM killer chose a victim. `exits` are the processes that left
// the table since the previous tick.
bool Collector::take_kernel_events(const std::vector<ProcessExit>& exits) {
  if (!kernel_events_) return false;
  const Result<std::uint64_t> missing = kernel_events_->take(happened_);
  if (!missing) {
    kernel_events_ = nullptr;
    note(no_events(missing.error().message));
    return false;
  }
  lost_events_ += static_cast<std::int64_t>(*missing);
  const Moment now = clock_.now();
  bool chosen = false;
  for (const ProcessEvent& event : happened_) {
    relatives_.note(event, table_.entries());
    chosen |= exits_.note(event, table_.entries(), exits, now, scan_tracker_.scanned_ms());
  }
  return chosen;
}

void Collector::open_log(const std::string& path) {
  if (path.empty()) return;
  const Status opened = log_.open(path, proc_->root() + "/sys/kernel/dmesg_restrict", ::sysconf(_SC_PAGESIZE) / 1024,
                                  clock_.now().boot_ms);
  if (!opened) note(no_log(opened.error().message));
}

// Called before the table drops exited processes, because the log may name them.
void Collector::read_log() {
  const Moment now = clock_.now();
  const Status read = log_.take(now.boot_ms, kills_);
  if (!read) {
    log_warning(read.error().message);  // logged at once, because the note appears only with the next run
    note(no_log(read.error().message));
  }
  exits_.expect_log(log_.reads());
  if (kills_.empty()) return;
  take_kernel_events({});  // each kill is reported by an event before it is logged
  for (const OomLog::Kill& kill : kills_) exits_.note(kill, table_.entries(), now);
}

// Call it when the table is up to date, because later events belong to the next tick.
void Collector::use_events(CollectContext& context) {
  const bool had_events = kernel_events_ != nullptr;
  take_kernel_events(context.tick.exits);
  if (kernel_events_) context.tick.events.emplace().lost = lost_events_;
  const bool complete = lost_events_ == 0 && had_events == (kernel_events_ != nullptr);
  lost_.report(complete ? "" : "process events were lost: more processes started and exited than fit into the buffer");
  relatives_.see(table_.entries(), read_until_ms_, !complete);
  lost_events_ = 0;
}

Status Collector::read(CollectContext& context) {
  CostSpan span;
  const Status machine = machine_.read(context);
  if (!machine) context.note_malformed(malformed("meminfo: " + machine.error().message));
  read_log();
  span.add_to(context.tick.cost, CostKind::machine);
  const bool refresh = refresh_due(context.tick);
  TRY(find_processes(refresh, context));
  const Grants granted = plan(context);
  ProcessDetails::Jobs others = tmpfs_.ask(refresh, context.tick.begin.boot_ms, granted.count(RequestKind::walk) > 0);
  if (auto job = containers_.ask()) others.push_back(std::move(job));
  std::ranges::move(exits_.ask(identifier_), std::back_inserter(others));
  reads_.run(context, std::move(others));
  planner_.estimate_shares(table_.entries(), context, true);
  span = CostSpan();
  tmpfs_.take(identifier_.names(), context);
  containers_.take(context);
  exits_.add_to(table_.entries(), identifier_, context);
  span.add_to(context.tick.cost, CostKind::machine);
  read_cgroups(refresh, granted, context);
  if (!context.tick.oom_kills.empty() || !context.tick.oom_victims.empty()) tmpfs_.note_oom_kill();
  summaries_.read(table_.entries(), std::exchange(mapping_request_, MappingRequest::due), tmpfs_.mounts(),
                  identifier_.names(), context, granted.count(RequestKind::summary));
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
  scan_tracker_.take(table_.entries(), totals_, tick);
  tick.scans = std::exchange(scans_, {});
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
  const auto own_file = [&](const char* name) { return ::access((proc_->root() + name).c_str(), F_OK) == 0; };
  if (own_file("/self/status") && !own_file("/self/smaps_rollup")) note(kNoRollupFile);
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
  machine_.report_all();
  tmpfs_.report_all();
}

Result<Tick> Collector::collect(bool keyframe) {
  Tick tick;
  tick.keyframe = keyframe;
  tick.begin = clock_.now();
  CostSpan whole;
  CollectContext context{.tick = tick, .buffer = buffer_};
  TRY(read(context));
  assemble(tick);
  NameRedactor& names = *identifier_.name_redactor();
  names.redact(tick);
  if (std::exchange(first_, false)) {
    find_access();
    identifier_.forget_seeds();
  }
  malformed_.report(names.path(context.count_malformed()));
  blocked_.report(names.path(context.blocked));
  const auto name = [this](std::uint32_t uid) { return identifier_.user_name(uid); };
  events_ = blocked_users_.see(context.blocked_users, tick.begin, name);
  shortfalls_.see(cgroups_.left(), reads_.texts(), tick.begin, events_);
  expensive_.see(user_costs_.see(reads_.cpu_of_users(), tick.begin.boot_ms, name), tick.begin, events_);
  tick.end = clock_.now();
  read_until_ms_ = tick.end.boot_ms;
  whole.add_to(tick.total);
  planner_.spend(context);
  return tick;
}

TickSource::ScanResult Collector::scan() {
  ScanResult result;
  if (first_ || !census_) return result;
  CostSpan span;
  if (ask_census(&Census::read_brief, brief_samples_)) {
    result.available_kib = machine_.available_kib(buffer_);
    result.oom_kill = take_kernel_events({});
    result.growth = scan_tracker_.see(table_.entries(), totals_, machine_then_, brief_samples_, result.available_kib,
                                      clock_.now().wall_ms);
  }
  span.add_to(result.cost);
  scans_.add(result.cost);
  return result;
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
