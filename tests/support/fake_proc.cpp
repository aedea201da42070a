#include "support/fake_proc.h"

#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <stdexcept>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

namespace memoir::test {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kPageKib = 4;
constexpr uid_t kNobody = 65534;

// Writes in place if the file exists, so that open descriptors read the new text.
void write_file(const std::string& path, std::string_view text) {
  if (fs::exists(path)) fs::permissions(path, fs::perms(0644));
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  if (!out.flush()) throw std::runtime_error("cannot write " + path);
}

// Truncates the file first, so that open descriptors read nothing.
void remove_file(const std::string& path) {
  if (!fs::exists(fs::symlink_status(path))) return;
  if (fs::is_regular_file(fs::symlink_status(path))) write_file(path, "");
  fs::remove(path);
}

void link(const std::string& path, const std::string& target) {
  fs::remove(path);
  if (!target.empty()) fs::create_symlink(target, path);
}

std::string field_lines(const ProcessMemory& memory, std::size_t first, std::size_t end, const char* format) {
  std::string text;
  for (std::size_t i = first; i < end; ++i) {
    const auto value = memory.get(static_cast<ProcessField>(i));
    if (value) text += fmt::format(fmt::runtime(format), std::string(kProcessFields[i].key) + ':', *value);
  }
  return text;
}

std::string escape(std::string_view comm) {
  std::string out;
  for (const char c : comm) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\\') {
      out += "\\\\";
    } else {
      out += c;
    }
  }
  return out;
}

std::string stat_text(const FakeProcess& p) {
  const unsigned flags = p.kernel_thread ? 0x00208040U : 0x00400000U;
  return fmt::format(
      "{} ({}) {} {} {} {} 0 -1 {} {} 0 {} 0 0 0 0 0 20 0 {} 0 {} {} {} 18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 "
      "17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
      p.pid, p.comm, p.state, p.parent_pid, p.pid, p.pid, flags, p.minor_faults, p.major_faults, p.threads,
      p.start_ticks, p.memory.or_zero(ProcessField::vm_size) * 1024, p.memory.or_zero(ProcessField::vm_rss) / kPageKib);
}

std::string statm_text(const FakeProcess& p) {
  const auto pages = [&p](ProcessField field) { return p.memory.or_zero(field) / kPageKib; };
  return fmt::format("{} {} {} {} 0 {} 0\n", pages(ProcessField::vm_size), pages(ProcessField::vm_rss),
                     pages(ProcessField::rss_file) + pages(ProcessField::rss_shmem), pages(ProcessField::vm_exe),
                     pages(ProcessField::vm_data) + pages(ProcessField::vm_stk));
}

std::string status_text(const FakeProcess& p) {
  std::string text = fmt::format(
      "Name:\t{}\nUmask:\t0022\nState:\t{} (sleeping)\nTgid:\t{}\nNgid:\t0\nPid:\t{}\nPPid:\t{}\nTracerPid:\t0\n"
      "Uid:\t{}\t{}\t{}\t{}\nGid:\t0\t0\t0\t0\nFDSize:\t64\nGroups:\t \nKthread:\t{}\n",
      escape(p.comm), p.state, p.pid, p.pid, p.parent_pid, p.uid, p.uid, p.uid, p.uid, p.kernel_thread ? 1 : 0);
  text += field_lines(p.memory, kRollupFields, kRollupFields + kStatusFields, "{}\t{:8} kB\n");
  return text + fmt::format("Threads:\t{}\nSigQ:\t0/31000\nCpus_allowed_list:\t0-1\n", p.threads);
}

std::string rollup_text(const FakeProcess& p) {
  return "00400000-7ffd5e5ff000 ---p 00000000 00:00 0                          [rollup]\n" +
         field_lines(p.memory, 0, kRollupFields, "{:<16}{:8} kB\n");
}

std::string cmdline_text(const FakeProcess& p) {
  std::string text;
  for (const std::string& argument : p.arguments) text += argument + '\0';
  return text;
}

bool has_rollup(const FakeProcess& p) {
  return p.smaps_rollup || (!p.kernel_thread && p.state != 'Z');
}

}  // namespace

ProcessMemory memory_of(std::int64_t private_kib, std::int64_t shared_kib) {
  using F = ProcessField;
  ProcessMemory m;
  for (std::size_t i = 0; i < kRollupFields + kStatusFields; ++i) m.set(static_cast<F>(i), 0);
  m.set(F::shared_swap, 0);  // the value on a machine without swap
  const std::int64_t rss = private_kib + shared_kib;
  for (const F field : {F::private_dirty, F::pss_dirty, F::pss_anon, F::anonymous, F::rss_anon, F::vm_data}) {
    m.set(field, private_kib);
  }
  m.set(F::shared_clean, shared_kib);
  m.set(F::rss_file, shared_kib);
  m.set(F::pss_file, shared_kib / 2);
  m.set(F::pss, private_kib + shared_kib / 2);
  for (const F field : {F::rss, F::referenced, F::vm_rss, F::vm_hwm, F::vm_size, F::vm_peak}) m.set(field, rss);
  return m;
}

