#include "base/file.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace memoir {
namespace {

// Reads from offset 0 (a stream: from its current position) to the end, but not more than `most` bytes.
Result<std::string_view> read_most(const Fd& fd, Buffer& buffer, std::string_view path, std::size_t most,
                                   bool stream = false) {
  std::size_t used = 0;
  while (used < most) {
    if (used == buffer.size()) buffer.grow();
    const std::size_t room = std::min(most, buffer.size()) - used;
    char* const to = buffer.data() + used;
    const ssize_t got = stream ? ::read(fd.get(), to, room) : ::pread(fd.get(), to, room, static_cast<off_t>(used));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error(errno, "read", path);
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  return std::string_view(buffer.data(), used);
}

Result<std::string_view> capped(Result<std::string_view> text, std::string_view path, std::size_t cap) {
  if (!text || text->size() <= cap) return text;
  return Error{ErrorKind::io, fmt::format("{} is larger than {} bytes", path, cap)};
}

}  // namespace

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

void Fd::reset() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

void Buffer::grow() {
  bytes_.resize(bytes_.size() * 2);
}

Error errno_error(int error, std::string_view what, std::string_view path) {
  ErrorKind kind = ErrorKind::io;
  if (error == ENOENT || error == ESRCH) kind = ErrorKind::not_found;
  if (error == EACCES || error == EPERM || error == EROFS) kind = ErrorKind::denied;
  return Error{kind, fmt::format("cannot {} {}: {}", what, path, std::strerror(error))};
}

Result<Fd> open_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return errno_error(errno, "open", path);
  return Fd(fd);
}

Result<std::string_view> read_all(const Fd& fd, Buffer& buffer, std::string_view path, std::size_t cap) {
  return capped(read_most(fd, buffer, path, cap + 1), path, cap);
}

Result<std::string_view> read_stream(const std::string& path, Buffer& buffer, std::size_t cap) {
  const Fd fd = TRY(open_file(path));
  return capped(read_most(fd, buffer, path, cap + 1, true), path, cap);
}

Result<std::string_view> read_file(const std::string& path, Buffer& buffer, std::size_t cap) {
  const Fd fd = TRY(open_file(path));
  return read_all(fd, buffer, path, cap);
}

Result<std::string_view> read_start(const std::string& path, std::size_t most, Buffer& buffer) {
  const Fd fd = TRY(open_file(path));
  return read_most(fd, buffer, path, most);
}

Status read_pieces(const Fd& fd, Buffer& buffer, std::string_view path,
                   const std::function<Status(std::string_view)>& take) {
  off_t at = 0;
  while (true) {
    const ssize_t got = ::pread(fd.get(), buffer.data(), buffer.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error(errno, "read", path);
    if (got == 0) return Done{};
    TRY(take({buffer.data(), static_cast<std::size_t>(got)}));
    at += got;
  }
}

Result<std::string> read_link(const std::string& path) {
  std::string target(PATH_MAX, '\0');
  const ssize_t got = ::readlink(path.c_str(), target.data(), target.size());
  if (got < 0) return errno_error(errno, "read the link", path);
  target.resize(static_cast<std::size_t>(got));
  return target;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace memoir
