#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "base/text.h"
#include "query/commands/doctor/doctor.h"
#include "query/report/format.h"

namespace memoir::query {
namespace {

constexpr const char* kStart = "systemctl start memoird, or memoird by hand";
constexpr const char* kJournal = "see journalctl -u memoird";

std::string ago(std::int64_t now_ms, std::int64_t then_ms) {
  return format_span(std::max<std::int64_t>(now_ms - then_ms, 0)) + " ago";
}

// Returns the remedy for a limitation that the recorder reported.
std::string fix_of(std::string_view sentence) {
  if (sentence.find("CAP_SYS_PTRACE") != std::string_view::npos) {
    return "run memoird as its unit, which has AmbientCapabilities=CAP_SYS_PTRACE; without systemd: setcap "
           "cap_sys_ptrace+ep on the program, or run it as root";
  }
  if (sentence.find("psi=1") != std::string_view::npos) return "add psi=1 to the kernel's command line, and reboot";
  if (sentence.find("hidepid") != std::string_view::npos) {
    return "put memoird into the group of /proc's mount option gid= (SupplementaryGroups= in the unit), or mount /proc "
           "without hidepid";
  }
  if (sentence.find("CAP_BPF") != std::string_view::npos) {
    return "run memoird as its unit, which has AmbientCapabilities=CAP_BPF CAP_PERFMON, or as root";
  }
  if (sentence.find("CAP_SYSLOG") != std::string_view::npos) {
    return "run memoird as its unit, which has AmbientCapabilities=CAP_SYSLOG, or as root";
  }
  if (sentence.find("CONFIG_DEBUG_INFO_BTF") != std::string_view::npos) return "run a kernel that has BTF";
  if (sentence.find("MEMOIR_BPF") != std::string_view::npos) return "build it with clang, bpftool and libbpf installed";
  return "see memoird(8)";
}

// Removes the full stop, because the remedy follows in the same sentence.
std::string without_stop(std::string sentence) {
  if (sentence.ends_with('.')) sentence.pop_back();
  return sentence;
}

Finding judge_run(const RecorderStatus& status, bool here) {
  if (status.recording == Recording::never || status.runs.empty()) {
    if (status.recording == Recording::active) return {"recorder", Verdict::ok, "has just started its first run", ""};
    return {"recorder", Verdict::problem, "has not recorded anything in this file yet", kStart};
  }
  const StoredRun& run = status.runs.back();
  const std::string last = run.last_tick_ms ? "the last tick is from " + ago(status.now_ms, *run.last_tick_ms)
                                            : std::string("it has not stored a tick");
  if (!here) {
    return {"recorder", Verdict::ok,
            fmt::format("the file is from {}, not from this machine: {}", to_printable(run.boot.host), last), ""};
  }
  const std::string pid = status.file.recorder_pid ? fmt::format(" (pid {})", *status.file.recorder_pid) : "";
  const std::string every = format_span(run.interval_ms);
  if (!status.holder.empty() && status.file.recorder_pid) {
    return {"recorder", Verdict::problem,
            fmt::format("runs{}, but cannot store: {} locks {}-shm; {}", pid, status.holder,
                        to_printable(status.file.path), last),
            fmt::format("end that process: kill {}", *status.file.held_by)};
  }
  switch (status.recording) {
    case Recording::active:
      return {"recorder", Verdict::ok, fmt::format("records every {}{}; {}", every, pid, last), ""};
    case Recording::late:
      return {"recorder", Verdict::problem,
              fmt::format("runs{}, but does not store a tick every {}: {}", pid, every, last),
              std::string(kJournal) + "; the disk may be full, slow or read-only"};
    case Recording::stopped:
      return {"recorder", Verdict::problem,
              fmt::format("is not running: it stopped ({}); {}", to_printable(run.stop_reason), last), kStart};
    case Recording::died:
    case Recording::never:
      break;
  }
  return {"recorder", Verdict::problem, "is not running: it crashed; " + last, fmt::format("{}; {}", kStart, kJournal)};
}

Finding judge_ticks(const TickCounts& counts) {
  if (counts.malformed > 0) {
    return {"reading", Verdict::warning,
            fmt::format("{} of kernel files could not be parsed in the last tick",
                        format_count(counts.malformed, "line", "lines")),
            "memoir status shows which; please report it with the kernel's version"};
  }
  if (counts.blocked > 0) {
    return {
        "reading", Verdict::warning,
        fmt::format("{} did not answer in time in the last tick", format_count(counts.blocked, "process", "processes")),
        "they may be stuck in the kernel (state D in memoir processes); read_deadline in memoir.toml gives them more "
        "time"};
  }
  if (counts.denied > 0) {
    return {"reading", Verdict::ok,
            fmt::format("no permission to read {} of {}: RSS is used as PSS", counts.denied,
                        format_count(counts.seen, "process", "processes")),
            ""};
  }
  return {"reading", Verdict::ok,
          fmt::format("all {} could be read", format_count(counts.seen, "process", "processes")), ""};
}

// If BPF is not used, the reason is a separate finding.
Finding judge_census(std::string_view census) {
  if (census == "bpf") return {"census", Verdict::ok, "BPF reads all processes in one pass", ""};
  return {"census", Verdict::ok,
          "/proc is read: states, threads, peaks and swap may be two minutes old, and processes between two ticks are "
          "not recorded",
          ""};
}

Finding judge_gaps(const RecorderStatus& status, Zone zone) {
  if (!status.day || status.day->gaps.empty()) return {"gaps", Verdict::ok, "none in the last day of recording", ""};
  const std::vector<Gap>& gaps = status.day->gaps;
  const auto longest = std::ranges::max_element(gaps, {}, [](const Gap& gap) { return gap.to_ms - gap.from_ms; });
  const std::string fix = longest->reason == "late" || longest->reason == "lost"
                              ? "the machine or its disk was too slow for the interval: use a longer one, or "
                                "durability = \"normal\" in memoir.toml"
                              : std::string("journalctl -u memoird --since yesterday; memoir events");
  return {"gaps", Verdict::warning,
          fmt::format("{} in the last day of recording, the longest {} at {} ({})",
                      format_count(static_cast<std::int64_t>(gaps.size()), "gap", "gaps"),
                      format_span(longest->to_ms - longest->from_ms), format_time(longest->from_ms, zone),
                      to_printable(longest->reason)),
          fix};
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  constexpr std::array<std::string_view, 3> words{"ok", "warning", "problem"};
  return words.at(static_cast<std::size_t>(verdict));
}

Findings judge_recorder(const RecorderStatus& status, bool here, Zone zone) {
  Findings findings{judge_run(status, here)};
  for (const Event& event : status.degraded) {
    findings.push_back({"degraded", Verdict::warning, without_stop(event.text), fix_of(event.text)});
  }
  if (!status.runs.empty() && !status.runs.back().census.empty())
    findings.push_back(judge_census(status.runs.back().census));
  if (status.tick) findings.push_back(judge_ticks(status.tick->counts));
  if (status.day) findings.push_back(judge_gaps(status, zone));
  if (status.unclean_ends > 0) {
    findings.push_back({"ends", Verdict::warning,
                        fmt::format("{} within the last day: killed, crashed, or the machine went down",
                                    format_count(status.unclean_ends, "unclean stop", "unclean stops")),
                        kJournal});
  }
  return findings;
}

Finding judge_pressure(bool recorded) {
  if (recorded) return {"pressure", Verdict::ok, "memory pressure (PSI) is recorded", ""};
  return {"pressure", Verdict::warning, "memory pressure (PSI) is not recorded: there is no /proc/pressure/memory",
          fix_of("psi=1")};
}

}  // namespace memoir::query
