// Cost of a sample compared with other programs, which run one after another over the same changing population at an
// interval of one second. Measures CPU time by the scheduler's count, bytes kept and written, the recorder's memory,
// and the time of mmap() in a process of 4 GiB and in one with 20,000 mappings. The error of Memoir's PSS is measured
// against a full reading at the same time.
//
// peers_bench [PROCESSES [KIB [SECONDS [PEERS [WARM_UP]]]]]: by default 300 processes of 2 MiB private memory each, and
// 60 s of each peer. PEERS are name prefixes of the peers to run ("memoird, a tick|atop -R"). Memoir starts 25 s
// earlier and learns during that time which processes to read; learning continues for about ten minutes. A peer that is
// not installed is skipped with a message; scripts/peers installs them.

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <arpa/inet.h>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <linux/capability.h>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "../cost.h"
#include "../floor.h"
#include "base/cached_file.h"
#include "collect/collector.h"
#include "herd.h"
#include "proc/proc_fs.h"
#include "proc/smaps_rollup.h"
#include "support/temporary_directory.h"

using namespace memoir;
using namespace memoir::bench;

namespace fs = std::filesystem;

namespace {

constexpr int kWarmUpSeconds = 5;
constexpr int kExporterPort = 19256;

struct Plan {
  std::size_t processes = 300;
  std::size_t private_kib = 2048;
  int seconds = 60;
  std::vector<std::string> only = {""};  // name prefixes of peers
  int our_warm_up_s = 25;
};

struct Peer {
  std::string name;
  std::vector<std::string> command;    // the program and its arguments; empty for the floor
  std::vector<std::string> kept = {};  // files that the program writes
  bool without_bpf = false;
  bool scraped = false;
};

struct Used {
  double cpu_ms = 0;
  double user_ms = 0;
  double system_ms = 0;
  double written = 0;
  double kept = 0;
};

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::int64_t number_after(const std::string& text, const std::string& key) {
  const auto at = text.find(key);
  return at == std::string::npos ? 0 : std::strtoll(text.c_str() + at + key.size(), nullptr, 10);
}

Used used_by(pid_t pid, const std::vector<std::string>& kept) {
  Used used;
  const fs::path proc = fmt::format("/proc/{}", pid);
  used.cpu_ms = cpu_ms_of(pid);
  const std::string stat = text_of(proc / "stat");
  const char* at = stat.c_str() + std::min(stat.rfind(')') + 2, stat.size());
  std::vector<double> fields;
  for (char* end = nullptr; *at != '\0'; at = end + (*end == ' ' ? 1 : 0)) {
    fields.push_back(std::strtod(at, &end));
    if (end == at) ++end;  // the state is a single letter
    if (*end == '\n') break;
  }
  const double ticks_per_ms = static_cast<double>(sysconf(_SC_CLK_TCK)) / 1000;
  if (fields.size() > 12) {
    used.user_ms = fields[11] / ticks_per_ms;
    used.system_ms = fields[12] / ticks_per_ms;
  }
  used.written = static_cast<double>(number_after(text_of(proc / "io"), "\nwrite_bytes: "));
  for (const std::string& file : kept) {
    std::error_code missing;
    const auto size = fs::file_size(file, missing);
    if (!missing) used.kept += static_cast<double>(size);
  }
  return used;
}

void drop_bpf() {
  for (const int capability : {CAP_SYS_ADMIN, CAP_PERFMON, CAP_BPF}) prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
}

[[noreturn]] void read_the_floor() {
  raise_descriptor_limit();
  Floor floor(true);
  while (true) {
    floor.pass();
    sleep(1);
  }
}

pid_t start(const Peer& peer) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (peer.command.empty()) read_the_floor();
  if (peer.without_bpf) drop_bpf();
  std::freopen("/dev/null", "w", stdout);
  std::freopen("/dev/null", "w", stderr);
  std::vector<char*> arguments;
  for (const std::string& word : peer.command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

// Reads the metrics as Prometheus does.
void scrape() {
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(kExporterPort);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  constexpr std::string_view request = "GET /metrics HTTP/1.0\r\n\r\n";
  std::array<char, 65536> answer{};
  if (connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
      write(connection, request.data(), request.size()) > 0) {
    while (read(connection, answer.data(), answer.size()) > 0) {
    }
  }
  close(connection);
}

bool installed(const Peer& peer) {
  if (peer.command.empty() || peer.command.front().find('/') != std::string::npos) return true;
  std::string_view path = std::getenv("PATH") != nullptr ? std::getenv("PATH") : "";
  while (!path.empty()) {
    const std::string_view folder = path.substr(0, path.find(':'));
    if (fs::exists(fs::path(folder) / peer.command.front())) return true;
    path.remove_prefix(std::min(folder.size() + 1, path.size()));
  }
  return false;
}

std::map<std::int32_t, std::int64_t> read_pss() {
  const ProcFs proc;
  std::vector<std::int32_t> pids;
  std::map<std::int32_t, std::int64_t> pss;
  Buffer buffer;
  need(proc.list(pids));
  for (const std::int32_t pid : pids) {
    const auto text = read_file(proc.path(pid, PidFile::smaps_rollup), buffer);
    ProcessMemory memory;
    if (text && parse_smaps_rollup(*text, memory)) pss[pid] = memory.or_zero(ProcessField::pss);
  }
  return pss;
}

// Compares the recorder's last tick with reads just before and after it. Omits processes that changed between the two
// reads.
void print_error(const std::string& database, const std::map<std::int32_t, std::int64_t>& before,
                 const std::map<std::int32_t, std::int64_t>& after) {
  const SQLite::Database file(database);
  SQLite::Statement rows(file,
                         "SELECT pid, pss_kib, source FROM process_at WHERE tick_id = (SELECT max(id) FROM tick) "
                         "AND pss_kib > 0");
  std::vector<double> errors;
  double recorded = 0;
  double read = 0;
  std::map<std::string, int> sources;
  while (rows.executeStep()) {
    const auto first = before.find(rows.getColumn(0).getInt());
    const auto second = after.find(rows.getColumn(0).getInt());
    if (first == before.end() || second == after.end() || first->second != second->second) continue;
    const auto kib = static_cast<double>(rows.getColumn(1).getInt64());
    const auto truth = static_cast<double>(first->second);
    ++sources[rows.getColumn(2).getString()];
    recorded += kib;
    read += truth;
    errors.push_back(std::abs(kib - truth) / truth * 100);
  }
  if (errors.empty()) return;
  std::ranges::sort(errors);
  fmt::print("  PSS against a full reading, {} processes:", errors.size());
  for (const auto& [source, count] : sources) fmt::print(" {} {},", count, source);
  fmt::print(" error of the sum {:.3f} %, 99th percentile {:.2f} %, maximum {:.2f} %\n",
             std::abs(recorded - read) / read * 100, errors[(errors.size() - 1) * 99 / 100], errors.back());
}

// Waits for `seconds`, and returns the peer's maximum RSS during this time in KiB.
std::int64_t rest(const Peer& peer, pid_t pid, int seconds) {
  std::int64_t max_kib = 0;
  for (int second = 0; second < seconds; ++second) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    if (peer.scraped) scrape();
    max_kib = std::max(max_kib, number_after(text_of(fmt::format("/proc/{}/status", pid)), "VmRSS:"));
  }
  return max_kib;
}

void measure(const Peer& peer, const Plan& plan, Victim& large, Victim& many) {
  if (!installed(peer)) return fmt::print("{:<30}not installed\n", peer.name);
  const bool ours = peer.name.starts_with("memoird");
  const pid_t pid = start(peer);
  rest(peer, pid, ours ? plan.our_warm_up_s : kWarmUpSeconds);
  large.take();
  many.take();
  const Used first = used_by(pid, peer.kept);
  const std::int64_t max_kib = rest(peer, pid, plan.seconds);
  const Used last = used_by(pid, peer.kept);
  const Victim::Latency of_large = large.take();
  const Victim::Latency of_many = many.take();
  const auto before = ours ? read_pss() : std::map<std::int32_t, std::int64_t>();
  kill(pid, SIGTERM);
  int status = 0;
  waitpid(pid, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) return fmt::print("{:<30}did not start\n", peer.name);
  const auto after = ours ? read_pss() : std::map<std::int32_t, std::int64_t>();
  const double samples = plan.seconds;
  const double each = samples * static_cast<double>(plan.processes);
  const double split = std::max(last.user_ms + last.system_ms - first.user_ms - first.system_ms, 1.0);
  const double cpu = (last.cpu_ms - first.cpu_ms) / samples;
  fmt::print("{:<30}{:>9.2f}{:>9.2f}{:>9.2f}{:>10.1f}{:>10.1f}{:>9.1f}{:>10.0f}{:>10.0f}\n", peer.name, cpu,
             cpu * (last.user_ms - first.user_ms) / split, cpu * (last.system_ms - first.system_ms) / split,
             (last.kept - first.kept) / each, (last.written - first.written) / each,
             static_cast<double>(max_kib) / 1024, of_large.p999_us, of_many.p999_us);
  if (ours) print_error(peer.kept.front(), before, after);
  std::fflush(stdout);
}

std::vector<Peer> all_peers(const std::string& folder) {
  const auto ours = [&](const std::string& name, const std::string& file, const std::string& toml, bool without_bpf,
                        const std::string& interval = "1s") {
    const std::string path = folder + "/" + file;
    std::ofstream(path + ".toml") << fmt::format("[recorder]\ndb = \"{}.db\"\ninterval = \"{}\"\n{}", path, interval,
                                                 toml);
    return Peer{
        "memoird, " + name, {MEMOIRD, "--config", path + ".toml"}, {path + ".db", path + ".db-wal"}, without_bpf};
  };
  std::ofstream(folder + "/exporter.yml") << "process_names:\n  - name: \"{{.PID}}:{{.Comm}}\"\n    cmdline: ['.+']\n";
  return {{"a bare loop that reads all", {}},
          ours("BPF", "bpf", "", false),
          ours("without BPF", "proc", "", true),
          ours("a tick each 10 s", "slow", "", false, "10s"),
          ours("reading all", "all", "[budget]\ncpu = \"unlimited\"\n", true),
          {"atop -R", {"atop", "-R", "-w", folder + "/atop-R", "1"}, {folder + "/atop-R"}},
          {"atop", {"atop", "-w", folder + "/atop", "1"}, {folder + "/atop"}},
          {"pidstat -r", {"pidstat", "-r", "1"}},
          {"process-exporter, smaps",
           {"prometheus-process-exporter", "-web.listen-address", fmt::format("127.0.0.1:{}", kExporterPort),
            "-config.path", folder + "/exporter.yml"},
           {},
           false,
           true}};
}

std::vector<std::string> split(const std::string& names) {
  std::vector<std::string> all;
  std::istringstream parts(names);
  for (std::string name; std::getline(parts, name, '|');) all.push_back(name);
  return all;
}

std::size_t argument(int argc, char** argv, int index, std::size_t otherwise) {
  return index < argc ? std::strtoul(argv[index], nullptr, 10) : otherwise;
}

}  // namespace

