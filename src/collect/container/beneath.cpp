#include "collect/container/beneath.h"

#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>

namespace memoir {
namespace {

bool is_plain_file(const Fd& fd) {
  struct stat status {};
  return ::fstat(fd.get(), &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

Result<std::string_view> read_beneath(const std::string& folder, const std::vector<std::string>& steps, Buffer& buffer,
                                      std::size_t cap) {
  constexpr int folder_flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  constexpr int file_flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK;
  Fd at(::open(folder.c_str(), folder_flags));
  for (std::size_t i = 0; at && i < steps.size(); ++i) {
    const int flags = i + 1 == steps.size() ? file_flags : folder_flags | O_NOFOLLOW;
    at = Fd(::openat(at.get(), steps[i].c_str(), flags));
  }
  if (!at) return errno_error(errno, "open a file below", folder);
  if (!is_plain_file(at)) return Error{ErrorKind::malformed, folder + ": what lies there is no plain file"};
  return read_all(at, buffer, folder, cap);
}

std::vector<std::string> names_in(const std::string& folder, std::size_t most) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> opened(::opendir(folder.c_str()), ::closedir);
  while (opened && names.size() < most) {
    const dirent* const entry = ::readdir(opened.get());
    if (entry == nullptr) break;
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  return names;
}

}  // namespace memoir
