#include "proc/smaps.h"

#include <vector>

#include "proc/smaps_rollup.h"
#include "support/catch.h"
#include "support/fixture.h"

using namespace memoir;
using F = ProcessField;

namespace {

struct Parsed {
  std::vector<SmapsRegion> regions;
  std::optional<Error> error;
};

Parsed parse(std::string_view text, std::size_t piece_bytes) {
  Parsed parsed;
  SmapsParser parser([&](const SmapsRegion& region) { parsed.regions.push_back(region); });
  for (std::size_t at = 0; at < text.size(); at += piece_bytes) {
    const Status added = parser.add(text.substr(at, piece_bytes));
    if (added) continue;
    parsed.error = added.error();
    return parsed;
  }
  const Status finished = parser.finish();
  if (!finished) parsed.error = finished.error();
  return parsed;
}

std::vector<SmapsRegion> regions_of(std::string_view text) {
  const Parsed parsed = parse(text, text.size());
  REQUIRE_FALSE(parsed.error);
  return parsed.regions;
}

Error refusal_of(std::string_view text) {
  const Parsed parsed = parse(text, text.size() + 1);
  REQUIRE(parsed.error);
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{7}}) {
    CHECK(parse(text, bytes).error->message == parsed.error->message);
  }
  return *parsed.error;
}

const SmapsRegion& with_path(const std::vector<SmapsRegion>& regions, std::string_view path) {
  for (const SmapsRegion& region : regions) {
    if (region.path == path) return region;
  }
  throw std::runtime_error("no region of " + std::string(path));
}

ProcessMemory sums_of(const std::vector<SmapsRegion>& regions) {
  ProcessMemory sums;
  for (const SmapsRegion& region : regions) {
    for (std::size_t i = 0; i < kRollupFields; ++i) sums.add(static_cast<F>(i), region.memory);
  }
  return sums;
}

constexpr const char* kRegionHead = "00400000-00452000 r-xp 00000000 08:02 173521      /usr/bin/dbus-daemon\n";

}  // namespace

TEST_CASE("smaps of Linux 6.18: every part of a region") {
  const auto regions = regions_of(test::fixture("linux-6.18/mapper/smaps"));
  CHECK(regions.size() == 34);
  const SmapsRegion& first = regions.front();
  CHECK(first.start == 0x56351a4bb000);
  CHECK(first.end == 0x56351a4bc000);
  CHECK(first.permissions == "r--p");
  CHECK_FALSE(first.shared());
  CHECK(first.major == 0xfe);
  CHECK(first.minor == 0);
  CHECK(first.inode == 10954420);
  CHECK(first.path == "/tmp/ledger/mapper");
  const SmapsRegion& last = regions.back();
  CHECK(last.start == 0xffffffffff600000);
  CHECK(last.permissions == "--xp");
  CHECK(last.path == "[vsyscall]");
  CHECK(last.memory.get(F::rss) == 0);

  const SmapsRegion& memfd = with_path(regions, "/memfd:a buffer (deleted)");
  CHECK(memfd.shared());
  CHECK(memfd.memory.get(F::rss) == 128);
  CHECK(memfd.memory.get(F::private_dirty) == 128);
  CHECK(memfd.memory.get(F::ksm) == 0);
  CHECK_FALSE(memfd.memory.has(F::pss_anon));  // this field is only in smaps_rollup
  CHECK_FALSE(memfd.memory.has(F::vm_rss));
  CHECK(regions[2].offset == 0x2000);
}

TEST_CASE("smaps: paths are complete, with spaces, newlines and the suffix (deleted)") {
  const auto regions = regions_of(test::fixture("linux-6.18/mapper/smaps"));
  CHECK(with_path(regions, "/tmp/ledger/with two  spaces").memory.get(F::rss) == 16);
  CHECK(with_path(regions, "/tmp/ledger/a\nnewline").permissions == "rw-p");
  CHECK(with_path(regions, "/tmp/ledger/gone (deleted)").inode == 10954412);
  CHECK(with_path(regions, "").inode == 0);
  const std::string fields = "Rss: 1 kB\n";
  const auto odd = regions_of("1000-2000 rw-p 00000000 00:1b 7 /a\\040b\\134\\012\\012\\01 \n" + fields);
  CHECK(odd.front().path == "/a\\040b\\134\n\n\\01 ");
}

