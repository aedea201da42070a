#include "support/fault_vfs.h"

#include <cstring>
#include <new>
#include <random>
#include <sqlite3.h>
#include <string_view>

#include "support/slurp.h"

namespace memoir::test {
namespace {

constexpr std::size_t kSector = 512;
constexpr const char* kName = "memoir-fault";

}  // namespace

// In memory, the file object of the real VFS follows this one.
struct FaultFile : sqlite3_file {
  FaultVfs* disk;
  std::string* path;

  static FaultFile& of(sqlite3_file* file) { return *static_cast<FaultFile*>(file); }
  static sqlite3_file* real(sqlite3_file* file) {
    return reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(file) + sizeof(FaultFile));
  }
  static FaultVfs& disk_of(sqlite3_vfs* vfs) { return *static_cast<FaultVfs*>(vfs->pAppData); }
  static sqlite3_vfs* real(sqlite3_vfs* vfs) { return disk_of(vfs).real_; }

  static int close(sqlite3_file* file) {
    delete of(file).path;
    return real(file)->pMethods->xClose(real(file));
  }
  static int read(sqlite3_file* file, void* to, int count, sqlite3_int64 at) {
    if (const int code = of(file).disk->before_read(); code != SQLITE_OK) return code;
    return real(file)->pMethods->xRead(real(file), to, count, at);
  }
  static int write(sqlite3_file* file, const void* from, int count, sqlite3_int64 at) {
    FaultVfs& disk = *of(file).disk;
    std::string_view bytes(static_cast<const char*>(from), static_cast<std::size_t>(count));
    const int code = disk.before_write(&bytes);
    if (bytes.empty()) return code;
    disk.images_[*of(file).path].changes.push_back({static_cast<std::size_t>(at), std::string(bytes)});
    const int done = real(file)->pMethods->xWrite(real(file), bytes.data(), static_cast<int>(bytes.size()), at);
    return code != SQLITE_OK ? code : done;
  }
  static int truncate(sqlite3_file* file, sqlite3_int64 size) {
    FaultVfs& disk = *of(file).disk;
    std::string_view none;
    if (const int code = disk.before_write(&none); code != SQLITE_OK) return code;
    disk.images_[*of(file).path].changes.push_back({static_cast<std::size_t>(size), {}, true});
    return real(file)->pMethods->xTruncate(real(file), size);
  }
  static int sync(sqlite3_file* file, int flags) {
    FaultVfs& disk = *of(file).disk;
    if (const int code = disk.before_sync(); code != SQLITE_OK) return code;
    FaultVfs::Image& image = disk.images_[*of(file).path];
    for (const FaultVfs::Change& change : image.changes) FaultVfs::apply(image.synced, change);
    image.changes.clear();
    // The flags are ignored, because syncing the real disk is slow and unnecessary here.
    static_cast<void>(flags);
    return SQLITE_OK;
  }
  static int file_size(sqlite3_file* file, sqlite3_int64* size) {
    return real(file)->pMethods->xFileSize(real(file), size);
  }
  static int lock(sqlite3_file* file, int level) { return real(file)->pMethods->xLock(real(file), level); }
  static int unlock(sqlite3_file* file, int level) { return real(file)->pMethods->xUnlock(real(file), level); }
  static int check_lock(sqlite3_file* file, int* locked) {
    return real(file)->pMethods->xCheckReservedLock(real(file), locked);
  }
  static int control(sqlite3_file* file, int operation, void* argument) {
    return real(file)->pMethods->xFileControl(real(file), operation, argument);
  }
  static int sector_size(sqlite3_file* file) { return real(file)->pMethods->xSectorSize(real(file)); }
  static int characteristics(sqlite3_file* file) { return real(file)->pMethods->xDeviceCharacteristics(real(file)); }
  static int shm_map(sqlite3_file* file, int region, int size, int extend, void volatile** memory) {
    return real(file)->pMethods->xShmMap(real(file), region, size, extend, memory);
  }
  static int shm_lock(sqlite3_file* file, int offset, int count, int flags) {
    return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
  }
  static void shm_barrier(sqlite3_file* file) { real(file)->pMethods->xShmBarrier(real(file)); }
  static int shm_unmap(sqlite3_file* file, int remove) { return real(file)->pMethods->xShmUnmap(real(file), remove); }

  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out) {
    static const sqlite3_io_methods methods{
        2,         close,      read,    write,       truncate,        sync,    file_size, lock,
        unlock,    check_lock, control, sector_size, characteristics, shm_map, shm_lock,  shm_barrier,
        shm_unmap, nullptr,    nullptr};
    FaultVfs& disk = disk_of(vfs);
    FaultFile& opened = of(file);
    opened.pMethods = nullptr;
    const int code = disk.real_->xOpen(disk.real_, name, real(file), flags, out);
    if (code != SQLITE_OK) return code;
    opened.pMethods = &methods;
    opened.disk = &disk;
    opened.path = new std::string(name == nullptr ? "" : name);
    if (!disk.images_.contains(*opened.path)) disk.images_[*opened.path].synced = slurp(*opened.path);
    return SQLITE_OK;
  }
  static int remove(sqlite3_vfs* vfs, const char* name, int sync_folder) {
    FaultVfs& disk = disk_of(vfs);
    if (disk.dead_) return SQLITE_IOERR_DELETE;
    disk.images_.erase(name);
    return disk.real_->xDelete(disk.real_, name, sync_folder);
  }
  static int access(sqlite3_vfs* vfs, const char* name, int flags, int* out) {
    return real(vfs)->xAccess(real(vfs), name, flags, out);
  }
  static int full_path(sqlite3_vfs* vfs, const char* name, int size, char* out) {
    return real(vfs)->xFullPathname(real(vfs), name, size, out);
  }
  static int randomness(sqlite3_vfs* vfs, int size, char* out) { return real(vfs)->xRandomness(real(vfs), size, out); }
  static int sleep(sqlite3_vfs* vfs, int us) { return real(vfs)->xSleep(real(vfs), us); }
  static int time(sqlite3_vfs* vfs, double* out) { return real(vfs)->xCurrentTime(real(vfs), out); }
  static int last_error(sqlite3_vfs* vfs, int size, char* out) {
    return real(vfs)->xGetLastError(real(vfs), size, out);
  }
  static int time_ms(sqlite3_vfs* vfs, sqlite3_int64* out) { return real(vfs)->xCurrentTimeInt64(real(vfs), out); }
};

