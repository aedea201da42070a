#include "collect/vmmap/source.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>
#include <unordered_map>

#include "base/text.h"
#include "collect/worker/cost_span.h"

namespace memoir {
namespace {

constexpr const char* kEstimated =
    "vmmap does not report how many processes share a page: PSS and SwapPss are estimated from RSS and swap, and the "
    "recorder itself is not included.";

// Two starts of a process may differ by this much, because ps computes them from two clocks.
constexpr std::int64_t kSameStartMs = 1'000;

Status check_program(const std::string& path, const char* key) {
  std::error_code failed;
  const bool gone = !std::filesystem::exists(path, failed);
  if (std::filesystem::is_regular_file(path, failed) && ::access(path.c_str(), X_OK) == 0) return Done{};
  return Error{
      gone ? ErrorKind::not_found : ErrorKind::denied,
      fmt::format("the source vmmap is not available here: {} {}. It needs vmmap(1) and ps(1) as macOS has "
                  "them: set {} in [vmmap] to the path of such a program, or set source = \"proc\" in [recorder]",
                  path, gone ? "does not exist" : "is not an executable file", key)};
}

// Adds the CPU time of a command to the recorder's cost.
void charge(Tick& tick, CostKind kind, std::int64_t cpu_us) {
  tick.cost[static_cast<std::size_t>(kind)].cpu_us += cpu_us;
  tick.total.cpu_us += cpu_us;
}

// The options -A and -ww list all processes with complete lines.
std::vector<std::string> ps_arguments() {
  std::vector<std::string> arguments{"-A", "-ww"};
  arguments.reserve(arguments.size() + 2 * kPsColumns.size());
  for (const std::string_view column : kPsColumns) {
    arguments.emplace_back("-o");
    arguments.push_back(std::string(column) + '=');
  }
  return arguments;
}

std::unordered_map<std::int32_t, std::int64_t> group_sizes(const std::map<std::int32_t, PsProcess>& listed) {
  std::unordered_map<std::int32_t, std::int64_t> sizes;
  for (const auto& [pid, process] : listed) ++sizes[process.group];
  return sizes;
}

ProcessMemory estimate(ProcessMemory memory, std::int64_t group_size) {
  const auto share = [&](ProcessField whole) -> std::optional<std::int64_t> {
    const auto kib = memory.get(whole);
    return kib ? std::optional(*kib / group_size) : std::nullopt;
  };
  memory.set(ProcessField::pss, share(ProcessField::rss));
  memory.set(ProcessField::swap_pss, share(ProcessField::swap));
  return memory;
}

// Splits a command line into words. A known path with blanks is one word; other arguments with blanks are several.
std::vector<std::string_view> words_of(std::string_view command, std::string_view path) {
  std::vector<std::string_view> words;
  const bool begins = !path.empty() && command.starts_with(path);
  if (begins && (command.size() == path.size() || command[path.size()] == ' ')) {
    words.push_back(command.substr(0, path.size()));
    command.remove_prefix(path.size());
  }
  for (std::string_view word; !(word = cut_word(command)).empty();) words.push_back(word);
  return words;
}

std::string program_of(const PsProcess& process, std::string_view path) {
  std::string_view command = process.command;
  return to_utf8(path.empty() ? cut_word(command) : path);
}

// Returns the name of a program: "sshd" for "/usr/sbin/sshd", and for the title "sshd: alice".
std::string comm_of(const std::string& program) {
  std::string comm = program.substr(program.rfind('/') + 1);
  if (comm.ends_with(':')) comm.pop_back();
  return comm.empty() ? "?" : comm;
}

}  // namespace

Result<std::unique_ptr<VmmapSource>> VmmapSource::make(const ProcFs& proc, const Clock& clock, Categoriser categoriser,
                                                       Redactor redactor, const VmmapOptions& options) {
  TRY(check_program(options.vmmap, "vmmap"));
  TRY(check_program(options.ps, "ps"));
  return std::unique_ptr<VmmapSource>(
      new VmmapSource(proc, clock, std::move(categoriser), std::move(redactor), options));
}

VmmapSource::VmmapSource(const ProcFs& proc, const Clock& clock, Categoriser categoriser, Redactor redactor,
                         const VmmapOptions& options)
    : options_(options),
      limits_{.time = options.deadline},
      clock_(clock),
      machine_(proc),
      categoriser_(std::move(categoriser)),
      redactor_(std::move(redactor)),
      names_(options.store_bytes),
      access_{.note = kEstimated} {}

void VmmapSource::set_rules(Categoriser categoriser, Redactor redactor) {
  categoriser_ = std::move(categoriser);
  redactor_ = std::move(redactor);
}

void VmmapSource::report_all() {
  for (auto& [pid, entry] : entries_) entry.changed = true;
}

Result<Tick> VmmapSource::collect(bool keyframe) {
  Tick tick;
  tick.keyframe = keyframe;
  tick.begin = clock_.now();
  CostSpan whole;
  CollectContext context{.tick = tick, .buffer = buffer_};
  unread_.clear();
  CostSpan span;
  read_machine(context);
  span.add_to(tick.cost, CostKind::machine);
  const Listed listed = TRY(list(context));
  end_missing(listed, context);
  span.add_to(tick.cost, CostKind::list);
  const auto sizes = group_sizes(listed);
  for (const auto& [pid, process] : listed)
    read(process, options_.process_groups ? sizes.at(process.group) : 1, context);
  span.add_to(tick.cost, CostKind::rollup);
  seeds_.clear();
  assemble(tick);
  malformed_.report(context.count_malformed());
  unread_warning_.report(unread_);
  tick.end = clock_.now();
  whole.add_to(tick.total);
  return tick;
}

void VmmapSource::read_machine(CollectContext& context) {
  const Status read = machine_.read(context);
  const bool not_there = !read && read.error().kind == ErrorKind::not_found;
  if (!read && !not_there) context.note_malformed(malformed("meminfo: " + read.error().message));
}

Result<VmmapSource::Listed> VmmapSource::list(CollectContext& context) {
  CommandOutput output = TRY(run_command(options_.ps, ps_arguments(), limits_));
  charge(context.tick, CostKind::list, output.cpu_us);
  if (!output.problem.empty())
    return Error{ErrorKind::io, fmt::format("{} ended with {}", options_.ps, output.problem)};
  listing_ = std::move(output.out);
  Listed listed;
  for (std::string_view text = listing_; !text.empty();) {
    const std::string_view line = cut_line(text);
    if (trim(line).empty()) continue;
    const auto process = parse_ps_line(line);
    if (!process) {
      context.note_malformed(process.error());
    } else if (process->pid != output.pid && process->pid != ::getpid()) {
      listed.emplace(process->pid, *process);
    }
  }
  return listed;
}

void VmmapSource::end_missing(const Listed& listed, CollectContext& context) {
  std::erase_if(entries_, [&](const auto& known) {
    const auto& [pid, entry] = known;
    const auto now = listed.find(pid);
    if (now != listed.end() && std::abs(now->second.start_ms - entry.info.start_ms) <= kSameStartMs) return false;
    context.tick.exits.push_back({entry.info.key, ExitKind::exited});
    ++context.tick.counts.exited;
    return true;
  });
}

void VmmapSource::read(const PsProcess& process, std::int64_t group_size, CollectContext& context) {
  if (process.state == 'Z') return miss(process, context);
  const auto output = run_command(options_.vmmap, {std::to_string(process.pid)}, limits_);
  if (output) charge(context.tick, CostKind::rollup, output->cpu_us);
  VmmapProcess parsed = output ? parse_vmmap(output->out, &context.tick.odd_lines) : VmmapProcess();
  if (parsed.regions > 0 && output->problem.empty()) {
    see(process, parsed.path, estimate(parsed.memory, group_size), context);
    return report_mappings(process.pid, std::move(parsed), group_size, *output, context);
  }
  count_unread(process.pid, output, context);
  miss(process, context);
}

// Marks the values of a process as unknown, if it was sampled before; skips it otherwise.
void VmmapSource::miss(const PsProcess& process, CollectContext& context) {
  const auto known = entries_.find(process.pid);
  if (known == entries_.end()) return;
  ProcessSample& sample = known->second.sample;
  sample.state = process.state;
  sample.parent_pid = process.parent_pid;
  sample.source = Source::inaccessible;
  sample.memory = {};
  if (known->second.changed) report(known->second, false, known->second.program, known->second.info, context);
}

void VmmapSource::see(const PsProcess& process, std::string_view path, const ProcessMemory& memory,
                      CollectContext& context) {
  const auto [known, fresh] = entries_.try_emplace(process.pid);
  Entry& entry = known->second;
  report(entry, fresh, program_of(process, path), describe(process, path, fresh ? nullptr : &entry), context);
  entry.sample.key = entry.info.key;
  entry.sample.state = process.state;
  entry.sample.parent_pid = process.parent_pid;
  entry.sample.source = Source::estimated;
  entry.sample.memory = memory;
}

// Reports the mappings of a process in its first tick and at keyframes.
void VmmapSource::report_mappings(std::int32_t pid, VmmapProcess parsed, std::int64_t group_size,
                                  const CommandOutput& output, CollectContext& context) {
  Entry& entry = entries_.at(pid);
  if (std::exchange(entry.mappings_reported, true) && !context.tick.keyframe) return;
  MappingSummary& summary = parsed.mappings;
  for (MappingRow& row : summary.rows) row.use.memory = estimate(row.use.memory, group_size);
  for (MappingUse& others : summary.others) others.memory = estimate(others.memory, group_size);
  std::ranges::sort(summary.rows, ranks_before);
  context.tick.summaries.push_back({.process = entry.info.key,
                                    .summary = std::move(summary),
                                    .read_ms = context.tick.begin.wall_ms,
                                    .regions = parsed.regions,
                                    .cpu_us = output.cpu_us});
}

// Describes a process. Its start time replaces the clock ticks since boot, which ps lacks. `known`: its previous state;
// nullptr for a new process.
ProcessInfo VmmapSource::describe(const PsProcess& process, std::string_view path, const Entry* known) const {
  ProcessInfo info;
  info.key = {.pid = process.pid, .start_ticks = static_cast<std::uint64_t>(process.start_ms / 1000), .exec_count = 0};
  info.start_ms = process.start_ms;
  info.parent_pid = process.parent_pid;
  if (known != nullptr) {
    info.key = known->info.key;
    info.start_ms = known->info.start_ms;
    info.parent_pid = known->info.parent_pid;
  }
  info.uid = process.uid;
  info.user = to_utf8(process.user);
  info.comm = comm_of(program_of(process, path));
  info.exe = to_utf8(path);
  const std::string_view looked_at = process.command.substr(0, options_.max_command_bytes + Redactor::kLookAhead);
  info.command = redactor_.command(words_of(looked_at, path), options_.max_command_bytes,
                                   looked_at.size() == process.command.size());
  if (info.command.empty()) info.command = '[' + info.comm + ']';
  info.category = categoriser_.category(info);
  return info;
}

// Adds the process to the tick's `born` if it is new or its description has changed.
void VmmapSource::report(Entry& entry, bool fresh, std::string program, ProcessInfo info, CollectContext& context) {
  TickCounts& counts = context.tick.counts;
  const bool fits = names_.fit(info, entry.info, context.tick.begin.boot_ms);
  if (fresh) {
    info.key.exec_count = seeds_.exec_count(info);
    ++counts.born;
  } else if (entry.program != program) {
    ++counts.execed;
    entry.mappings_reported = false;
    // A process beyond the name budget gets no row for each image that it runs.
    if (fits) context.tick.exits.push_back({entry.info.key, ExitKind::execed});
    if (fits) ++info.key.exec_count;
  } else if (!entry.changed && info == entry.info) {
    return;
  }
  entry.program = std::move(program);
  entry.info = std::move(info);
  entry.category = totals_.slot(entry.info.category);
  entry.changed = false;
  context.tick.born.push_back(entry.info);
}

std::string VmmapSource::why_unread(const Result<CommandOutput>& output) const {
  if (!output) return output.error().message;
  if (output->problem.empty()) return options_.vmmap + " reported no region of it";
  return fmt::format("{} ended with {}", options_.vmmap, output->problem);
}

// Counts why a process was not read: it has exited, it took too long, or it is not permitted.
void VmmapSource::count_unread(std::int32_t pid, const Result<CommandOutput>& output, CollectContext& context) {
  TickCounts& counts = context.tick.counts;
  if (::kill(pid, 0) != 0 && errno == ESRCH) {
    ++counts.vanished;
    return;
  }
  const bool late = !output && output.error().kind == ErrorKind::blocked;
  ++(late ? counts.blocked : counts.denied);
  if (!unread_.empty()) return;
  unread_ = fmt::format("process {}: {}", pid, why_unread(output));
}

void VmmapSource::assemble(Tick& tick) {
  totals_.clear();
  tick.processes.reserve(entries_.size());
  for (const auto& [pid, entry] : entries_) {
    tick.processes.push_back(entry.sample);
    totals_.add(entry.category, entry.sample);
    if (entry.sample.state == 'Z') ++tick.counts.zombies;
  }
  tick.counts.seen = static_cast<std::int64_t>(tick.processes.size());
  tick.categories = totals_.samples();
  std::ranges::sort(tick.exits, {}, &ProcessExit::key);
}

}  // namespace memoir
