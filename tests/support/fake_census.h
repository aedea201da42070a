#pragma once

// A census of a fake /proc, which reads stat and status of each process.

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "census/census.h"
#include "proc/pid_stat.h"
#include "proc/status.h"

namespace memoir::test {

class FakeCensus final : public Census {
 public:
  // The behaviour, which a test shares and sets.
  struct Script {
    std::set<std::int32_t> hidden;  // pids that the census omits
    bool fails = false;
    int reads = 0;
  };

  FakeCensus(ProcFs proc, std::shared_ptr<Script> script) : proc_(std::move(proc)), script_(std::move(script)) {}

  Status read(std::vector<CensusProcess>& processes) override {
    ++script_->reads;
    if (script_->fails) return Error{ErrorKind::io, "the iterator is gone"};
    processes.clear();
    std::vector<std::int32_t> pids;
    if (Status listed = proc_.list(pids); !listed) return listed;
    for (const std::int32_t pid : pids) {
      if (!script_->hidden.contains(pid)) add(pid, processes);
    }
    return Done{};
  }

  std::string_view name() const override { return "fake"; }

 private:
  void add(std::int32_t pid, std::vector<CensusProcess>& processes) {
    CensusProcess process;
    process.pid = pid;
    const auto stat_text = read_file(proc_.path(pid, PidFile::stat), buffer_);
    const auto stat = stat_text ? parse_pid_stat(*stat_text) : Result<PidStat>(stat_text.error());
    if (!stat || stat->kernel_thread()) return;
    process.start_ticks = stat->start_ticks;
    const auto status_text = read_file(proc_.path(pid, PidFile::status), buffer_);
    const auto head =
        status_text ? parse_status(*status_text, process.memory) : Result<StatusHead>(status_text.error());
    if (!head) return;
    process.comm = unescape_name(head->name.value());
    process.state = head->state.value();
    process.parent_pid = head->parent_pid.value();
    process.uid = head->uid.value();
    process.threads = head->threads.value();
    processes.push_back(std::move(process));
  }

  const ProcFs proc_;
  const std::shared_ptr<Script> script_;
  Buffer buffer_;
};

}  // namespace memoir::test
