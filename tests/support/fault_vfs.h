#pragma once

// A disk that fails when a test wants it to: a shim over SQLite's own VFS (https://sqlite.org/vfs.html), the default
// one as long as it lives. It fails the n-th write or sync; and it can be a disk without power, on which only that is
// sure which was synced: of what was written since, each sector may be there or not.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct sqlite3_vfs;

namespace memoir::test {

enum class DiskFault {
  write_error,  // SQLITE_IOERR_WRITE, nothing is written
  short_write,  // half of it is written, and the disk is full
  full,         // SQLITE_FULL, nothing is written
  sync_error,   // SQLITE_IOERR_FSYNC
};

class FaultVfs {
 public:
  FaultVfs();
  ~FaultVfs();
  FaultVfs(const FaultVfs&) = delete;
  FaultVfs& operator=(const FaultVfs&) = delete;

  // The n-th write or sync from now on fails, and those after it, `times` in all.
  void fail(DiskFault fault, std::int64_t nth, std::int64_t times = 1);
  // Whether one has failed since.
  bool has_failed() const { return failed_ > 0; }

  // Power is cut at the n-th write or sync from now on. Files are followed from when they are opened.
  void cut_power(std::int64_t nth);
  bool is_dead() const { return dead_; }
  // What is on the disk afterwards, by name. A sector that was not synced is there with this probability.
  std::map<std::string, std::string> survivors(std::uint32_t seed, double probability) const;

 private:
  friend struct FaultFile;

  struct Change {
    std::size_t offset = 0;
    std::string bytes;
    bool truncates = false;  // to `offset`
  };
  struct Image {
    std::string synced;
    std::vector<Change> changes;  // since
  };

  static void apply(std::string& bytes, const Change& change);
  int before_write(std::string_view* bytes);
  int before_sync();
  bool falls(bool sync);
  void count_towards_cut();

  std::unique_ptr<sqlite3_vfs> vfs_;
  sqlite3_vfs* real_;
  DiskFault fault_ = DiskFault::full;
  std::int64_t left_ = -1;  // operations of the fault's kind before it; -1: none is due
  std::int64_t times_ = 0;
  std::int64_t failed_ = 0;
  std::int64_t until_cut_ = -1;
  bool dead_ = false;
  std::map<std::string, Image> images_;
};

}  // namespace memoir::test
