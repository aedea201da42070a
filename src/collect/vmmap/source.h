#pragma once

// Makes ticks with vmmap(1): ps(1) lists the processes, then vmmap lists the regions of each process. Works wherever
// the two programs print macOS's format.
//
// vmmap does not report how many processes share a page. So PSS is estimated: the resident size divided by the number
// of processes in the group. A process is included from the first tick in which vmmap lists a region of it. If vmmap
// lists none of its regions later, the memory of the process is unknown. The recorder excludes itself, because vmmap
// stops the process that it inspects.

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
  std::chrono::milliseconds deadline{10'000};  // limit of one run of vmmap or ps
  bool process_groups = false;                 // whether groups are process groups; otherwise each process is a group
  std::size_t max_command_bytes = 4096;
  std::int64_t store_bytes = 0;  // maximum size of the store, as in set_store_bytes()
};

class VmmapSource final : public TickSource {
 public:
  // Returns an error that names the missing or not executable program, and the setting to change. The machine's memory
  // comes from the files of `proc` that exist.
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
    std::string program;  // a path, or the first word of its command line
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
  Seeds seeds_;  // used only up to the first tick
  CategoryTotals totals_;
  Buffer buffer_;
  std::string listing_;                    // output of ps; the listed processes are views into it
  std::map<std::int32_t, Entry> entries_;  // sorted by pid
  WarnOnce malformed_;
  std::string unread_;  // why the first unread process of this tick was not read
  WarnOnce unread_warning_;
  const Access access_;
  const std::vector<Event> events_;
};

}  // namespace memoir
