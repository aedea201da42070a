// Processes of the day: titles of identities, highest peaks, restarts, the recorder itself.

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "analysis/restarts.h"
#include "query/args/times.h"
#include "query/commands/summary/summary.h"
#include "query/history/marks.h"
#include "query/history/restarts.h"
#include "query/state/process_columns.h"
#include "store/names.h"

namespace memoir::query {

namespace {

constexpr std::size_t kMaxHolders = 3;
constexpr std::size_t kMaxProcesses = 10;
constexpr std::size_t kMaxCommands = 64;  // maximum number of commands that are compared for an identity's title
constexpr std::size_t kMaxMarks = 20'000;
// A restart loop: a service that starts at least this often within an hour, each time soon after it exited.
constexpr std::size_t kLoopStarts = 5;
constexpr std::int64_t kLoopPauseMs = 30'000;
constexpr std::size_t kMaxLoops = 20;

std::vector<Holding> holders_at(const std::vector<Usage>& identities, const std::optional<Extremum>& peak) {
  std::vector<Holding> holders;
  for (const Usage& of : identities) {
    std::optional<std::int64_t> kib;
    for (const Interval& bucket : of.series) {
      const bool then = peak && bucket.from_ms <= peak->from_ms && peak->from_ms < bucket.until_ms;
      if (then && bucket.mean) kib = kib.value_or(0) + *bucket.mean;
    }
    if (kib) holders.push_back({with_pid(of.title, of.pid), *kib});
  }
  std::ranges::stable_sort(holders, [](const Holding& a, const Holding& b) { return a.kib > b.kib; });
  holders.resize(std::min(holders.size(), kMaxHolders));
  return holders;
}

// Collects the data of the sections from the processes of the day, which may be very many.
class DayProcesses {
 public:
  static Result<DayProcesses> load(const Context& context, const DaySummary& summary) {
    DayProcesses processes(context, summary.day);
    TRY(processes.load_marks());
    for (const Usage& of : summary.identities) processes.members_[of.name];
    TRY(visit_processes(processes.reader_, processes.range_,
                        [&processes](const StoredProcess& process) { processes.add(process); }));
    TRY(processes.find_long_lived());
    processes.find_loops();
    return processes;
  }

  void add_titles(std::vector<Usage>& identities) const {
    for (Usage& of : identities) {
      const Members& all = members_.at(of.name);
      if (all.count == 0) continue;
      of.title = identity_title(all.newest, all.commands);
      if (all.count == 1) of.pid = all.newest.key.pid;
    }
  }

  // Returns only loops of services: other programs are often run repeatedly.
  Result<std::vector<RestartLoop>> loops() const {
    std::vector<RestartLoop> list;
    for (const LifeRow& row : loop_rows_) {
      for (const StoredProcess& process : TRY(load_processes_by_id(reader_, {row.last_id}))) {
        if (!TRY(is_service(process))) continue;
        list.push_back({identity_title(process.info), row.starts, row.first_ms, row.last_ms});
      }
    }
    return list;
  }

  std::vector<ProcessPeak> take_peaks() { return std::move(peaks_); }

  Result<std::vector<Restarted>> restarts() const {
    std::map<std::string_view, std::size_t> last;
    std::map<std::string_view, Restarted> by_identity;
    for (const Restart& restart : find_restarts(lives_)) {
      const Life& life = lives_[restart.ended];
      Restarted& of = by_identity[life.identity];
      of.name = life.identity;
      ++of.times;
      of.last_ms = *life.exited_ms;
      of.lived_ms = *life.exited_ms - life.begin_ms;
      of.pause_ms = std::max<std::int64_t>(lives_[restart.begun].begin_ms - life.last_ms, 0);
      last[life.identity] = restart.ended;
    }
    for (const auto& [identity, ended] : last) {
      Restarted& of = by_identity.at(identity);
      for (const StoredProcess& process : TRY(load_processes_by_id(reader_, {ids_of_lives_[ended]}))) {
        of.title = identity_title(process.info);
        of.is_service = TRY(is_service(process));
      }
      const auto mark = marks_.find(ids_of_lives_[ended]);
      if (mark != marks_.end()) of.hwm_kib = mark->second.value_kib;
    }
    std::vector<Restarted> list = taken_from(by_identity);
    std::ranges::stable_sort(list, [](const Restarted& a, const Restarted& b) { return a.times > b.times; });
    return list;
  }

