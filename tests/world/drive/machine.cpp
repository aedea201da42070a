#include "world/drive/machine.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/slurp.h"
#include "world/render/texts.h"

namespace memoir::world {
namespace {

// A census of the model, in place of BPF's.
class WorldCensus final : public Census {
 public:
  explicit WorldCensus(const World& world) : world_(world) {}

  Status read(std::vector<CensusProcess>& processes) override {
    processes.clear();
    for (const auto& [serial, process] : world_.processes()) processes.push_back(seen(process));
    std::ranges::sort(processes, {}, &CensusProcess::pid);
    return Done{};
  }
  std::string_view name() const override { return "bpf"; }

 private:
  CensusProcess seen(const Process& process) const {
    const Process* const parent = world_.find(process.parent);
    CensusProcess seen;
    seen.pid = process.pid;
    seen.parent_pid = parent == nullptr ? 0 : parent->pid;
    seen.uid = process.uid;
    seen.threads = 1;
    seen.start_ticks = process.start_ticks;
    seen.state = 'S';
    seen.comm = process.comm;
    const ProcessMemory memory = world_.memory(process);
    seen.memory.copy_part(memory, kProcessFields[kRollupFields].field, kStatusFields);
    seen.faulted_kib = static_cast<std::int64_t>(process.minor_faults) * 4;
    return seen;
  }