TEST_CASE("smaps: the regions add up to smaps_rollup") {
  std::size_t compared = 0;
  for (const std::string& name : test::fixtures("smaps")) {
    INFO(name);
    const auto regions = regions_of(test::fixture(name));
    const std::string rollup = name + "_rollup";
    ProcessMemory expected;
    REQUIRE(parse_smaps_rollup(test::fixture(rollup), expected).ok());
    const ProcessMemory sums = sums_of(regions);
    for (std::size_t i = 0; i < kRollupFields; ++i) {
      const F field = static_cast<F>(i);
      INFO(kProcessFields.at(i).key);
      const bool rollup_only = field == F::pss_anon || field == F::pss_file || field == F::pss_shmem;
      CHECK(sums.has(field) == (expected.has(field) && !rollup_only));
      if (!sums.has(field)) continue;
      // The kernel rounds proportional shares down to KiB in each region.
      CHECK(sums.or_zero(field) <= expected.or_zero(field));
      CHECK(sums.or_zero(field) >= expected.or_zero(field) - static_cast<std::int64_t>(regions.size()));
      const bool share = field == F::pss || field == F::pss_dirty || field == F::swap_pss || field == F::locked;
      if (!share) CHECK(sums.get(field) == expected.get(field));
    }
    ++compared;
  }
  CHECK(compared == 4);
}

TEST_CASE("smaps of older kernels: missing fields are absent, the others the same") {
  const auto newest = regions_of(test::fixture("linux-6.1/mysqld/smaps"));
  auto middle = regions_of(test::fixture("linux-4.18/mysqld/smaps"));
  REQUIRE(newest.size() == 8);
  REQUIRE(middle.size() == newest.size());
  CHECK(newest[4].path == "[anon:mysqld thread stack]");
  CHECK(middle[4].path.empty());
  for (std::size_t i = 0; i < newest.size(); ++i) {
    ProcessMemory expected = newest[i].memory;
    for (const F field : {F::pss_dirty, F::file_pmd_mapped}) expected.clear(field);
    CHECK(middle[i].memory == expected);
  }
}

TEST_CASE("smaps: a text read in pieces of any size gives the same regions") {
  const std::string text = test::fixture("linux-6.18/mapper/smaps");
  const Parsed whole = parse(text, text.size());
  const auto bytes = GENERATE(std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{72}, std::size_t{4096});
  const Parsed pieces = parse(text, bytes);
  REQUIRE_FALSE(pieces.error);
  REQUIRE(pieces.regions.size() == whole.regions.size());
  for (std::size_t i = 0; i < whole.regions.size(); ++i) CHECK(pieces.regions[i] == whole.regions[i]);
}

TEST_CASE("smaps: lines may be unknown and in any order, and no field is from the previous region") {
  const auto regions =
      regions_of(std::string(kRegionHead) + "Pss: 2 kB\nNew: much\nanon: 3 kB\n\nVmFlags: rd\nRss: 4 kB\n" +
                 "b000-c000 rw-s 00000000 00:00 0 \nSwap: 5 kB\n");
  REQUIRE(regions.size() == 2);
  CHECK(regions[0].memory.get(F::pss) == 2);
  CHECK(regions[0].memory.get(F::rss) == 4);
  CHECK(regions[1].memory.get(F::swap) == 5);
  CHECK_FALSE(regions[1].memory.has(F::rss));
}

TEST_CASE("smaps: a line with 0 counts only if the complete line belongs to the field") {
  const std::string region = "00400000-00401000 r--p 00000000 00:00 0 \n";
  const std::string zeros = region + "Rss:                   0 kB\nPss:                   0 kB\n";
  const auto last_of = [&](const std::string& lines) { return regions_of(zeros + region + lines).back().memory; };
  const ProcessMemory same = last_of("Rss:                   0 kB\nPss:                   4 kB\n");
  CHECK(same.get(F::rss) == 0);
  CHECK(same.get(F::pss) == 4);
  const ProcessMemory others = last_of("Pss:                   0 kB\nRss:  0 kB\nSwap:                  0 kB\n");
  CHECK(others.get(F::pss) == 0);
  CHECK(others.get(F::rss) == 0);
  CHECK(others.get(F::swap) == 0);
  CHECK_FALSE(others.has(F::locked));
  CHECK_FALSE(last_of("Rss:                   0 kB x\nPss:                   4 kB\n").has(F::rss));
  CHECK_FALSE(regions_of(region + std::string(28, '\0') + "\nPss:  4 kB\n").back().memory.has(F::rss));
}

