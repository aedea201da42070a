#include "recorder/source.h"

#include <fmt/format.h>
#include <linux/capability.h>
#include <unistd.h>
#include <utility>

#include "base/cached_file.h"
#include "base/capability.h"
#include "collect/collector.h"
#include "collect/vmmap/source.h"
#include "proc/proc_fs.h"

namespace memoir {
namespace {

constexpr const char* kVmmap = "vmmap";
constexpr std::int64_t kBootIdStepMs = 60'000;

Result<std::unique_ptr<TickSource>> make_collector(const RecorderOptions& options, const Config& config, Rules rules,
                                                   const Clock& clock) {
  const CollectorOptions collecting{.max_descriptors = raise_descriptor_limit(),
                                    .max_command_bytes = static_cast<std::size_t>(config.max_command_bytes),
                                    .read_deadline = config.read_deadline,
                                    .ticks_per_second = sysconf(_SC_CLK_TCK),
                                    .cgroup_root = options.cgroups,
                                    .container_root = options.containers,
                                    .container_names = config.container_names,
                                    .tmpfs_interval = config.tmpfs_interval,
                                    .store_bytes = config.max_size,
                                    .summaries = mapping_limits(config),
                                    .min_exit_peak_kib = config.exits_min_peak / 1024,
                                    .kernel_log = options.proc == ProcFs().root() ? "/dev/kmsg" : "",
                                    .read_share_ppm = config.budget_cpu_ppm};
  ProcFs proc(options.proc);
  // probe_bpf() forks, so it runs before threads are started. It does not work with a test's own /proc tree.
  FoundByBpf found{std::unique_ptr<Census>(), std::unique_ptr<ProcessEvents>()};
  if (options.proc == ProcFs().root()) found = probe_bpf(proc);
  auto collector = make_proc_source(std::move(proc), clock, std::move(rules.categoriser), std::move(rules.redactor),
                                    collecting, std::move(found.census), std::move(found.events));
  Capability(CAP_SYSLOG).give_up();  // the kernel log is already open
  return collector;
}

Result<std::unique_ptr<TickSource>> make_vmmap(const RecorderOptions& options, const Config& config, Rules rules,
                                               const Clock& clock) {
  const VmmapOptions reading{.vmmap = config.vmmap,
                             .ps = config.ps,
                             .deadline = config.vmmap_deadline,
                             .process_groups = config.vmmap_group == "pgid",
                             .max_command_bytes = static_cast<std::size_t>(config.max_command_bytes),
                             .store_bytes = config.max_size};
  return std::unique_ptr<TickSource>(TRY(VmmapSource::make(ProcFs(options.proc), clock, std::move(rules.categoriser),
                                                           std::move(rules.redactor), reading)));
}

}  // namespace

Result<std::unique_ptr<TickSource>> make_source(const RecorderOptions& options, const Config& config, Rules rules,
                                                const Clock& clock) {
  const auto make = config.source == kVmmap ? make_vmmap : make_collector;
  return make(options, config, std::move(rules), clock);
}

Result<BootInfo> boot_of(const RecorderOptions& options, const Config& config, const Moment& now, std::string& lack) {
  const ProcFs proc(options.proc);
  Result<BootInfo> boot = proc.boot(now);
  std::vector<std::int32_t> pids;
  if (boot || (config.source != kVmmap && !proc.list(pids))) return boot;
  const bool expected = config.source == kVmmap && boot.error().kind == ErrorKind::not_found;
  if (!expected)
    lack = fmt::format(
        "The boot id is unreadable ({}), so the boot is identified by its time. If the wall clock is set, the same "
        "boot appears as another one.",
        boot.error().message);
  BootInfo info = TRY(this_machine(now));
  info.boot_id = fmt::format("boot-{}", info.boot_ms / kBootIdStepMs);
  return info;
}

}  // namespace memoir