  const World& world_;
};

ProcessEvent event_of(const World& world, ProcessEventKind kind, const Process& process, std::int64_t boot_ms) {
  const Process* const parent = world.find(process.parent);
  ProcessEvent event;
  event.kind = kind;
  event.pid = process.pid;
  event.parent_pid = parent == nullptr ? 0 : parent->pid;
  event.start_ticks = process.start_ticks;
  event.boot_ns = boot_ms * 1'000'000;
  event.uid = process.uid;
  event.comm = kind == ProcessEventKind::forked && parent != nullptr ? parent->comm : process.comm;
  if (kind == ProcessEventKind::exited) event.peak_kib = process.hwm_kib;
  return event;
}

}  // namespace

Machine::Machine() {
  truth_.boot_ms = kStartMs - kUptimeMs;
  for (const auto& [serial, process] : world_.processes()) begin_image(process);
  update_peaks();
}

std::unique_ptr<Census> Machine::census() const {
  return std::make_unique<WorldCensus>(world_);
}

std::unique_ptr<ProcessEvents> Machine::events() const {
  return std::make_unique<test::FakeEvents>(events_);
}

void Machine::report(ProcessEventKind kind, const Process& process, std::int32_t exit_code) {
  if (!listening_) return;
  events_->events.push_back(event_of(world_, kind, process, clock_.now().boot_ms));
  events_->events.back().exit_code = exit_code;
}

void Machine::begin_image(const Process& process) {
  Life& life = truth_.lives[process.serial];
  life.serial = process.serial;
  life.pid = process.pid;
  life.start_ms = truth_.boot_ms + static_cast<std::int64_t>(process.start_ticks) * 10;
  Image image;
  image.comm = process.comm;
  image.command = fmt::format("{}", fmt::join(process.arguments, " "));
  image.start_ms = clock_.now().wall_ms;
  life.images.push_back(image);
}

void Machine::end_image(const Process& process, bool exits) {
  Life& life = truth_.lives.at(process.serial);
  life.images.back().end_ms = clock_.now().wall_ms;
  if (!exits) return;
  life.end_ms = clock_.now().wall_ms;
  if (listening_) pending_.push_back({process.serial, process.hwm_kib});
}

void Machine::update_peaks() {
  for (const auto& [serial, process] : world_.processes()) {
    std::int64_t& peak_kib = truth_.lives.at(serial).images.back().peak_kib;
    peak_kib = std::max(peak_kib, process.hwm_kib);
  }
}

bool Machine::apply(const Step& step) {
  const std::string& verb = step.verb();
  if (verb == "wait") return clock_.advance(step.number(0)), true;
  if (verb == "clock") {
    clock_.step_wall(step.number(0));
    truth_.clock_steps.push_back(step.number(0));
    return true;
  }
  if (verb == "odd") {
    odd_ = OddLine{step.word(0), step.serial(1), step.word(2), step.word(3)};
    return true;
  }
  const bool kills = verb == "oom";
  const bool exits = kills || verb == "exit";
  if (exits || verb == "exec") {
    const Process* const found = world_.find(step.serial(0));
    if (found == nullptr) return false;
    const Process before = *found;  // a copy, because an exit removes the process from the world
    if (kills) {
      report(ProcessEventKind::oom_victim, before);
      truth_.kills.push_back({before.serial, truth_.lives.at(before.serial).images.size() - 1, clock_.now().wall_ms});
    }
    if (exits) report(ProcessEventKind::exited, before, kills ? 9 : static_cast<std::int32_t>(step.number(1)));
    end_image(before, exits);
  }
  if (!world::apply(world_, step, clock_.now().boot_ms)) return false;
  if (verb == "start" || verb == "fork") {
    const Process& process = *world_.find(step.serial(verb == "fork" ? 1 : 0));
    report(ProcessEventKind::forked, process);
    if (verb == "start") report(ProcessEventKind::execed, process);
    begin_image(process);
  }
  if (verb == "exec") {
    const Process& process = *world_.find(step.serial(0));
    report(ProcessEventKind::execed, process);
    begin_image(process);
    execed_.insert(process.serial);
  }
  update_peaks();
  return true;
}

void Machine::render() {
  for (auto at = rendered_.begin(); at != rendered_.end();) {
    const bool lives = world_.find(at->first) != nullptr;
    if (!lives) proc_.remove(at->second.pid);
    at = lives ? std::next(at) : rendered_.erase(at);
  }
  for (const auto& [serial, process] : world_.processes()) {
    const test::FakeProcess shown = shown_process(world_, process);
    const auto before = rendered_.find(serial);
    if (before == rendered_.end()) {
      proc_.add(shown);
    } else if (execed_.contains(serial)) {
      proc_.exec(shown);
    } else if (before->second.memory != shown.memory || before->second.parent_pid != shown.parent_pid ||
               before->second.minor_faults != shown.minor_faults) {
      proc_.update(shown);
    }
    rendered_.insert_or_assign(serial, shown);
  }
  execed_.clear();
  proc_.write(SystemFile::meminfo, meminfo_text(meminfo_values(world_)));
  proc_.write(SystemFile::vmstat, vmstat_text(world_));
  if (odd_) render_odd_line();
}

void Machine::render_odd_line() {
  const auto odd_text = [this](const std::string& path) { return with_odd_line(test::slurp(path), *odd_); };
  if (odd_->serial == 0) {
    const SystemFile file = odd_->file == "vmstat" ? SystemFile::vmstat : SystemFile::meminfo;
    proc_.write(file, odd_text(proc().path(file)));
    return;
  }
  const auto process = rendered_.find(odd_->serial);
  if (process == rendered_.end()) return;
  const PidFile file = odd_->file == "status" ? PidFile::status : PidFile::smaps_rollup;
  proc_.write(process->second.pid, file, odd_text(proc().path(process->second.pid, file)));
}

void Machine::listen() {
  events_->events.clear();
  listening_ = true;
  truth_.runs.push_back({});
}

void Machine::stop_listening() {
  listening_ = false;
  pending_.clear();
}

TickTruth Machine::observe() const {
  TickTruth tick;
  tick.wall_ms = clock_.now().wall_ms;
  for (const auto& [serial, process] : world_.processes()) {
    tick.processes[serial] = {process.pid, truth_.lives.at(serial).images.size() - 1, world_.memory(process)};
  }
  tick.meminfo = meminfo_values(world_);
  tick.used_kib = world_.used_kib();
  tick.swap_kib = world_.swapped_kib();
  tick.oom_kills = world_.oom_kills();
  tick.odd = odd_;
  return tick;
}

void Machine::record_tick(TickTruth tick) {
  for (const auto& [serial, process] : world_.processes()) {
    Image& image = truth_.lives.at(serial).images.back();
    ++image.samples;
    image.known_kib = std::max(image.known_kib, process.hwm_kib);
  }
  for (const PendingExit& exit : pending_) {
    Life& life = truth_.lives.at(exit.serial);
    life.exit_reported = true;
    life.images.back().known_kib = std::max(life.images.back().known_kib, exit.hwm_kib);
    for (Kill& kill : truth_.kills) kill.reported |= kill.serial == exit.serial;
  }
  pending_.clear();
  RunTruth& run = truth_.runs.back();
  if (run.first_ms == 0) run.first_ms = tick.wall_ms;
  run.last_ms = tick.wall_ms;
  truth_.ticks.push_back(std::move(tick));
}

void Machine::end_odd_line() {
  if (!odd_) return;
  const auto process = rendered_.find(odd_->serial);
  if (process != rendered_.end()) proc_.update(process->second);
  odd_.reset();  // render() writes the machine's files again
}

}  // namespace memoir::world