  // Returns the memory of the recorder, which is among the recorded processes.
  Result<SpanStats> own_memory(Tier tier) const {
    std::vector<Interval> series;
    for (const std::int64_t id : recorders_) {
      TRY(reader_.history({tier, SubjectKind::process, id, range_, {Metric::pss}, true},
                          [&series](const SubjectInterval& of) { series.push_back(of.interval); }));
    }
    return span_stats_of(series, day_.begin_ms, day_.end_ms);
  }

 private:
  // A restart loop of an identity.
  struct LifeRow {
    std::int64_t identity_id = 0;
    std::int64_t last_id = 0;  // process of the last start
    std::int64_t starts = 0;
    std::int64_t first_ms = 0;
    std::int64_t last_ms = 0;
  };

  struct DayLife : StoredLife {
    std::int64_t last_ms = 0;
    bool execed = false;
  };

  // The processes of an identity.
  struct Members {
    std::int64_t count = 0;
    std::int64_t newest_id = 0;
    ProcessInfo newest;
    std::vector<std::string> commands;  // distinct command lines
  };

  DayProcesses(const Context& context, const Day& day)
      : reader_(context.reader), day_(day), range_{day.begin_ms, day.end_ms - 1} {
    for (const StoredRun& run : context.runs) runs_.emplace(run.boot.boot_id, run.pid);
  }

  // Loads the marks of processes that were reached on the day; the store keeps marks by UTC day.
  Status load_marks() {
    const ProcessMarks marks = TRY(reader_.process_marks(range_, range_, Metric::hwm, kMaxMarks));
    for (const HighWater& mark : marks.marks) {
      if (reached_on(mark, day_)) marks_.emplace(mark.subject_id, mark);
    }
    return Done{};
  }

  // Finds the lives of programs that may have been restarted.
  Status find_long_lived() {
    RestartCandidates candidates;
    for (const DayLife& life : day_lives_) candidates.add(life);
    long_lived_ = TRY(candidates.load(reader_));
    for (const DayLife& life : day_lives_) {
      const auto name = long_lived_.find(life.identity_id);
      if (name == long_lived_.end()) continue;
      // An exec is not an exit: it adds a row of the same process.
      const bool exited = life.exited_ms && !life.execed && day_.holds(*life.exited_ms);
      lives_.push_back({name->second, life.start_ms, life.last_ms, exited ? life.exited_ms : std::nullopt});
      ids_of_lives_.push_back(life.process_id);
    }
    return Done{};
  }

  // Finds restart loops: short runs of an identity, each first observed after the previous one had exited.
  void find_loops() {
    std::vector<DayLife>& lives = day_lives_;
    std::ranges::sort(lives, {}, [](const DayLife& life) { return std::pair(life.identity_id, life.start_ms); });
    for (std::size_t i = 0; i < lives.size() && loop_rows_.size() < kMaxLoops;) {
      std::size_t end = i + 1;
      while (end < lives.size() && follows(lives[end - 1], lives[end])) ++end;
      const std::size_t starts = end - i;
      const bool fast = starts >= kLoopStarts && lives[i + kLoopStarts - 1].start_ms - lives[i].start_ms <= kHourMs;
      if (fast && day_.holds(lives[end - 1].start_ms)) add_loop(lives[i], lives[end - 1], starts);
      i = end;
    }
  }