FakeProc::FakeProc() : proc_(directory_.path() + "/proc") {
  fs::permissions(directory_.path(), fs::perms(0755));
  fs::create_directories(root() + "/pressure");
  fs::create_directories(root() + "/sys/kernel/random");
  fs::create_directories(root() + "/sysvipc");
  fs::create_directories(root() + "/self");
  write(SystemFile::boot_id, std::string(kBootId) + '\n');
  write(SystemFile::meminfo,
        "MemTotal:        8388608 kB\nMemFree:         4194304 kB\nMemAvailable:    6291456 kB\n"
        "Buffers:          102400 kB\nCached:          2097152 kB\nSwapTotal:       1048576 kB\n"
        "SwapFree:        1048576 kB\nShmem:            102400 kB\nSlab:             204800 kB\n");
  write(SystemFile::vmstat, "nr_free_pages 1048576\npgfault 100\npgmajfault 1\npswpin 0\npswpout 0\noom_kill 0\n");
  write(SystemFile::pressure_memory,
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
}

void FakeProc::add(const FakeProcess& process) {
  if (!fs::create_directory(root() + '/' + std::to_string(process.pid))) {
    throw std::runtime_error("there is a process " + std::to_string(process.pid) + " already: remove it first");
  }
  write_files(process);
  write_links(process);
}

void FakeProc::update(const FakeProcess& process) {
  write_files(process);
}

void FakeProc::exec(const FakeProcess& process) {
  remove(process.pid, PidFile::smaps_rollup);
  remove(process.pid, PidFile::smaps);
  write_files(process);
  write_links(process);
}

void FakeProc::become_zombie(FakeProcess process) {
  process.state = 'Z';
  process.memory = {};
  process.arguments.clear();
  process.exe.clear();
  process.cwd.clear();
  remove(process.pid, PidFile::smaps_rollup);
  remove(process.pid, PidFile::smaps);
  process.smaps.reset();
  write_files(process);
  write_links(process);
}

void FakeProc::remove(std::int32_t pid) {
  for (const PidFile file : {PidFile::stat, PidFile::statm, PidFile::status, PidFile::smaps_rollup, PidFile::smaps,
                             PidFile::cmdline, PidFile::cgroup}) {
    remove(pid, file);
  }
  fs::remove_all(root() + '/' + std::to_string(pid));
}

void FakeProc::write_files(const FakeProcess& p) {
  write(p.pid, PidFile::stat, p.stat.value_or(stat_text(p)));
  write(p.pid, PidFile::statm, p.statm.value_or(statm_text(p)));
  write(p.pid, PidFile::status, p.status.value_or(status_text(p)));
  write(p.pid, PidFile::cmdline, p.cmdline.value_or(cmdline_text(p)));
  write(p.pid, PidFile::cgroup, p.cgroup_text.value_or("0::" + p.cgroup + '\n'));
  if (has_rollup(p)) write(p.pid, PidFile::smaps_rollup, p.smaps_rollup.value_or(rollup_text(p)));
  if (p.smaps) write(p.pid, PidFile::smaps, *p.smaps);
}

void FakeProc::write_links(const FakeProcess& p) {
  const std::string directory = root() + '/' + std::to_string(p.pid);
  link(directory + "/exe", p.exe);
  link(directory + "/cwd", p.cwd);
}

void FakeProc::write(std::int32_t pid, PidFile file, std::string_view text) {
  const std::string path = proc_.path(pid, file);
  if (!fs::is_fifo(path)) write_file(path, text);
}

void FakeProc::remove(std::int32_t pid, PidFile file) {
  remove_file(proc_.path(pid, file));
}

void FakeProc::deny(std::int32_t pid, PidFile file) {
  fs::permissions(proc_.path(pid, file), fs::perms::none);
}

void FakeProc::block(std::int32_t pid, PidFile file) {
  const std::string path = proc_.path(pid, file);
  remove_file(path);
  if (::mkfifo(path.c_str(), 0644) != 0) throw std::runtime_error("cannot make the fifo " + path);
}

bool FakeProc::unblock(std::int32_t pid, PidFile file) {
  // Opening the other end succeeds only if a reader waits at this end (fifo(7)), and releases the reader.
  const std::string path = proc_.path(pid, file);
  const Fd writer(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  if (writer) fs::remove(path);
  return writer.valid();
}

void FakeProc::write(SystemFile file, std::string_view text) {
  write_file(proc_.path(file), text);
}

void FakeProc::remove(SystemFile file) {
  remove_file(proc_.path(file));
}

AsOrdinaryUser::AsOrdinaryUser() : changed_(::geteuid() == 0) {
  // The file system's user id belongs to the thread, and root's file capabilities follow it (setfsuid(2)).
  if (changed_) ::setfsuid(kNobody);
}

AsOrdinaryUser::~AsOrdinaryUser() {
  if (changed_) ::setfsuid(0);
}

}  // namespace memoir::test
