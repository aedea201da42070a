#include "collect/mappings/mapping_fold.h"

#include "support/catch.h"
#include "support/fixture.h"

using namespace memoir;
using F = ProcessField;
using K = MappingKind;

namespace {

const std::vector<TmpfsMount> kTmpfs{{0, 27, "/dev/shm"}, {0, 40, "/run"}, {0, 41, "/tmp/a b"}};

MappingSummary summary_of(const std::string& text, std::size_t max_rows) {
  MappingFold fold(kTmpfs, max_rows);
  SmapsParser parser([&](const SmapsRegion& region) { fold.add(region); });
  REQUIRE(parser.add(text).ok());
  REQUIRE(parser.finish().ok());
  return fold.take();
}

const MappingUse& use_of(const MappingSummary& summary, K kind, std::string_view label) {
  for (const MappingRow& row : summary.rows) {
    if (row.name == MappingNameView{kind, label}) return row.use;
  }
  throw std::runtime_error("no row of " + std::string(label));
}

MappingUse sum_of(const MappingSummary& summary) {
  MappingUse sum;
  for (const MappingRow& row : summary.rows) sum.add(row.use);
  for (const MappingUse& others : summary.others) sum.add(others);
  return sum;
}

SmapsRegion region(std::string path, std::int64_t pss_kib, std::string permissions = "rw-p") {
  SmapsRegion region;
  region.end = 4096;
  region.permissions = std::move(permissions);
  region.path = std::move(path);
  region.memory.set(F::pss, pss_kib);
  return region;
}

K kind_of(std::string path, std::uint32_t minor = 0, std::string permissions = "rw-p") {
  SmapsRegion mapped = region(std::move(path), 0, std::move(permissions));
  mapped.minor = minor;
  const MappingNameView name = mapping_name(mapped, kTmpfs);
  CHECK(name.label == mapped.path);
  return name.kind;
}

}  // namespace

TEST_CASE("mapping summary: each region has its kind") {
  CHECK(kind_of("/usr/lib/libc.so.6") == K::file);
  CHECK(kind_of("") == K::anonymous);
  CHECK(kind_of("[anon:scudo:primary]") == K::anonymous);
  CHECK(kind_of("[heap]") == K::heap);
  CHECK(kind_of("[stack]") == K::stack);
  CHECK(kind_of("[stack:1234]") == K::stack);
  CHECK(kind_of("[vdso]") == K::vdso);
  CHECK(kind_of("[vvar]") == K::vvar);
  CHECK(kind_of("[vvar_vclock]") == K::vvar);
  CHECK(kind_of("[vsyscall]") == K::vsyscall);
  CHECK(kind_of("[anon_shmem:cache]", 1, "rw-s") == K::shared_anonymous);
  CHECK(kind_of("/dev/zero (deleted)", 1, "rw-s") == K::shared_anonymous);
  CHECK(kind_of("/SYSV0052e2c1 (deleted)", 1, "rw-s") == K::sysv);
  CHECK(kind_of("/memfd:a b (deleted)", 1, "rw-s") == K::memfd);
  CHECK(kind_of("/dev/shm/x", 27) == K::tmpfs);
  CHECK(kind_of("/anon_hugepage (deleted)", 15) == K::anonymous);
  CHECK(kind_of("/anon_hugepage (deleted)", 15, "rw-s") == K::shared_anonymous);
  CHECK(kind_of("[uprobes]") == K::other);
  CHECK(kind_of("anon_inode:[perf_event]", 14) == K::other);
  CHECK(kind_of("[heap] or not") == K::other);
}

