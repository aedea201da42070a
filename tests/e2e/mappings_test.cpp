// Real processes map known amounts of each kind, which `memoir mappings` and `memoir objects` show.

#include <array>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recording.h"
#include "support/catch.h"

using namespace memoir::test;
using nlohmann::json;

namespace {

constexpr std::size_t kMib = 1024 * 1024;

void touch(void* at, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += 4096) static_cast<volatile char*>(at)[i] = 1;
}

void map(int fd, std::size_t bytes) {
  if (fd >= 0 && ::ftruncate(fd, static_cast<off_t>(bytes)) != 0) ::_exit(1);
  const int flags = MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0);
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
  if (at == MAP_FAILED) ::_exit(1);
  touch(at, bytes);
}

// Maps all objects; called in both children. Then one of them allocates more.
void map_all(int memfd, int deleted, int tmpfs, int segment, bool first) {
  map(memfd, 8 * kMib);
  touch(::shmat(segment, nullptr, 0), 1 * kMib);
  if (!first) return;
  map(deleted, 4 * kMib);
  map(tmpfs, 3 * kMib);
  map(-1, 2 * kMib);
  touch(::sbrk(6 * kMib), 6 * kMib);
}

// A unique name, because objects with the same name are one row and another test may run at the same time.
std::string memfd_name() {
  return "mappings test " + std::to_string(::getpid());
}

// Two processes that map the same memfd and segment.
class Mappers {
 public:
  explicit Mappers(const std::string& folder)
      : tmpfs_path_("/dev/shm/memoir-mappings-" + std::to_string(::getpid())), path_(folder + "/gone file") {
    const int memfd = ::memfd_create(memfd_name().c_str(), 0);
    const int deleted = ::open(path_.c_str(), O_RDWR | O_CREAT, 0600);
    const int tmpfs = ::open(tmpfs_path_.c_str(), O_RDWR | O_CREAT, 0600);
    segment_ = ::shmget(IPC_PRIVATE, kMib, IPC_CREAT | 0600);
    ::unlink(path_.c_str());
    for (const bool first : {true, false}) {
      std::array<int, 2> ready{};
      REQUIRE(::pipe(ready.data()) == 0);
      const pid_t pid = ::fork();
      if (pid == 0) {
        map_all(memfd, deleted, tmpfs, segment_, first);
        if (::write(ready[1], "x", 1) == 1) ::pause();
        ::_exit(0);
      }
      char byte = 0;
      REQUIRE(::read(ready[0], &byte, 1) == 1);
      ::close(ready[0]);
      ::close(ready[1]);
      pids_.push_back(pid);
    }
    for (const int fd : {memfd, deleted, tmpfs}) ::close(fd);
  }
  ~Mappers() {
    for (const pid_t pid : pids_) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
    ::shmctl(segment_, IPC_RMID, nullptr);
    ::unlink(tmpfs_path_.c_str());
  }
  Mappers(const Mappers&) = delete;
  Mappers& operator=(const Mappers&) = delete;

  std::string pid(std::size_t which) const { return std::to_string(pids_.at(which)); }
  const std::string& tmpfs_path() const { return tmpfs_path_; }
  const std::string& path() const { return path_; }

 private:
  std::string tmpfs_path_;
  std::string path_;
  int segment_ = -1;
  std::vector<pid_t> pids_;
};

const json& row_of(const json& rows, std::string_view kind, std::string_view label) {
  for (const json& row : rows) {
    if (row.at("kind") == kind && row.at("label").is_string() &&
        row.at("label").get<std::string>().starts_with(label)) {
      return row;
    }
  }
  throw std::runtime_error("no row of " + std::string(kind) + " " + std::string(label));
}

std::int64_t kib(const json& row, const char* name) {
  return row.at(name).get<std::int64_t>();
}

std::string config_of(const Scene& scene) {
  const std::string path = scene.folder() + "/memoir.toml";
  std::ofstream(path) << "[mappings]\nprocesses = 80\nlabels = 200\n";
  return path;
}

}  // namespace

