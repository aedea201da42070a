#include "proc/proc_fs.h"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/text.h"
#include "proc/kernel.h"

namespace memoir {

std::string ProcFs::path(std::int32_t pid, PidFile file, std::int32_t thread) const {
  const std::string task = thread > 0 ? "/task/" + std::to_string(thread) : std::string();
  return root_ + '/' + std::to_string(pid) + task + '/' + kPidFiles.at(static_cast<std::size_t>(file));
}

std::string ProcFs::path(SystemFile file) const {
  return root_ + '/' + kSystemFiles.at(static_cast<std::size_t>(file));
}

Status ProcFs::list_threads(std::int32_t pid, std::vector<std::int32_t>& threads) const {
  return list(root_ + '/' + std::to_string(pid) + "/task", threads);
}

Status ProcFs::list(const std::string& folder, std::vector<std::int32_t>& numbers) {
  numbers.clear();
  const auto close = [](DIR* open) { ::closedir(open); };
  const std::unique_ptr<DIR, decltype(close)> directory(::opendir(folder.c_str()), close);
  if (!directory) return errno_error(errno, "open", folder);
  while (true) {
    errno = 0;
    const dirent* const entry = ::readdir(directory.get());
    if (entry == nullptr) break;
    const auto number = parse_number<std::int32_t>(&entry->d_name[0]);
    if (number && *number > 0) numbers.push_back(*number);
  }
  if (errno != 0) return errno_error(errno, "list", folder);
  std::sort(numbers.begin(), numbers.end());
  return Done{};
}

Result<Fd> ProcFs::open_pressure_trigger(std::int64_t stall_us, std::int64_t window_us) const {
  const std::string file = path(SystemFile::pressure_memory);
  Fd fd(::open(file.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (!fd) return errno_error(errno, "open", file);
  const std::string trigger = "some " + std::to_string(stall_us) + ' ' + std::to_string(window_us);
  // The written text includes the NUL, at which the kernel stops reading.
  if (::write(fd.get(), trigger.c_str(), trigger.size() + 1) < 0) return errno_error(errno, "set a trigger on", file);
  return fd;
}

Result<BootInfo> ProcFs::boot(const Moment& now) const {
  Buffer buffer;
  const auto id_text = TRY(read_file(path(SystemFile::boot_id), buffer));
  const std::string id = TRY(parse_boot_id(id_text));
  BootInfo info = TRY(this_machine(now));
  info.boot_id = id;
  return info;
}

Result<BootInfo> this_machine(const Moment& now) {
  BootInfo info;
  info.boot_ms = now.wall_ms - now.boot_ms;
  utsname names{};
  if (::uname(&names) != 0) return errno_error(errno, "read", "the kernel's name");
  info.host = &names.nodename[0];
  info.kernel = &names.release[0];
  return info;
}

}  // namespace memoir