  void add_loop(const StoredLife& first, const StoredLife& last, std::size_t starts) {
    if (loop_rows_.empty() || loop_rows_.back().identity_id != last.identity_id)
      loop_rows_.push_back({.identity_id = last.identity_id, .first_ms = first.start_ms});
    LifeRow& row = loop_rows_.back();
    row.last_id = last.process_id;
    row.starts += static_cast<std::int64_t>(starts);
    row.last_ms = last.start_ms;
  }

  static bool follows(const StoredLife& before, const StoredLife& life) {
    return before.identity_id == life.identity_id && before.exited_ms && life.first_ms >= *before.exited_ms &&
           *before.exited_ms - before.start_ms < RestartRule().min_life_ms &&
           life.start_ms - *before.exited_ms <= kLoopPauseMs;
  }

  // Returns whether the parent is a service manager or a container engine.
  Result<bool> is_service(const StoredProcess& process) const {
    if (process.info.parent_pid == 1) return true;
    const Range then{process.info.start_ms, process.first_ms};
    for (const StoredProcess& parent : TRY(load_processes_of_pid(reader_, then, process.info.parent_pid))) {
      const std::string& comm = parent.info.comm;
      if (comm == "systemd" || comm == "supervisord" || comm == "runsv" || comm == "s6-supervise" || comm == "conmon" ||
          comm.starts_with("containerd-shim"))
        return true;
    }
    return false;
  }

  void add(const StoredProcess& process) {
    if (const auto of = members_.find(group_key(process, "identity")); of != members_.end())
      add_member(process, of->second);
    add_peak(process);
    day_lives_.push_back({{process.id, process.identity_id, process.info.key.pid, process.info.start_ms,
                           process.first_ms, process.exited_ms},
                          process.last_ms,
                          process.exit_kind == "execed"});
    if (process.info.comm == "memoird" && runs_.contains({process.boot_id, process.info.key.pid}))
      recorders_.push_back(process.id);
  }

  static void add_member(const StoredProcess& process, Members& of) {
    ++of.count;
    if (process.id > of.newest_id) {
      of.newest_id = process.id;
      of.newest = process.info;
    }
    if (of.commands.size() < kMaxCommands && std::ranges::find(of.commands, process.info.command) == of.commands.end())
      of.commands.push_back(process.info.command);
  }

  void add_peak(const StoredProcess& process) {
    const auto mark = marks_.find(process.id);
    if (mark == marks_.end()) return;
    const HighWater& found = mark->second;
    const auto place = std::ranges::find_if(
        peaks_, [&found](const ProcessPeak& peak) { return peak.mark.value_kib < found.value_kib; });
    if (place == peaks_.end() && peaks_.size() == kMaxProcesses) return;
    peaks_.insert(place, {process, found});
    if (peaks_.size() > kMaxProcesses) peaks_.pop_back();
  }

  Reader& reader_;
  Day day_;
  Range range_;
  std::set<std::pair<std::string, std::int32_t>> runs_;
  std::unordered_map<std::int64_t, HighWater> marks_;
  std::unordered_map<std::int64_t, std::string> long_lived_;  // program names by identity id
  std::unordered_map<std::string, Members> members_;
  std::vector<ProcessPeak> peaks_;
  std::vector<DayLife> day_lives_;  // lives of all processes
  std::vector<Life> lives_;         // lives of the identities in long_lived_
  std::vector<std::int64_t> ids_of_lives_;
  std::vector<std::int64_t> recorders_;
  std::vector<LifeRow> loop_rows_;
};

}  // namespace

Status load_day_processes(const Context& context, DaySummary& summary) {
  DayProcesses processes = TRY(DayProcesses::load(context, summary));
  processes.add_titles(summary.identities);
  summary.holders = holders_at(summary.identities, summary.today().used.highest);
  summary.processes = processes.take_peaks();
  summary.restarts = TRY(processes.restarts());
  summary.loops = TRY(processes.loops());
  summary.recorder.pss = TRY(processes.own_memory(summary.tier));
  return Done{};
}

}  // namespace memoir::query