TEST_CASE("mappings: each kind of mapping of real processes has its name, and the sum is right") {
  const Scene scene;
  const Mappers mappers(scene.folder());
  Recorder recorder(scene, "1h", {}, {"--config", config_of(scene)});
  recorder.tick();
  const json one = scene.answer({"mappings", mappers.pid(0)});
  CHECK(one.at("state") == "exact");
  CHECK(one.at("cpu_us").get<std::int64_t>() > 0);
  const json& rows = one.at("rows");
  const json& memfd = row_of(rows, "memfd", "/memfd:" + memfd_name() + " (deleted)");
  CHECK(memfd.at("deleted") == true);
  CHECK(memfd.at("regions") == 1);
  CHECK(kib(memfd, "size_kib") == 8 * 1024);
  CHECK(kib(memfd, "rss_kib") == 8 * 1024);
  CHECK(kib(memfd, "pss_kib") == 4 * 1024);
  CHECK(kib(memfd, "uss_kib") == 0);
  CHECK(kib(row_of(rows, "sysv", "/SYSV00000000"), "pss_kib") == 512);
  const json& deleted = row_of(rows, "file", mappers.path() + " (deleted)");
  CHECK(deleted.at("deleted") == true);
  CHECK(kib(deleted, "pss_kib") == 4 * 1024);
  const json& tmpfs = row_of(rows, "tmpfs", mappers.tmpfs_path());
  CHECK(tmpfs.at("deleted") == false);
  CHECK(kib(tmpfs, "uss_kib") == 3 * 1024);
  CHECK(kib(row_of(rows, "shared-anonymous", ""), "uss_kib") == 2 * 1024);
  CHECK(kib(row_of(rows, "heap", "[heap]"), "uss_kib") >= 6 * 1024);

  std::map<std::string, std::int64_t> sums;
  for (const json& row : rows) {
    for (const char* name : {"pss_kib", "rss_kib", "uss_kib", "swap_kib", "regions", "size_kib"})
      sums[name] += kib(row, name);
  }
  for (const auto& [name, sum] : sums) CHECK(one.at("totals").at(name) == sum);
  // smaps is read right after the rollup, and the process does not change in between.
  CHECK(std::abs(sums["pss_kib"] - kib(one, "process_pss_kib")) <= 200);
  CHECK(recorder.stop() == 0);
}

TEST_CASE("objects: processes that map the same file are shown together, each with its part") {
  const Scene scene;
  const Mappers mappers(scene.folder());
  Recorder recorder(scene, "1h", {}, {"--config", config_of(scene)});
  recorder.tick();
  const json objects = scene.answer({"objects", "--kind", "memfd", "--kind", "sysv"});
  const json& memfd = row_of(objects.at("rows"), "memfd", "/memfd:" + memfd_name() + " (deleted)");
  CHECK(memfd.at("mappers") == 2);
  CHECK(memfd.at("regions") == 2);
  CHECK(kib(memfd, "pss_kib") == 8 * 1024);
  CHECK(kib(memfd, "rss_kib") == 16 * 1024);
  CHECK(kib(row_of(objects.at("rows"), "sysv", "/SYSV00000000"), "pss_kib") >= 1024);
  int parts = 0;
  for (const json& consumer : objects.at("consumers")) {
    if (consumer.at("label") != memfd.at("label")) continue;
    const std::string pid = std::to_string(consumer.at("pid").get<int>());
    CHECK((pid == mappers.pid(0) || pid == mappers.pid(1)));
    CHECK(kib(consumer, "pss_kib") == 4 * 1024);
    ++parts;
  }
  CHECK(parts == 2);
  CHECK(objects.at("totals").at("summaries").get<int>() >= 2);
  for (const json& row : objects.at("rows")) CHECK((row.at("kind") == "memfd" || row.at("kind") == "sysv"));
  CHECK(recorder.stop() == 0);
}

TEST_CASE("mappings: if nothing was read, the message says how to get a reading") {
  const Scene scene;
  const std::string config = scene.folder() + "/off.toml";
  std::ofstream(config) << "[mappings]\ninterval = 'off'\n";
  Recorder recorder(scene, "1h", {}, {"--config", config});
  recorder.tick();
  for (const char* command : {"mappings", "objects"}) {
    const Outcome outcome = scene.ask({command});
    CHECK(outcome.status == 3);
    CHECK(contains(outcome.out + outcome.err, "no mappings were recorded"));
  }
  CHECK(recorder.stop() == 0);
}