TEST_CASE("smaps: no text means that the process has exited") {
  CHECK(refusal_of("").kind == ErrorKind::not_found);
}

TEST_CASE("smaps: a text with a field before the first region or without fields is malformed") {
  CHECK(refusal_of("Rss: 1 kB\n").kind == ErrorKind::malformed);
  CHECK(refusal_of(kRegionHead).message == "smaps: none of its lines is known");
  CHECK(refusal_of("\n").message == "smaps: none of its lines is known");
  CHECK(refusal_of(std::string(1000, '\0')).kind == ErrorKind::malformed);
}

TEST_CASE("smaps: the longest path is accepted, longer ones are malformed and not buffered") {
  const std::string head = "1000-2000 rw-p 00000000 00:00 0 /";
  std::string newlines;
  for (int i = 0; i < 4095; ++i) newlines += "\\012";
  CHECK(regions_of(head + newlines + "\nRss: 1 kB\n").front().path == '/' + std::string(4095, '\n'));
  CHECK(regions_of(head + std::string(4095, 'x') + "\nRss: 1 kB\n").front().path.size() == 4096);
  CHECK(refusal_of(head + std::string(4096, 'x') + "\nRss: 1 kB\n").kind == ErrorKind::malformed);

  SmapsParser parser([](const SmapsRegion&) {});
  const std::string piece(1000, 'x');
  std::size_t taken = 0;
  while (parser.add(piece)) taken += piece.size();
  CHECK(taken < 32 * 1024);
}

TEST_CASE("smaps: a text truncated anywhere is malformed or lacks the part after it") {
  const std::string whole = test::fixture("linux-6.1/mysqld/smaps");
  const auto all = regions_of(whole);
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const Parsed parsed = parse(std::string_view(whole).substr(0, size), 512);
    CHECK((parsed.error || whole[size - 1] == '\n'));
    REQUIRE(parsed.regions.size() <= all.size());
    for (std::size_t i = 0; i < parsed.regions.size(); ++i) {
      for (std::size_t f = 0; f < kRollupFields; ++f) {
        const auto value = parsed.regions[i].memory.get(static_cast<F>(f));
        if (value && value != all[i].memory.get(static_cast<F>(f))) FAIL("wrong value after truncation at " << size);
      }
    }
  }
}

TEST_CASE("smaps: a region with an odd first line is omitted with all its lines") {
  const auto line =
      GENERATE(as<std::string>{}, "1000-2000\n", "1000-2000 \n", "2000-1000 rw-p 00000000 00:00 0 \n",
               "1000-2000 rw-x 00000000 00:00 0 \n", "1000-2000 rwp 00000000 00:00 0 \n", "1000-2000 rw-p  00:00 0 \n",
               "1000-2000 rw-p 00000000 00-00 0 \n", "1000-2000 rw-p 00000000 00:00 x \n",
               "1000-2zzz rw-p 00000000 00:00 0 \n", "1000-2000 rw-p 00000000 100000000:00 0 \n",
               "1000-2000 rw-p 00000000 00:00\n", "11112222333344445-2000 rw-p 00000000 00:00 0 \n");
  INFO(line);
  const std::string good = kRegionHead + std::string("Pss: 1 kB\nRss: 4 kB\n");
  OddLines odd;
  std::vector<ProcessMemory> found;
  SmapsParser parser([&](const SmapsRegion& region) { found.push_back(region.memory); }, &odd);
  REQUIRE(parser.add(good + line + "Pss: 7 kB\nRss: 8 kB\n" + good).ok());
  REQUIRE(parser.finish().ok());
  REQUIRE(found.size() == 2);
  CHECK(found[0] == found[1]);
  CHECK(found[0].get(F::pss) == 1);
  REQUIRE(odd.count() == 1);
  CHECK(odd.kinds().front().problem == "cannot understand \"" + line.substr(0, line.size() - 1) + '"');
}