TEST_CASE("mapping summary: several tiny names are merged by kind") {
  MappingSummary summary;
  const auto add = [&](K kind, std::string label, std::int64_t kib) {
    MappingRow row{{kind, std::move(label)}, {}};
    row.use.regions = 1;
    row.use.memory.set(F::rss, kib);
    row.use.memory.set(F::pss, kib);
    summary.rows.push_back(std::move(row));
  };
  add(K::heap, "[heap]", 100'000);
  add(K::file, "/large", 800);
  add(K::file, "/a", 300);
  add(K::file, "/b", 200);
  add(K::stack, "[stack]", 100);
  const MappingUse before = sum_of(summary);
  fold_small(summary);
  REQUIRE(summary.rows.size() == 3);
  CHECK(summary.rows[1].name.label == "/large");
  CHECK(summary.rows[2].name.label == "[stack]");
  CHECK(summary.others[static_cast<std::size_t>(K::file)].regions == 2);
  CHECK(sum_of(summary) == before);
}

TEST_CASE("mapping summary: a deleted file keeps its kind, and a tmpfs is recognised by its device") {
  CHECK(kind_of("/dev/shm/x (deleted)", 27) == K::tmpfs);
  CHECK(kind_of("/opt/x (deleted)", 26) == K::file);
  CHECK(kind_of("/run/user/1000/doc/of another file system", 39) == K::file);
  CHECK(kind_of("/run/x", 40) == K::tmpfs);
  CHECK(kind_of("/elsewhere/x", 41) == K::tmpfs);  // the process has a tmpfs mounted there
}

TEST_CASE("mapping summary: each kind has a name of its own") {
  std::vector<std::string_view> names;
  for (std::size_t kind = 0; kind < kMappingKinds; ++kind) names.push_back(to_string(static_cast<K>(kind)));
  CHECK(names.front() == "file");
  CHECK(names.back() == "other");
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}

TEST_CASE("mapping summary of a real process: regions are summed by kind and label") {
  const MappingSummary summary = summary_of(test::fixture("linux-6.18/mapper/smaps"), 100);
  CHECK(summary.rows.size() == 19);
  const MappingUse& program = use_of(summary, K::file, "/tmp/ledger/mapper");
  CHECK(program.regions == 5);
  CHECK(program.size_kib == 5 * 4);
  CHECK(program.shared_regions == 0);
  const MappingUse& memory = use_of(summary, K::anonymous, "");
  CHECK(memory.regions == 4);
  CHECK(memory.memory.get(F::rss) == 732);
  CHECK(use_of(summary, K::tmpfs, "/dev/shm/ledger gone (deleted)").memory.get(F::rss) == 24);
  CHECK(use_of(summary, K::tmpfs, "/dev/shm/ledger").shared_regions == 1);
  CHECK(use_of(summary, K::sysv, "/SYSV4d656d6f (deleted)").memory.get(F::pss) == 64);
  CHECK(use_of(summary, K::memfd, "/memfd:a buffer (deleted)").size_kib == 256);
  CHECK(use_of(summary, K::shared_anonymous, "/dev/zero (deleted)").memory.get(F::rss) == 256);
  CHECK(use_of(summary, K::file, "/tmp/ledger/a\nnewline").regions == 1);
  CHECK(use_of(summary, K::vvar, "[vvar_vclock]").regions == 1);
  CHECK(summary.rows.front().name == MappingName{K::anonymous, ""});
  CHECK(std::is_sorted(summary.rows.begin(), summary.rows.end(), ranks_before));
}

TEST_CASE("mapping summary: with few rows the largest stay, the others are summed by kind, and the total is right") {
  const std::string text = test::fixture("linux-6.18/mapper/smaps");
  const MappingSummary all = summary_of(text, 100);
  const auto max_rows = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{10}, std::size_t{19});
  const MappingSummary few = summary_of(text, max_rows);
  CHECK(few.rows.size() == max_rows);
  CHECK(sum_of(few) == sum_of(all));
  if (max_rows == 0 || max_rows > 10) return;
  CHECK(few.rows.front().name == all.rows.front().name);
  CHECK(few.others[static_cast<std::size_t>(K::sysv)].regions == (max_rows == 10 ? 0 : 2));
}

TEST_CASE("mapping summary: the largest stay even if many small ones follow") {
  MappingFold fold(kTmpfs, 2);
  fold.add(region("/large", 500));
  for (int i = 0; i < 1000; ++i) fold.add(region("/small/" + std::to_string(i), i % 7));
  fold.add(region("/larger", 900));
  fold.add(region("/large", 1));
  const MappingSummary summary = fold.take();
  REQUIRE(summary.rows.size() == 2);
  CHECK(summary.rows[0].name.label == "/larger");
  CHECK(summary.rows[1].name.label == "/large");
  CHECK(summary.rows[1].use.pss_kib() == 501);
  CHECK(summary.others[static_cast<std::size_t>(K::file)].regions == 1000);
  CHECK(fold.take() == MappingSummary());
}

TEST_CASE("mapping summary: a field that no region has is absent, and swap of a shared region counts as shared") {
  MappingFold fold(kTmpfs, 10);
  SmapsRegion mapped = region("/lib", 3, "r--s");
  mapped.memory.set(F::swap, 40);
  fold.add(mapped);
  mapped.permissions = "rw-p";
  fold.add(mapped);
  const MappingSummary summary = fold.take();
  REQUIRE(summary.rows.size() == 1);
  const MappingUse& use = summary.rows.front().use;
  CHECK(use.regions == 2);
  CHECK(use.shared_regions == 1);
  CHECK(use.shared_swap_kib == 40);
  CHECK(use.memory.get(F::swap) == 80);
  CHECK_FALSE(use.memory.has(F::rss));
}

TEST_CASE("mapping summary: sums saturate at the largest number") {
  MappingFold fold(kTmpfs, 10);
  fold.add(region("/x", std::numeric_limits<std::int64_t>::max()));
  fold.add(region("/x", 1));
  CHECK(fold.take().rows.front().use.pss_kib() == std::numeric_limits<std::int64_t>::max());
}
