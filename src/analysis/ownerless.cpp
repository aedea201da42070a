#include "analysis/ownerless.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace memoir {
namespace {

bool is_deleted_file(const MappingName& name) {
  const bool file = name.kind == MappingKind::file || name.kind == MappingKind::tmpfs;
  return file && name.label.ends_with(kDeletedMark);
}

// Swap of one object. The swap of shared memory is divided by the mappers, because each of them counts all of it.
std::int64_t swapped_kib(const MappingUse& use, std::int64_t mappers) {
  return use.memory.or_zero(ProcessField::swap_pss) + use.shared_swap_kib / mappers;
}

// Returns an object's SharedObject::memory_kib() at its first observation. Assumes that all mappers have the same part
// of it in memory.
std::int64_t first_kib(const FirstMapping& first) {
  const std::int64_t mappers = std::max<std::int64_t>(first.mappers, 1);
  const std::int64_t rss_kib = first.use.memory.or_zero(ProcessField::rss) / mappers;
  const std::int64_t mapped_kib = std::max(rss_kib, first.use.pss_kib()) + swapped_kib(first.use, mappers);
  return std::max(mapped_kib, first.use.object_kib.value_or(0) / mappers);
}

using FirstOf = std::unordered_map<MappingName, FirstSeen, MappingNameHash>;

FirstOf by_name(std::span<const FirstMapping> firsts) {
  FirstOf by_name;
  for (const FirstMapping& first : firsts) {
    const FirstSeen seen{first.at_ms, first_kib(first), first.maybe_older};
    by_name.emplace(first.name, seen);
  }
  return by_name;
}

OwnerlessMemory of_object(SharedObject&& object, OwnerlessKind kind, const FirstOf& first_of) {
  const std::int64_t kib =
      object.memory_kib() + swapped_kib(object.row.use, static_cast<std::int64_t>(object.consumers.size()));
  const auto first = first_of.find(object.row.name);
  OwnerlessMemory memory{kind, std::move(object.row.name.label), kib};
  memory.mappers = object.mappers();
  if (first != first_of.end()) memory.first = first->second;
  memory.holders = std::move(object.consumers);
  return memory;
}

OwnerlessMemory of_segment(const SeenSegment& seen) {
  const SysvSegment& segment = seen.segment;
  OwnerlessMemory memory{OwnerlessKind::segment, std::to_string(segment.shmid), segment.rss_kib + segment.swap_kib};
  memory.made_by = segment.creator_pid;
  memory.last_used_by = segment.last_pid;
  memory.uid = segment.uid;
  memory.left_ms = segment.detached_ms;
  memory.first = seen.first;
  return memory;
}

OwnerlessMemory of_file(const SeenFile& seen) {
  OwnerlessMemory memory{OwnerlessKind::tmpfs_file, seen.path, seen.entry.allocated_kib};
  memory.uid = seen.entry.uid;
  memory.first = seen.first;
  return memory;
}

}  // namespace

std::string_view to_string(OwnerlessKind kind) {
  constexpr std::array<std::string_view, 4> words{"deleted file", "memfd", "SysV segment", "tmpfs file"};
  return words.at(static_cast<std::size_t>(kind));
}

std::vector<OwnerlessMemory> ownerless_memory(std::span<const ProcessMappings> summaries,
                                              std::span<const FirstMapping> firsts,
                                              std::span<const SeenSegment> segments, std::span<const SeenFile> files) {
  std::vector<OwnerlessMemory> all;
  const FirstOf first_of = by_name(firsts);
  std::unordered_map<std::string, SharedObject> mapped;  // tmpfs files that still exist, by path
  for (SharedObject& object : fold_objects(summaries).objects) {
    const MappingName& name = object.row.name;
    if (name.kind == MappingKind::memfd) {
      all.push_back(of_object(std::move(object), OwnerlessKind::memfd, first_of));
    } else if (is_deleted_file(name)) {
      all.push_back(of_object(std::move(object), OwnerlessKind::deleted_file, first_of));
    } else if (name.kind == MappingKind::tmpfs) {
      mapped.insert_or_assign(name.label, std::move(object));
    }
  }
  for (const SeenSegment& seen : segments) {
    if (seen.segment.attachments == 0) all.push_back(of_segment(seen));
  }
  for (const SeenFile& seen : files) {
    if (seen.entry.directory) continue;
    OwnerlessMemory& memory = all.emplace_back(of_file(seen));
    if (const auto found = mapped.find(seen.path); found != mapped.end()) {
      memory.holders = found->second.consumers;
      memory.mappers = found->second.mappers();
    }
  }
  std::ranges::sort(all, {}, [](const OwnerlessMemory& memory) {
    return std::tuple(-memory.kib, memory.kind, std::string_view(memory.name));
  });
  return all;
}

}  // namespace memoir
