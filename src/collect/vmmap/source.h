#pragma once

// Ticks from vmmap(1): ps(1) lists the processes, vmmap lists the regions of each, one after the other. Works wherever
// the two programs print macOS's format.
//
// The number of sharers of a page is unknown there, so PSS is estimated: the resident size divided by the number of
// processes in the group. A process enters with the first tick in which vmmap lists a region of it; without regions
// afterwards its memory is unknown. The recorder excludes itself, since vmmap stops the process that it inspects.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/command.h"
#include "base/warn_once.h"
#include "collect/category/totals.h"
#include "collect/collect_context.h"
#include "collect/machine_reader.h"
#include "collect/process/name_budget.h"
#include "collect/process/seeds.h"
#include "collect/tick_source.h"
#include "collect/vmmap/ps.h"
#include "proc/vmmap.h"

namespace memoir {

struct VmmapOptions {
  std::string vmmap = "/usr/bin/vmmap";
  std::string ps = "/bin/ps";
  std::chrono::milliseconds deadline{10'000};  // for one run of either
  bool process_groups = false;                 // the groups; otherwise each process is its own
  std::size_t max_command_bytes = 4096;
  std::int64_t store_bytes = 0;  // as in set_store_bytes()
};

class VmmapSource final : public TickSource {
 public:
  // Returns an error that names the program that is missing or not executable, and the setting to change. The machine's
  // memory comes from the available files of `proc`.
  static Result<std::unique_ptr<VmmapSource>> make(const ProcFs& proc, const Clock& clock, Categoriser categoriser,
                                                   Redactor redactor, const VmmapOptions& options);

  void seed(const std::vector<KnownProcess>& known) override { seeds_.add(known); }
  void set_rules(Categoriser categoriser, Redactor redactor) override;
  void set_store_bytes(std::int64_t bytes) override { names_.resize(bytes); }
  void report_all() override;
  Result<Tick> collect(bool keyframe) override;
  const Access& access() const override { return access_; }
  const std::vector<Event>& events() const override { return events_; }

 private:
  struct Entry {
    ProcessInfo info;
    ProcessSample sample;
    std::string program;  // its program: a path, or the first word of its command line
    std::size_t category = 0;
    bool changed = false;  // `info` must be reported again
    bool mappings_reported = false;
  };
  using Listed = std::map<std::int32_t, PsProcess>;

  VmmapSource(const ProcFs& proc, const Clock& clock, Categoriser categoriser, Redactor redactor,
              const VmmapOptions& options);

  void read_machine(CollectContext& context);
  Result<Listed> list(CollectContext& context);
  void read(const PsProcess& process, std::int64_t group_size, CollectContext& context);
  void miss(const PsProcess& process, CollectContext& context);
  void see(const PsProcess& process, std::string_view path, const ProcessMemory& memory, CollectContext& context);
  void report_mappings(std::int32_t pid, VmmapProcess process, std::int64_t group_size, const CommandOutput& output,
                       CollectContext& context);
  ProcessInfo describe(const PsProcess& process, std::string_view path, const Entry* known) const;
  void report(Entry& entry, bool fresh, std::string program, ProcessInfo info, CollectContext& context);
  std::string why_unread(const Result<CommandOutput>& output) const;
  void count_unread(std::int32_t pid, const Result<CommandOutput>& output, CollectContext& context);
  void end_missing(const Listed& listed, CollectContext& context);
  void assemble(Tick& tick);

  const VmmapOptions options_;
  const CommandLimits limits_;
  const Clock& clock_;
  MachineReader machine_;
  Categoriser categoriser_;
  Redactor redactor_;
  NameBudget names_;
  Seeds seeds_;  // up to the first tick
  CategoryTotals totals_;
  Buffer buffer_;
  std::string listing_;                    // output of ps, which the listed processes point into
  std::map<std::int32_t, Entry> entries_;  // by pid
  WarnOnce malformed_;
  std::string unread_;  // in this tick, why the first unread process was not read
  WarnOnce unread_warning_;
  const Access access_;
  const std::vector<Event> events_;
};

}  // namespace memoir
