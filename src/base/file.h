#pragma once

// The only functions that open and read files. Kernel files are read to their end into a buffer that the caller reuses;
// exceeding a cap is an error, never a truncation. Thread-safe unless two threads share a buffer or a Fd.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace memoir {

// Owns a file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept;
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  explicit operator bool() const { return valid(); }
  int release() { return std::exchange(fd_, -1); }
  void reset();

 private:
  int fd_ = -1;
};

// Grows as needed and never shrinks, so that repeated reads do not allocate.
class Buffer {
 public:
  static constexpr std::size_t kFirst = 16 * 1024;

  char* data() { return bytes_.data(); }
  std::size_t size() const { return bytes_.size(); }
  void grow();

 private:
  std::vector<char> bytes_ = std::vector<char>(kFirst);
};

// Returns the error of a failed system call on `path`: ENOENT and ESRCH are not_found, EACCES, EPERM and EROFS denied,
// others io.
Error errno_error(int error, std::string_view what, std::string_view path);

// Opens for reading (O_CLOEXEC | O_NOCTTY).
Result<Fd> open_file(const std::string& path);

// Reads an open file from offset 0 with pread, so that a kept /proc descriptor can be read again. The view points into
// `buffer` and is valid until the buffer's next use. A file of more than `cap` bytes is an io error. `path` appears
// only in error messages.
Result<std::string_view> read_all(const Fd& fd, Buffer& buffer, std::string_view path,
                                  std::size_t cap = 64 * 1024 * 1024);

Result<std::string_view> read_file(const std::string& path, Buffer& buffer, std::size_t cap = 64 * 1024 * 1024);

// Like read_file(), but also reads a pipe, waiting for its end.
Result<std::string_view> read_stream(const std::string& path, Buffer& buffer, std::size_t cap);

// Returns the first `most` bytes of a file, or all of a shorter one: a view into `buffer`, as in read_all().
Result<std::string_view> read_start(const std::string& path, std::size_t most, Buffer& buffer);

// Writes a file completely or not at all: first to ".partial", synced, then renamed. Replaces an existing file.
Status write_file(const std::string& path, std::string_view text);

// Passes an open file to `take` in pieces, from its start. Stops at an error of `take` and returns it. Otherwise like
// read_all().
Status read_pieces(const Fd& fd, Buffer& buffer, std::string_view path,
                   const std::function<Status(std::string_view)>& take);

// Returns the target of a symbolic link.
Result<std::string> read_link(const std::string& path);

// Returns the folder of a path: "." for a bare name.
std::string folder_of(const std::string& path);

}  // namespace memoir
