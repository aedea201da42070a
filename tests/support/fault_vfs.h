#pragma once

// A disk that fails on request: a shim over SQLite's own VFS (https://sqlite.org/vfs.html). It is the default VFS
// during its lifetime. It makes the n-th read, write or sync fail. It can also simulate a power cut, after which only
// synced data is certain: each sector that was written later may be on the disk or not.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct sqlite3_vfs;

namespace memoir::test {

enum class DiskFault {
  write_error,  // SQLITE_IOERR_WRITE, without writing
  short_write,  // writes half, then the disk is full
  full,         // SQLITE_FULL, without writing
  sync_error,   // SQLITE_IOERR_FSYNC
  read_error,   // SQLITE_IOERR_READ
};

class FaultVfs {
 public:
  FaultVfs();
  ~FaultVfs();
  FaultVfs(const FaultVfs&) = delete;
  FaultVfs& operator=(const FaultVfs&) = delete;

  // Makes `times` operations of the fault's kind fail, starting with the n-th from now on.
  void fail(DiskFault fault, std::int64_t nth, std::int64_t times = 1);
  void stop_failing() { left_ = -1; }
  // True if an operation has failed since fail().
  bool has_failed() const { return failed_ > 0; }

  // Cuts the power at the n-th write or sync from now on. Files are tracked from the time they are opened.
  void cut_power(std::int64_t nth);
  bool is_dead() const { return dead_; }
  // The disk's content after the power cut, by file name. Each unsynced sector survives with this probability.
  std::map<std::string, std::string> survivors(std::uint32_t seed, double probability) const;

 private:
  friend struct FaultFile;

  struct Change {
    std::size_t offset = 0;
    std::string bytes;
    bool truncates = false;  // the change truncates the file to `offset`
  };
  struct Image {
    std::string synced;
    std::vector<Change> changes;  // changes since the last sync
  };

  static void apply(std::string& bytes, const Change& change);
  enum class Operation { read, write, sync };
  static Operation operation_of(DiskFault fault);
  int before_read();
  int before_write(std::string_view* bytes);
  int before_sync();
  bool falls(Operation operation);
  void count_towards_cut();

  std::unique_ptr<sqlite3_vfs> vfs_;
  sqlite3_vfs* real_;
  DiskFault fault_ = DiskFault::full;
  std::int64_t left_ = -1;  // number of operations of the fault's kind before the fault; -1: no fault is due
  std::int64_t times_ = 0;
  std::int64_t failed_ = 0;
  std::int64_t until_cut_ = -1;
  bool dead_ = false;
  std::map<std::string, Image> images_;
};

}  // namespace memoir::test
