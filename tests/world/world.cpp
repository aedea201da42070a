#include "world/world.h"

#include <algorithm>
#include <utility>

namespace memoir::world {
namespace {

constexpr std::int32_t kMaxPid = 200;  // a small range, so that pids are reused
constexpr std::int64_t kPageKib = 4;

// The kernel sums shares of pages with 12 additional bits and rounds the sum down (fs/proc/task_mmu.c).
struct Share {
  std::int64_t fixed = 0;
  void add(std::int64_t kib, std::size_t mappers) { fixed += (kib << 12) / static_cast<std::int64_t>(mappers); }
  std::int64_t kib() const { return fixed >> 12; }
};

// Returns the arguments of an image. Images after an exec have the same program and words, as scripts of one
// interpreter have; only their comm differs.
std::vector<std::string> arguments_of(const std::string& comm, int serial, int image) {
  return {image == 0 ? "/usr/bin/" + comm : "/usr/bin/image", "--worker", std::to_string(1000 + serial),
          "--image=" + std::to_string(image)};
}

}  // namespace

World::World() {
  start(1, 0, "init", 8 * kUnitKib, 0, "/init.scope", 0);
}

Process* World::changed(int serial) {
  const auto found = processes_.find(serial);
  return found == processes_.end() ? nullptr : &found->second;
}

const Process* World::find(int serial) const {
  const auto found = processes_.find(serial);
  return found == processes_.end() ? nullptr : &found->second;
}

std::int32_t World::next_pid() {
  const auto is_used = [this](std::int32_t pid) {
    return std::ranges::any_of(processes_, [&](const auto& entry) { return entry.second.pid == pid; });
  };
  do {
    last_pid_ = last_pid_ % kMaxPid + 1;
  } while (is_used(last_pid_));
  return last_pid_;
}

int World::add_pages(PageKind kind, std::int64_t kib, int mapper) {
  objects_[++last_private_] = {kind, kib, 0, {mapper}};
  return last_private_;
}

void World::attach(Process& process, int pages) {
  process.maps.insert(pages);
  objects_.at(pages).mappers.insert(process.serial);
}

// Anonymous pages are freed with their last mapper; others stay as page cache.
void World::detach(Process& process, int pages) {
  process.maps.erase(pages);
  Pages& object = objects_.at(pages);
  object.mappers.erase(process.serial);
  if (object.kind == PageKind::anon && object.mappers.empty()) objects_.erase(pages);
}

void World::update_hwm(Process& process) {
  process.hwm_kib = std::max(process.hwm_kib, rss_kib(process));
}

bool World::add_object(int id, PageKind kind, std::int64_t kib) {
  return objects_.try_emplace(id, Pages{kind, kib, 0, {}}).second;
}

bool World::start(int serial, int parent, const std::string& comm, std::int64_t kib, std::uint32_t uid,
                  const std::string& cgroup, std::int64_t boot_ms) {
  if (processes_.contains(serial)) return false;
  Process process;
  process.serial = serial;
  process.parent = parent;
  process.pid = next_pid();
  process.start_ticks = static_cast<std::uint64_t>(boot_ms / 10);
  process.uid = uid;
  process.comm = comm;
  process.arguments = arguments_of(comm, serial, 0);
  process.cgroup = cgroup;
  process.heap = add_pages(PageKind::anon, kib, serial);
  process.maps.insert(process.heap);
  update_hwm(processes_[serial] = process);
  return true;
}

bool World::fork(int parent, int child, std::int64_t boot_ms) {
  Process* const from = changed(parent);
  if (from == nullptr || processes_.contains(child)) return false;
  Process process = *from;
  process.serial = child;
  process.parent = parent;
  process.pid = next_pid();
  process.start_ticks = static_cast<std::uint64_t>(boot_ms / 10);
  process.hwm_kib = 0;
  process.minor_faults = 0;
  process.maps.clear();
  Process& placed = processes_[child] = process;
  for (const int pages : from->maps) attach(placed, pages);
  // The heap is shared from now on; later writes of either process go into a heap of its own.
  for (Process* const each : {from, &placed}) {
    each->heap = add_pages(PageKind::anon, 0, each->serial);
    each->maps.insert(each->heap);
  }
  update_hwm(placed);
  return true;
}

bool World::exec(int serial, const std::string& comm, std::int64_t kib) {
  Process* const process = changed(serial);
  if (process == nullptr) return false;
  for (const int pages : std::set<int>(process->maps)) detach(*process, pages);
  process->comm = comm;
  process->arguments = arguments_of(comm, serial, ++process->image);
  process->heap = add_pages(PageKind::anon, kib, serial);
  process->maps.insert(process->heap);
  process->hwm_kib = 0;
  update_hwm(*process);
  return true;
}

bool World::exit(int serial) {
  Process* const process = changed(serial);
  if (process == nullptr) return false;
  for (const int pages : std::set<int>(process->maps)) detach(*process, pages);
  processes_.erase(serial);
  for (auto& [other, each] : processes_) each.parent = each.parent == serial ? 1 : each.parent;
  return true;
}

bool World::kill(int serial) {
  if (find(serial) == nullptr) return false;
  ++oom_kills_;
  return true;
}

bool World::resize(int serial, std::int64_t kib) {
  Process* const process = changed(serial);
  if (process == nullptr) return false;
  Pages& heap = objects_.at(process->heap);
  const std::int64_t size = std::max(std::min(heap.kib, kUnitKib), heap.kib + kib);
  if (size > heap.kib) process->minor_faults += static_cast<std::uint64_t>((size - heap.kib) / kPageKib);
  heap.kib = size;
  update_hwm(*process);
  return true;
}

bool World::copy_on_write(int serial) {
  Process* const process = changed(serial);
  if (process == nullptr) return false;
  for (const int pages : std::set<int>(process->maps)) {
    const Pages shared = objects_.at(pages);
    if (shared.kind != PageKind::anon || shared.mappers.size() == 1) continue;
    detach(*process, pages);
    Pages& heap = objects_.at(process->heap);
    heap.kib += shared.kib;
    heap.swapped_kib += shared.swapped_kib;
    process->minor_faults += static_cast<std::uint64_t>(shared.kib / kPageKib);
  }
  return true;
}

bool World::map(int serial, int object) {
  Process* const process = changed(serial);
  if (process == nullptr || object >= kFirstPrivate || !objects_.contains(object)) return false;
  if (process->maps.contains(object)) return false;
  attach(*process, object);
  process->minor_faults += static_cast<std::uint64_t>(objects_.at(object).kib / kPageKib);
  update_hwm(*process);
  return true;
}

bool World::unmap(int serial, int object) {
  Process* const process = changed(serial);
  if (process == nullptr || object >= kFirstPrivate || !process->maps.contains(object)) return false;
  detach(*process, object);
  return true;
}

bool World::swap_out(int serial, std::int64_t kib) {
  Process* const process = changed(serial);
  if (process == nullptr) return false;
  Pages& heap = objects_.at(process->heap);
  const std::int64_t moved = std::clamp<std::int64_t>(heap.kib - kUnitKib, 0, kib);
  heap.kib -= moved;
  heap.swapped_kib += moved;
  return true;
}

bool World::swap_in(int serial) {
  Process* const process = changed(serial);
  if (process == nullptr) return false;
  Pages& heap = objects_.at(process->heap);
  process->minor_faults += static_cast<std::uint64_t>(heap.swapped_kib / kPageKib);
  heap.kib += std::exchange(heap.swapped_kib, 0);
  update_hwm(*process);
  return true;
}

bool World::swap_object(int object, std::int64_t kib) {
  const auto found = objects_.find(object);
  if (found == objects_.end() || found->second.kind != PageKind::shmem) return false;
  Pages& pages = found->second;
  const std::int64_t size = pages.kib + pages.swapped_kib;
  pages.swapped_kib = std::min(kib, size);
  pages.kib = size - pages.swapped_kib;
  for (const int mapper : pages.mappers) update_hwm(processes_.at(mapper));
  return true;
}

std::int64_t World::rss_kib(const Process& process) const {
  std::int64_t kib = 0;
  for (const int pages : process.maps) kib += objects_.at(pages).kib;
  return kib;
}

ProcessMemory World::memory(const Process& process) const {
  using F = ProcessField;
  ProcessMemory memory;
  for (std::size_t i = 0; i < kRollupFields + kStatusFields; ++i) memory.set(static_cast<F>(i), 0);
  std::int64_t swap = 0, vm_swap = 0;
  std::map<PageKind, std::int64_t> rss;
  std::map<PageKind, Share> pss;
  Share all, swap_pss, dirty;
  const auto add = [&memory](F field, std::int64_t kib) { memory.set(field, memory.or_zero(field) + kib); };
  for (const int id : process.maps) {
    const Pages& pages = objects_.at(id);
    const std::size_t mappers = pages.mappers.size();
    const bool clean = pages.kind == PageKind::file;
    rss[pages.kind] += pages.kib;
    pss[pages.kind].add(pages.kib, mappers);
    all.add(pages.kib, mappers);
    if (!clean) dirty.add(pages.kib, mappers);
    if (mappers == 1) add(clean ? F::private_clean : F::private_dirty, pages.kib);
    if (mappers > 1) add(clean ? F::shared_clean : F::shared_dirty, pages.kib);
    swap += pages.swapped_kib;
    if (pages.kind != PageKind::anon) continue;  // VmSwap and SwapPss exclude swapped shmem
    vm_swap += pages.swapped_kib;
    swap_pss.add(pages.swapped_kib, mappers);
  }
  const std::int64_t resident = rss_kib(process);
  for (const F field : {F::rss, F::vm_rss, F::referenced}) memory.set(field, resident);
  for (const F field : {F::anonymous, F::rss_anon, F::vm_data}) memory.set(field, rss[PageKind::anon]);
  memory.set(F::rss_file, rss[PageKind::file]);
  memory.set(F::rss_shmem, rss[PageKind::shmem]);
  memory.set(F::pss, all.kib());
  memory.set(F::pss_dirty, dirty.kib());
  memory.set(F::pss_anon, pss[PageKind::anon].kib());
  memory.set(F::pss_file, pss[PageKind::file].kib());
  memory.set(F::pss_shmem, pss[PageKind::shmem].kib());
  memory.set(F::swap, swap);
  memory.set(F::swap_pss, swap_pss.kib());
  memory.set(F::vm_swap, vm_swap);
  memory.set(F::vm_hwm, process.hwm_kib);
  memory.set(F::vm_size, resident + swap);
  memory.set(F::vm_peak, kTotalKib);
  return memory;
}

std::int64_t World::resident_kib(PageKind kind) const {
  std::int64_t kib = 0;
  for (const auto& [id, pages] : objects_) kib += pages.kind == kind ? pages.kib : 0;
  return kib;
}

std::int64_t World::mapped_kib() const {
  std::int64_t kib = 0;
  for (const auto& [id, pages] : objects_)
    kib += pages.kind != PageKind::anon && !pages.mappers.empty() ? pages.kib : 0;
  return kib;
}

std::int64_t World::swapped_kib() const {
  std::int64_t kib = 0;
  for (const auto& [id, pages] : objects_) kib += pages.swapped_kib;
  return kib;
}

std::int64_t World::used_kib() const {
  return kKernelKib + resident_kib(PageKind::anon) + resident_kib(PageKind::shmem);
}

}  // namespace memoir::world
