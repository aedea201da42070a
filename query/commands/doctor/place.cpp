#include <cerrno>
#include <fmt/format.h>
#include <grp.h>
#include <linux/magic.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>

#include "base/file.h"
#include "query/commands/doctor/doctor.h"
#include "query/render/shell_text.h"
#include "query/report/format.h"
#include "store/sqlite/file_system.h"

namespace memoir::query {
namespace {

constexpr std::int64_t kMib = 1024 * 1024;

std::string user_name(uid_t uid) {
  const passwd* user = getpwuid(uid);
  return user == nullptr ? fmt::format("{}", uid) : std::string(user->pw_name);
}

std::string group_name(gid_t gid) {
  const group* found = getgrgid(gid);
  return found == nullptr ? fmt::format("{}", gid) : std::string(found->gr_name);
}

void find_stranger(FileLocation& place, uid_t owner) {
  for (const char* suffix : {"-wal", "-shm", ".lock", ".pid"}) {
    struct stat companion {};
    if (stat((place.path + suffix).c_str(), &companion) != 0 || companion.st_uid == owner) continue;
    place.stranger = place.path + suffix;
    place.stranger_owner = user_name(companion.st_uid);
  }
}

Status find_disk(FileLocation& place) {
  struct statfs type {};
  struct statvfs room {};
  if (statfs(place.path.c_str(), &type) != 0 || statvfs(place.path.c_str(), &room) != 0) {
    return errno_error(errno, "inspect the file system of", place.path);
  }
  const auto magic = static_cast<unsigned>(type.f_type);
  place.remote = remote_file_system(magic);
  place.in_memory = magic == TMPFS_MAGIC || magic == RAMFS_MAGIC;
  place.mounted_read_only = (room.f_flag & ST_RDONLY) != 0;
  place.free_bytes = static_cast<std::int64_t>(room.f_bavail) * static_cast<std::int64_t>(room.f_frsize);
  place.free_files = room.f_files == 0 ? 1 : static_cast<std::int64_t>(room.f_favail);
  return Done{};
}

Finding judge_mode(const FileLocation& place) {
  const std::string is =
      fmt::format("{}: owner {}, group {}, mode {:04o}", place.path, place.owner, place.group, place.mode);
  if ((place.mode & S_IWOTH) != 0) {
    return {"file", Verdict::problem, is + ": every user may write to it", "chmod o= " + shell_path(place.path)};
  }
  if ((place.mode & S_IROTH) != 0 && place.folder_open) {
    return {"file", Verdict::warning, is + ": every user of this machine may read it, with all command lines",
            "chmod o= " + shell_path(place.path)};
  }
  return {"file", Verdict::ok, is, ""};
}

Finding judge_file_system(const FileLocation& place) {
  if (!place.remote.empty()) {
    return {"file system", Verdict::problem,
            fmt::format("{} is on {}: the write-ahead log needs shared memory, which network file systems do not have",
                        place.folder, place.remote),
            "record to a local disk, and copy the file while nothing records"};
  }
  if (place.mounted_read_only) {
    return {"file system", Verdict::warning, place.folder + " is mounted read-only: nothing can be recorded into it",
            fmt::format("mount -o remount,rw on the mount of {} (findmnt -T {}), after checking dmesg", place.folder,
                        shell_path(place.folder))};
  }
  if (place.in_memory) {
    return {"file system", Verdict::warning,
            place.folder + " is in memory (tmpfs): the file uses memory and is lost at a reboot",
            "record to a disk: set db in memoir.toml"};
  }
  return {"file system", Verdict::ok, place.folder + " is local and writable", ""};
}

}  // namespace

Result<FileLocation> inspect_place(const std::string& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) != 0) return errno_error(errno, "inspect", path);
  FileLocation place;
  place.path = path;
  place.owner = user_name(file.st_uid);
  place.group = group_name(file.st_gid);
  place.mode = file.st_mode & 07777U;
  place.folder = folder_of(path);
  struct stat other {};
  if (stat((path + "-wal").c_str(), &other) == 0) place.wal_bytes = other.st_size;
  if (stat(place.folder.c_str(), &other) == 0) place.folder_open = (other.st_mode & S_IXOTH) != 0;
  find_stranger(place, file.st_uid);
  TRY(find_disk(place));
  return place;
}

Findings judge_place(const FileLocation& place) {
  Findings findings{judge_mode(place)};
  if (!place.stranger.empty()) {
    findings.push_back(
        {"owner", Verdict::problem,
         fmt::format("{0} belongs to {1}, but the database belongs to {2}: the recorder may be unable to write to {0}",
                     place.stranger, place.stranger_owner, place.owner),
         fmt::format("chown {}: {}", shell_word(place.owner), shell_path(place.stranger))});
  }
  // The recorder empties the log at 16 MiB, unless a process reads the file for a long time.
  constexpr std::int64_t large_wal = 128 * kMib;
  if (place.wal_bytes > large_wal) {
    findings.push_back({"write-ahead log", Verdict::warning,
                        fmt::format("{}-wal has grown to {}: a process has been reading the file for a long time",
                                    place.path, format_size(place.wal_bytes / 1024, Units::automatic)),
                        fmt::format("stop the process that reads the database; fuser -v {} lists it, besides memoird",
                                    shell_path(place.path))});
  }
  findings.push_back(judge_file_system(place));
  return findings;
}

Finding judge_room(const FileLocation& place, std::optional<std::int64_t> per_day) {
  constexpr std::int64_t least = 64 * kMib;
  constexpr std::int64_t little = 1024 * kMib;
  constexpr std::int64_t days_to_act = 14;
  const std::string free = format_size(place.free_bytes / 1024, Units::automatic) + " free";
  const std::string fix = fmt::format("free some space: du -xh {} | sort -h | tail", shell_path(place.folder));
  if (place.free_files <= 0) {
    return {"disk space", Verdict::problem, "no file can be created: the file system has no free inode", fix};
  }
  if (place.free_bytes < least) {
    return {"disk space", Verdict::problem, free + ": recording stops when no space is left", fix};
  }
  if (!per_day || *per_day <= 0) {
    return {"disk space", place.free_bytes < little ? Verdict::warning : Verdict::ok, free,
            place.free_bytes < little ? fix : ""};
  }
  constexpr std::int64_t many_days = 3650;
  const std::int64_t days = place.free_bytes / *per_day;
  const std::string lasts =
      fmt::format("{}, for {} at {} a day", free, days > many_days ? "many years" : format_count(days, "day", "days"),
                  format_size(*per_day / 1024, Units::automatic));
  if (days < days_to_act) return {"disk space", Verdict::warning, lasts, fix};
  return {"disk space", Verdict::ok, lasts, ""};
}

}  // namespace memoir::query
