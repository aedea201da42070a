#include "collect/cgroup_reader.h"

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
std::optional<T> CgroupReader::value(std::string_view path, CgroupFile file, Result<T> (*parse)(std::string_view),
                                     Pass& pass) const {
  const auto text = cgroups_.read(path, file, pass.buffer);
  if (!text) return std::nullopt;
  const Result<T> parsed = parse(*text);
  if (parsed) return *parsed;
  if (parsed.error().kind == ErrorKind::malformed) pass.note_malformed(parsed.error());
  return std::nullopt;
}

std::optional<CgroupSample> CgroupReader::read_one(std::string_view path, Pass& pass) const {
  const auto max = value(path, CgroupFile::max, parse_cgroup_limit, pass);
  if (!max) return std::nullopt;
  const auto current = value(path, CgroupFile::current, parse_cgroup_usage, pass);
  if (!current) return std::nullopt;
  CgroupSample sample;
  sample.path = path;
  sample.max_kib = *max;
  sample.current_kib = *current;
  sample.file_kib = value(path, CgroupFile::stat, parse_cgroup_file_cache, pass);
  sample.high_kib = value(path, CgroupFile::high, parse_cgroup_limit, pass).value_or(std::nullopt);
  sample.swap_max_kib = value(path, CgroupFile::swap_max, parse_cgroup_limit, pass).value_or(std::nullopt);
  sample.swap_kib = value(path, CgroupFile::swap_current, parse_cgroup_usage, pass);
  return sample;
}

void CgroupReader::read(const std::vector<std::string_view>& paths, bool all, Pass& pass) {
  if (all) known_.clear();
  for (std::string_view path : paths) {
    // Whose path is known, those above it are too.
    for (; !path.empty() && !known_.contains(path); path = parent_of(path)) {
      known_.emplace(std::string(path), read_one(path, pass));
    }
  }
  pass.tick.cgroups.reserve(known_.size());
  for (const auto& [path, sample] : known_) {
    if (sample) pass.tick.cgroups.push_back(*sample);
  }
}

}  // namespace memoir