int main(int argc, char** argv) try {
  Plan plan;
  plan.processes = argument(argc, argv, 1, plan.processes);
  plan.private_kib = argument(argc, argv, 2, plan.private_kib);
  if (argc > 4) plan.only = split(argv[4]);
  plan.seconds = static_cast<int>(argument(argc, argv, 3, static_cast<std::size_t>(plan.seconds)));
  plan.our_warm_up_s = static_cast<int>(argument(argc, argv, 5, static_cast<std::size_t>(plan.our_warm_up_s)));
  const test::TemporaryDirectory folder;
  const Herd herd(plan.processes, plan.private_kib);
  Victim large(4096, 0);
  Victim many(16, 10'000);
  std::this_thread::sleep_for(std::chrono::seconds(kWarmUpSeconds));
  fmt::print(
      "{} processes of {} KiB private memory, 85 % of them idle, besides the machine's own; a sample each second for "
      "{} "
      "s\n"
      "CPU in ms per sample; bytes per process and sample; RSS in MiB; p99.9 of mmap + munmap in µs, of a process of "
      "4 GiB and of one of 20,000 mappings\n\n",
      plan.processes, plan.private_kib, plan.seconds);
  fmt::print("{:<30}{:>9}{:>9}{:>9}{:>10}{:>10}{:>9}{:>10}{:>10}\n", "", "CPU", "user", "system", "kept", "written",
             "RSS", "mmap 4G", "mmap 20k");
  large.take();
  many.take();
  std::this_thread::sleep_for(std::chrono::seconds(std::min(plan.seconds, 60)));
  fmt::print("{:<30}{:>66}{:>10.0f}{:>10.0f}\n", "no recorder", "", large.take().p999_us, many.take().p999_us);
  for (const Peer& peer : all_peers(folder.path())) {
    const auto begins_so = [&](const std::string& name) { return peer.name.starts_with(name); };
    if (std::ranges::any_of(plan.only, begins_so)) measure(peer, plan, large, many);
  }
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "peers_bench: {}\n", error.what());
  return 1;
}
