#include "analysis/shared_objects.h"

#include "support/catch.h"

using namespace memoir;
using F = ProcessField;
using K = MappingKind;

namespace {

MappingRow object(K kind, std::string label, std::int64_t pss_kib, std::int64_t regions = 1) {
  MappingRow row{{kind, std::move(label)}, {}};
  row.use.regions = regions;
  row.use.size_kib = regions * 8;
  row.use.memory.set(F::pss, pss_kib);
  return row;
}

ProcessMappings process(std::int32_t pid, std::vector<MappingRow> rows) {
  return {{.pid = pid}, {std::move(rows), {}}};
}

}  // namespace

TEST_CASE("shared objects: sums over processes by kind and label, consumers by PSS") {
  const std::vector<ProcessMappings> summaries{
      process(1, {object(K::file, "/lib", 10, 4), object(K::heap, "[heap]", 50)}),
      process(2, {object(K::file, "/lib", 30, 5), object(K::tmpfs, "/lib", 7)}),
      process(3, {object(K::file, "/lib", 30, 1)}),
  };
  const SharedObjects shared = fold_objects(summaries);
  REQUIRE(shared.objects.size() == 3);
  const SharedObject& lib = shared.objects[0];
  CHECK(lib.row.name == MappingName{K::file, "/lib"});
  CHECK(lib.row.use.pss_kib() == 70);
  CHECK(lib.row.use.regions == 10);
  CHECK(lib.row.use.size_kib == 80);
  CHECK_FALSE(lib.row.use.memory.has(F::rss));
  CHECK(lib.consumers == std::vector<Consumer>{{{.pid = 2}, 5, 30}, {{.pid = 3}, 1, 30}, {{.pid = 1}, 4, 10}});
  CHECK(shared.objects[1].row.name == MappingName{K::heap, "[heap]"});
  CHECK(shared.objects[2].row.name == MappingName{K::tmpfs, "/lib"});
  CHECK(shared.objects[2].consumers.size() == 1);
}

TEST_CASE("shared objects: the allocated size counts where processes map a part of the object") {
  MappingRow part = object(K::memfd, "/memfd:x (deleted)", 10);
  part.use.memory.set(F::rss, 20);
  MappingRow whole = part;
  whole.use.object_kib = 1000;
  whole.use.shared_swap_kib = 300;
  const SharedObjects shared = fold_objects(std::vector<ProcessMappings>{process(1, {part}), process(2, {whole})});
  REQUIRE(shared.objects.size() == 1);
  CHECK(shared.objects[0].memory_kib() == 700);
  CHECK(shared.objects[0].row.use.object_kib == 1000);
  CHECK(fold_objects(std::vector<ProcessMappings>{process(1, {part})}).objects[0].memory_kib() == 20);
}

TEST_CASE("shared objects: unlabelled sums stay separate") {
  std::vector<ProcessMappings> summaries{process(1, {}), process(2, {object(K::file, "/lib", 1)})};
  for (ProcessMappings& summary : summaries) summary.summary.others[0].add(object(K::file, "", 5, 3).use);
  const SharedObjects shared = fold_objects(summaries);
  CHECK(shared.objects.size() == 1);
  CHECK(shared.others[0].pss_kib() == 10);
  CHECK(shared.others[0].regions == 6);
  CHECK(fold_objects({}).objects.empty());
}
