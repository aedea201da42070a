// Cost of starting memoird until its first tick is stored, and its cost while idle. Real processes, with the default
// configuration: a tick every 10 s, a scan every second.
//
// start_bench [PROCESSES [STARTS [IDLE_SECONDS]]]: by default 300 sleeping processes, ten starts with a new file, ten
// with an existing file, and then a minute of idling.

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "base/file.h"
#include "cost.h"
#include "population.h"
#include "support/child.h"
#include "support/temporary_directory.h"

using namespace memoir;
using namespace memoir::bench;
using Steady = std::chrono::steady_clock;

namespace {

// The service manager's end of sd_notify(3): memoird sends READY=1 when its first tick is stored.
class Manager {
 public:
  explicit Manager(const std::string& folder) : path_(folder + "/notify"), socket_(::socket(AF_UNIX, SOCK_DGRAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("cannot listen at " + path_);
    const timeval patience{.tv_sec = 60, .tv_usec = 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }

  const std::string& path() const { return path_; }

  void await(const std::string& word) const {
    std::string text;
    while (text != word) {
      text.resize(4096);
      const ssize_t got = ::recv(socket_.get(), text.data(), text.size(), 0);
      if (got < 0) throw std::runtime_error("memoird did not send " + word + " within a minute");
      text.resize(static_cast<std::size_t>(got));
    }
  }

 private:
  std::string path_;
  Fd socket_;
};

class Bench {
 public:
  explicit Bench(std::size_t processes) : population_(processes, 2048), manager_(folder_.path()) {
    std::ofstream(config_) << "[recorder]\ndb = \"" << db_ << "\"\n";
  }

  void start_often(const char* title, std::size_t starts, bool new_file) {
    std::vector<double> cpu;
    std::vector<double> wall;
    for (std::size_t i = 0; i < starts; ++i) {
      for (const char* end : {"", "-wal", "-shm"}) {
        if (new_file) ::unlink((db_ + end).c_str());
      }
      const auto start = Steady::now();
      test::Child recorder(program());
      manager_.await("READY=1");
      wall.push_back(std::chrono::duration<double, std::milli>(Steady::now() - start).count());
      cpu.push_back(cpu_ms_of(recorder.pid()));
      recorder.signal(SIGTERM);
      recorder.wait();
    }
    fmt::print("{:<34}{:>10.0f}{:>10.0f}{:>12.0f}{:>10.0f}\n", title, *std::ranges::min_element(cpu), median(cpu),
               *std::ranges::min_element(wall), median(wall));
    std::fflush(stdout);
  }

  // After the first tick, a keyframe that reads all new processes, memoird gets half a minute to settle.
  void idle(int seconds) {
    test::Child recorder(program());
    manager_.await("READY=1");
    std::this_thread::sleep_for(std::chrono::seconds(30));
    const double before = cpu_ms_of(recorder.pid());
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
    const double used_ms = cpu_ms_of(recorder.pid()) - before;
    fmt::print("\nidle for {} s: {:.1f} ms of CPU, {:.3f} % of a core; {}\n", seconds, used_ms, used_ms / seconds / 10,
               rss_line(recorder.pid()));
    recorder.signal(SIGTERM);
    recorder.wait();
  }

 private:
  static std::string rss_line(pid_t pid) {
    std::ifstream status("/proc/" + std::to_string(pid) + "/status");
    std::string line;
    while (std::getline(status, line)) {
      if (line.starts_with("VmRSS:")) return line;
    }
    return "memoird ended";
  }
  test::Program program() const {
    return {.path = MEMOIRD, .arguments = {"--config", config_}, .environment = {"NOTIFY_SOCKET=" + manager_.path()}};
  }

  Population population_;
  test::TemporaryDirectory folder_;
  std::string db_ = folder_.path() + "/memoir.db";
  std::string config_ = folder_.path() + "/memoir.toml";
  Manager manager_;
};

}  // namespace

int main(int argc, char** argv) try {
  const auto argument = [&](int at, std::size_t otherwise) {
    return argc > at ? std::strtoul(argv[at], nullptr, 10) : otherwise;
  };
  const std::size_t processes = argument(1, 300);
  const std::size_t starts = argument(2, 10);
  Bench bench(processes);
  fmt::print("memoird with {} sleeping processes, {} starts each; ms until the first tick is stored\n\n", processes,
             starts);
  fmt::print("{:<34}{:>10}{:>10}{:>12}{:>10}\n", "", "CPU least", "median", "wall least", "median");
  bench.start_often("into a new file", starts, true);
  bench.start_often("into the same file", starts, false);
  bench.idle(static_cast<int>(argument(3, 60)));
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "start_bench: {}\n", error.what());
  return 1;
}
