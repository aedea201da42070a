#include "base/atomic_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own_file.h"

namespace memoir {
namespace {

// Syncs a folder, so that a rename in it survives a power cut.
Status sync_folder(const std::string& folder) {
  const Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) return errno_error(errno, "sync", folder);
  return Done{};
}

Error exists(const std::string& path) {
  return Error{ErrorKind::io, fmt::format("{} exists already; name another file, or replace it with --force", path)};
}

}  // namespace

std::string database_of(const std::string& path) {
  for (const std::string_view suffix : {"-wal", "-shm", "-journal", ".lock", ".pid"}) {
    std::string database = path.substr(0, path.size() - std::min(path.size(), suffix.size()));
    struct stat there {};
    if (path.ends_with(suffix) && ::stat(database.c_str(), &there) == 0 && S_ISREG(there.st_mode)) return database;
  }
  return {};
}

Result<AtomicFile> AtomicFile::begin(const std::string& path, Existing existing, mode_t mode) {
  if (const std::string database = database_of(path); !database.empty())
    return Error{ErrorKind::io, fmt::format("{} belongs to {}; name another file", path, database)};
  struct stat there {};
  if (::stat(path.c_str(), &there) == 0) {
    if (S_ISDIR(there.st_mode)) return Error{ErrorKind::io, path + " is a directory; name a file in it"};
    if (!S_ISREG(there.st_mode)) return Error{ErrorKind::io, path + " is not a regular file; name another"};
    if (existing == Existing::keep) return exists(path);
  }
  const std::string partial = path + ".partial";
  Fd fd = TRY(open_own_file(partial, mode));
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    return Error{ErrorKind::blocked,
                 fmt::format("{} is being written by another program; wait until it is done", partial)};
  }
  AtomicFile file(path, existing, std::move(fd));
  // Sets the mode regardless of the umask.
  if (mode != kGroupReads && ::fchmod(file.fd_.get(), mode) != 0) return errno_error(errno, "set the mode of", partial);
  if (::ftruncate(file.fd_.get(), 0) != 0) return errno_error(errno, "write", partial);
  return file;
}

AtomicFile::~AtomicFile() {
  if (fd_) ::unlink(partial_path().c_str());
}

Status AtomicFile::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(fd_.get(), text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return errno_error(errno, "write", partial_path());
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return Done{};
}

Status AtomicFile::commit() {
  const std::string partial = partial_path();
  if (::fsync(fd_.get()) != 0) return errno_error(errno, "sync", partial);
  if (existing_ == Existing::keep) {
    // Unlike rename(2), link(2) does not replace a file created in between.
    if (::link(partial.c_str(), path_.c_str()) == 0) {
      ::unlink(partial.c_str());
    } else if (errno == EEXIST) {
      return exists(path_);
    } else if (::rename(partial.c_str(), path_.c_str()) != 0) {  // the file system has no hard links
      return errno_error(errno, "write", path_);
    }
  } else if (::rename(partial.c_str(), path_.c_str()) != 0) {
    return errno_error(errno, "write", path_);
  }
  fd_.reset();
  return sync_folder(folder_of(path_));
}

// Declared in base/file.h.
Status write_file(const std::string& path, std::string_view text) {
  AtomicFile file = TRY(AtomicFile::begin(path, Existing::replace));
  const Status written = file.write(text);
  return written ? file.commit() : written;
}

}  // namespace memoir
