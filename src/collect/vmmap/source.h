#pragma once

// Ticks from vmmap(1): ps(1) lists the processes, vmmap tells the regions of each, one after the other. It works
// wherever two programs print as those of macOS do.
//
// Nothing there tells how many share a page, so that PSS is estimated: the resident size over the number of processes
// in the group. A process enters with the first tick in which vmmap tells a region of it; of one that it tells no more
// of, no memory is known. The recorder leaves itself out, since vmmap stops what it looks at.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/command.h"
#include "base/complaint.h"
#include "collect/category/totals.h"
#include "collect/machine_reader.h"
#include "collect/pass.h"
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
  bool process_groups = false;                 // what the groups are; else each process is one of its own
  std::size_t max_command_bytes = 4096;
  std::int64_t store_bytes = 0;  // as of set_store_bytes()
};

class VmmapSource final : public TickSource {
 public:
  // An error says which program is not there or cannot be executed, and what to set. What is there of `proc` tells of
  // the machine.
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
    std::string program;  // what it runs: a path, or the first word of its command line
    std::size_t category = 0;
    bool changed = false;  // `info` is to be told again
  };
  using Listed = std::map<std::int32_t, PsProcess>;

  VmmapSource(const ProcFs& proc, const Clock& clock, Categoriser categoriser, Redactor redactor,
              const VmmapOptions& options);

  Status read_machine(Pass& pass);
  Result<Listed> list(Pass& pass);
  void read(const PsProcess& process, std::int64_t group_size, Pass& pass);
  void miss(const PsProcess& process, Pass& pass);
  void see(const PsProcess& process, std::string_view path, const ProcessMemory& memory, Pass& pass);
  ProcessInfo describe(const PsProcess& process, std::string_view path, const Entry* known) const;
  void tell(Entry& entry, bool fresh, std::string program, ProcessInfo info, Pass& pass);
  std::string why_unread(const Result<CommandOutput>& output) const;
  void count_unread(std::int32_t pid, const Result<CommandOutput>& output, Pass& pass);
  void end_missing(const Listed& listed, Pass& pass);
  void assemble(Tick& tick);

  const VmmapOptions options_;
  const CommandLimits limits_;
  const Clock& clock_;
  MachineReader machine_;
  Categoriser categoriser_;
  Redactor redactor_;
  NameBudget names_;
  Seeds seeds_;  // until the first tick
  CategoryTotals totals_;
  Buffer buffer_;
  std::string listing_;                    // of ps, which the processes listed point into
  std::map<std::int32_t, Entry> entries_;  // by pid
  Complaint malformed_;
  std::string unread_;  // why nothing was read of the first of which nothing was, in this tick
  Complaint unread_complaint_;
  const Access access_;
  const std::vector<Event> events_;
};

}  // namespace memoir