FaultVfs::FaultVfs() : vfs_(std::make_unique<sqlite3_vfs>()), real_(sqlite3_vfs_find(nullptr)) {
  std::memset(vfs_.get(), 0, sizeof *vfs_);
  vfs_->iVersion = 2;
  vfs_->szOsFile = static_cast<int>(sizeof(FaultFile)) + real_->szOsFile;
  vfs_->mxPathname = real_->mxPathname;
  vfs_->zName = kName;
  vfs_->pAppData = this;
  vfs_->xOpen = FaultFile::open;
  vfs_->xDelete = FaultFile::remove;
  vfs_->xAccess = FaultFile::access;
  vfs_->xFullPathname = FaultFile::full_path;
  vfs_->xRandomness = FaultFile::randomness;
  vfs_->xSleep = FaultFile::sleep;
  vfs_->xCurrentTime = FaultFile::time;
  vfs_->xGetLastError = FaultFile::last_error;
  vfs_->xCurrentTimeInt64 = FaultFile::time_ms;
  sqlite3_vfs_register(vfs_.get(), 1);
}

FaultVfs::~FaultVfs() {
  sqlite3_vfs_unregister(vfs_.get());
  sqlite3_vfs_register(real_, 1);
}

void FaultVfs::fail(DiskFault fault, std::int64_t nth, std::int64_t times) {
  fault_ = fault;
  left_ = nth - 1;
  times_ = times;
  failed_ = 0;
}

void FaultVfs::cut_power(std::int64_t nth) {
  until_cut_ = nth - 1;
  dead_ = false;
}

FaultVfs::Operation FaultVfs::operation_of(DiskFault fault) {
  if (fault == DiskFault::read_error) return Operation::read;
  return fault == DiskFault::sync_error ? Operation::sync : Operation::write;
}

bool FaultVfs::falls(Operation operation) {
  if (left_ < 0 || operation != operation_of(fault_)) return false;
  if (left_ > 0) {
    --left_;
    return false;
  }
  ++failed_;
  if (failed_ == times_) left_ = -1;
  return true;
}

void FaultVfs::count_towards_cut() {
  if (until_cut_ < 0 || dead_) return;
  dead_ = until_cut_-- == 0;
}

int FaultVfs::before_read() {
  return falls(Operation::read) ? SQLITE_IOERR_READ : SQLITE_OK;
}

// Changes `bytes` to the part that is written.
int FaultVfs::before_write(std::string_view* bytes) {
  count_towards_cut();
  if (dead_ || falls(Operation::write)) {
    const bool half = !dead_ && fault_ == DiskFault::short_write;
    *bytes = half ? bytes->substr(0, bytes->size() / 2) : std::string_view();
    return dead_ || fault_ == DiskFault::write_error ? SQLITE_IOERR_WRITE : SQLITE_FULL;
  }
  return SQLITE_OK;
}

int FaultVfs::before_sync() {
  count_towards_cut();
  return dead_ || falls(Operation::sync) ? SQLITE_IOERR_FSYNC : SQLITE_OK;
}

void FaultVfs::apply(std::string& bytes, const Change& change) {
  if (change.truncates) return bytes.resize(change.offset);
  if (bytes.size() < change.offset + change.bytes.size()) bytes.resize(change.offset + change.bytes.size());
  bytes.replace(change.offset, change.bytes.size(), change.bytes);
}

std::map<std::string, std::string> FaultVfs::survivors(std::uint32_t seed, double probability) const {
  std::mt19937 random(seed);
  std::bernoulli_distribution survives(probability);
  std::map<std::string, std::string> files;
  for (const auto& [path, image] : images_) {
    std::string bytes = image.synced;
    for (const Change& change : image.changes) {
      if (change.truncates) {
        if (survives(random)) apply(bytes, change);
        continue;
      }
      for (std::size_t at = 0; at < change.bytes.size();) {
        const std::size_t place = change.offset + at;
        const std::size_t length = std::min(kSector - place % kSector, change.bytes.size() - at);
        if (survives(random)) apply(bytes, {place, change.bytes.substr(at, length)});
        at += length;
      }
    }
    files[path] = std::move(bytes);
  }
  return files;
}

}  // namespace memoir::test
