// Ownerless memory: its kinds, its creator, and the processes that still map it.

#include "analysis/ownerless.h"

#include "support/catch.h"

using namespace memoir;

namespace {

MappingRow row(MappingKind kind, std::string label, std::int64_t pss_kib, std::int64_t swap_pss_kib = 0) {
  MappingRow row{{kind, std::move(label)}, {}};
  row.use.regions = 1;
  row.use.memory.set(ProcessField::pss, pss_kib);
  row.use.memory.set(ProcessField::swap_pss, swap_pss_kib);
  return row;
}

ProcessMappings summary(std::int32_t pid, std::vector<MappingRow> rows) {
  ProcessMappings summary;
  summary.process = {pid, 100, 0};
  summary.summary.rows = std::move(rows);
  return summary;
}

SeenSegment segment(std::int64_t shmid, std::int64_t rss_kib, std::int64_t attachments) {
  SeenSegment seen;
  seen.segment.shmid = shmid;
  seen.segment.creator_pid = 7;
  seen.segment.last_pid = 8;
  seen.segment.uid = 70;
  seen.segment.rss_kib = rss_kib;
  seen.segment.swap_kib = 5;
  seen.segment.attachments = attachments;
  seen.segment.detached_ms = 9000;
  seen.first = {1000, 50};
  return seen;
}

SeenFile file(std::string path, std::int64_t kib, bool directory = false) {
  SeenFile seen{std::move(path), {}, {2000, 64}};
  seen.entry.allocated_kib = kib;
  seen.entry.directory = directory;
  seen.entry.uid = 33;
  return seen;
}

}  // namespace

TEST_CASE("ownerless: deleted files and memfds, with all their mappers, the largest first") {
  const std::vector summaries{
      summary(1,
              {row(MappingKind::file, "/usr/lib/a.so (deleted)", 10), row(MappingKind::memfd, "/memfd:x (deleted)", 4),
               row(MappingKind::file, "/usr/lib/b.so", 99), row(MappingKind::heap, "[heap]", 500),
               row(MappingKind::shared_anonymous, "/dev/zero (deleted)", 70)}),
      summary(2, {row(MappingKind::file, "/usr/lib/a.so (deleted)", 30, 2),
                  row(MappingKind::tmpfs, "/tmp/t (deleted)", 3)})};
  const auto all = ownerless_memory(summaries, {}, {}, {});
  REQUIRE(all.size() == 3);
  CHECK(all[0].kind == OwnerlessKind::deleted_file);
  CHECK(all[0].name == "/usr/lib/a.so (deleted)");
  CHECK(all[0].kib == 42);
  REQUIRE(all[0].holders.size() == 2);
  CHECK(all[0].holders[0].process.pid == 2);
  CHECK(all[1].kind == OwnerlessKind::memfd);
  CHECK(all[1].kib == 4);
  CHECK(all[2].name == "/tmp/t (deleted)");
  CHECK_FALSE(all[2].first);
}

TEST_CASE("ownerless: a memfd of known size counts in full at both ends of the range, however much of it is mapped") {
  MappingRow part = row(MappingKind::memfd, "/memfd:x (deleted)", 4);
  part.use.object_kib = 1000;
  FirstMapping first{.name = part.name, .at_ms = 5, .use = part.use, .mappers = 2};
  first.use.add(part.use);
  const auto all = ownerless_memory(std::vector{summary(1, {part})}, std::vector{first}, {}, {});
  REQUIRE(all.size() == 1);
  CHECK(all[0].kib == 1000);
  REQUIRE(all[0].first);
  CHECK(all[0].first->kib == 1000);
}

TEST_CASE("ownerless: segments without attached processes, with creator and last user") {
  const auto all = ownerless_memory({}, {}, std::vector{segment(3, 100, 0), segment(4, 900, 2)}, {});
  REQUIRE(all.size() == 1);
  CHECK(all[0].kind == OwnerlessKind::segment);
  CHECK(all[0].name == "3");
  CHECK(all[0].kib == 105);
  CHECK(all[0].made_by == 7);
  CHECK(all[0].last_used_by == 8);
  CHECK(all[0].uid == 70U);
  CHECK(all[0].left_ms == 9000);
  CHECK(all[0].first == FirstSeen{1000, 50});
}

TEST_CASE("ownerless: files in tmpfs, once each, with their mappers; directories do not count") {
  const std::vector summaries{summary(5, {row(MappingKind::tmpfs, "/dev/shm/ring", 20)})};
  const std::vector files{file("/dev/shm/ring", 128), file("/dev/shm/core", 4096), file("/dev/shm", 5000, true)};
  const auto all = ownerless_memory(summaries, {}, {}, files);
  REQUIRE(all.size() == 2);
  CHECK(all[0].name == "/dev/shm/core");
  CHECK(all[0].holders.empty());
  CHECK(all[1].name == "/dev/shm/ring");
  CHECK(all[1].kib == 128);
  CHECK(all[1].uid == 33U);
  REQUIRE(all[1].holders.size() == 1);
  CHECK(all[1].holders[0].process.pid == 5);
}
