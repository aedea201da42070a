#include "collect/cgroup_reader.h"

#include <iterator>

#include "proc/cgroup_memory.h"

namespace memoir {
namespace {

// "/a/b", "/a", "/"; nothing above the root.
std::string_view parent_of(std::string_view path) {
  if (path.size() <= 1) return {};
  const std::size_t cut = path.rfind('/');
  return path.substr(0, cut == 0 ? 1 : cut);
}

}  // namespace

// A file that is missing or not permitted is no news: the cgroup may be gone, or its kernel an old one.
template <typename T>
std::optional<T> CgroupReader::value(const std::string& path, Cgroup& cgroup, CgroupFile name,
                                     Result<T> (*parse)(std::string_view), Pass& pass) {
  std::optional<File>& file = cgroup.files[static_cast<std::size_t>(name)];
  if (!file) file.emplace(File{KeptFile(budget_)});
  if (file->missing) return std::nullopt;
  const auto open = [&] { return cgroups_.open(path, name); };
  const bool was_kept = file->kept.kept();
  auto text = file->kept.read(open, pass.buffer);
  if (!text && was_kept) {
    // The cgroup is gone, but another may have its name.
    file->kept.close();
    text = file->kept.read(open, pass.buffer);
  }
  file->missing = !text;
  if (!text) return std::nullopt;
  const Result<T> parsed = parse(*text);
  if (parsed) return *parsed;
  if (parsed.error().kind == ErrorKind::malformed) pass.note_malformed(parsed.error());
  return std::nullopt;
}

void CgroupReader::update(const std::string& path, Cgroup& cgroup, Pass& pass) {
  const auto get = [&](CgroupFile file, auto parse) { return value(path, cgroup, file, parse, pass); };
  const auto max = get(CgroupFile::max, parse_cgroup_limit);
  const auto current = max ? get(CgroupFile::current, parse_cgroup_usage) : std::nullopt;
  if (!current) {
    cgroup.sample.reset();
    return;
  }
  const bool moved = !cgroup.sample || cgroup.sample->current_kib != *current;
  if (!cgroup.sample) cgroup.sample.emplace().path = path;
  CgroupSample& sample = *cgroup.sample;
  sample.max_kib = *max;
  sample.current_kib = *current;
  sample.high_kib = get(CgroupFile::high, parse_cgroup_limit).value_or(std::nullopt);
  sample.swap_max_kib = get(CgroupFile::swap_max, parse_cgroup_limit).value_or(std::nullopt);
  sample.swap_kib = get(CgroupFile::swap_current, parse_cgroup_usage);
  // It costs as much as all others. At a limit page cache gives way to other memory, and the sum stays.
  if (moved || sample.max_kib || sample.high_kib) sample.file_kib = get(CgroupFile::stat, parse_cgroup_file_cache);
}

void CgroupReader::find(const std::vector<std::string_view>& paths, bool all) {
  if (all) {
    for (auto& [path, cgroup] : known_) cgroup.used = false;
  }
  for (std::string_view path : paths) {
    // Whose path is in use, those above it are too.
    for (; !path.empty(); path = parent_of(path)) {
      auto found = known_.find(path);
      if (found == known_.end()) found = known_.emplace(std::string(path), Cgroup()).first;
      if (std::exchange(found->second.used, true)) break;
    }
  }
  std::erase_if(known_, [](const auto& known) { return !known.second.used; });
}

// Only where the machine's own counter says that there was one, and once of each cgroup that is new.
void CgroupReader::count_oom_kills(Pass& pass) {
  const auto of_machine = pass.tick.machine.memory.get(MachineField::oom_kill);
  const bool any = of_machine != machine_oom_kills_;
  machine_oom_kills_ = of_machine;
  std::map<std::string_view, std::int64_t> kills;
  for (auto& [path, cgroup] : known_) {
    if (!cgroup.sample || (cgroup.oom_kills && !any)) continue;
    const auto now = value(path, cgroup, CgroupFile::events, parse_cgroup_oom_kills, pass).value_or(std::nullopt);
    if (now && cgroup.oom_kills && *now > *cgroup.oom_kills) kills.emplace(path, *now - *cgroup.oom_kills);
    cgroup.oom_kills = now;
  }
  // What a cgroup below is known to have had is told of that one only.
  for (const auto& [path, count] : kills) {
    std::int64_t own = count;
    for (const auto& [below, of_below] : kills) {
      if (cgroups_.counts_below() && below != path && parent_of(below) == path) own -= of_below;
    }
    if (own > 0) pass.tick.oom_kills.push_back({std::string(path), own});
  }
}

void CgroupReader::read(const std::vector<std::string_view>& paths, bool all, Pass& pass) {
  find(paths, all);
  pass.tick.cgroups.reserve(known_.size());
  for (auto known = known_.begin(); known != known_.end();) {
    Cgroup& cgroup = known->second;
    if (all) {
      for (auto& file : cgroup.files) {
        if (file) file->missing = false;
      }
    }
    const bool was_there = cgroup.sample.has_value();
    update(known->first, cgroup, pass);
    if (cgroup.sample) pass.tick.cgroups.push_back(*cgroup.sample);
    // Gone: the next process in one of this name finds it again.
    known = was_there && !cgroup.sample ? known_.erase(known) : std::next(known);
  }
  count_oom_kills(pass);
}

}  // namespace memoir
