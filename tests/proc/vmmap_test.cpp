#include "proc/vmmap.h"

#include "support/catch.h"
#include "support/fixture.h"

using namespace memoir;
using F = ProcessField;

namespace {

VmmapRegion region_of(std::string_view line) {
  auto region = parse_vmmap_line(line);
  INFO(line);
  REQUIRE(region.ok());
  REQUIRE(region->has_value());
  return **region;
}

// Parses `text`; the paths are views into it.
VmmapProcess vmmap_of(const std::string& text, std::int64_t odd_lines = 0) {
  OddLines odd;
  VmmapProcess process = parse_vmmap(text, &odd);
  CHECK(odd.count() == odd_lines);
  process.path = {};
  return process;
}

}  // namespace

TEST_CASE("vmmap: sizes may have a fraction and a unit in any case, bytes are rounded up, and an empty size is 0") {
  const auto size = [](std::string_view text) { return parse_vmmap_size(text).value_or(-1); };
  CHECK(size("1024K") == 1024);
  CHECK(size("16k") == 16);
  CHECK(size("1.5M") == 1536);
  CHECK(size("56.0m") == 56 * 1024);
  CHECK(size("1.0G") == 1024 * 1024);
  CHECK(size("0.25g") == 256 * 1024);
  CHECK(size("2T") == std::int64_t{2} << 30);
  CHECK(size("314.6K") == 315);
  CHECK(size("314.4K") == 314);
  CHECK(size("0K") == 0);
  CHECK(size("0") == 0);
  CHECK(size("1") == 1);
  CHECK(size("1024") == 1);
  CHECK(size("1025") == 2);
  CHECK(size("1024.5") == 2);
  CHECK(size("") == 0);
  CHECK(size("  ") == 0);
  CHECK(size(" 4K ") == 4);
  CHECK(size("999999999999999K") == 999'999'999'999'999);
}

TEST_CASE("vmmap: other text is not a size") {
  for (const std::string_view text :
       {"K", "-1K", "1,5M", "1.5.2M", "0x10", "1P", "K4", "4KK", "nan", "1e3K", "9999999999999999K", ".5M"}) {
    INFO(text);
    CHECK_FALSE(parse_vmmap_size(text).has_value());
  }
  CHECK_FALSE(parse_vmmap_size("999999999999999T").has_value());
}

TEST_CASE("vmmap: every part of a region's line is parsed") {
  const VmmapRegion region = region_of(
      "MALLOC_LARGE (empty)        13d000000-13d080000    [  512K   500K  1.5M     2K] rw-/rwx SM=PRV PURGE=V  "
      "Zone_0x1 [x]");
  CHECK(region.name == "MALLOC_LARGE (empty)");
  CHECK(region.start == 0x13d000000);
  CHECK(region.end == 0x13d080000);
  CHECK(region.size_kib == 512);
  CHECK(region.resident_kib == 500);
  CHECK(region.dirty_kib == 1536);
  CHECK(region.swapped_kib == 2);
  CHECK(region.permissions == "rw-/rwx");
  CHECK(region.mode == "PRV");
  CHECK(region.details == "PURGE=V  Zone_0x1 [x]");
}

TEST_CASE("vmmap: lines may be wide or narrow, with two to four sizes, and with unknown modes") {
  CHECK(region_of("__TEXT 0000000100000000-000000010007a000 [  488K/  440K] r-x/rwx SM=COW  /bin/bash").resident_kib ==
        440);
  const VmmapRegion two = region_of("x 1000-2000 [ 4K 2K] r-x/rwx SM=COW");
  CHECK_FALSE(two.dirty_kib.has_value());
  CHECK_FALSE(two.swapped_kib.has_value());
  CHECK(two.details.empty());
  const VmmapRegion three = region_of("x 1000-2000[4K 2K 1K]r-x/rwx SM=QQQ");
  CHECK(three.dirty_kib == 1);
  CHECK_FALSE(three.swapped_kib.has_value());
  CHECK(three.mode == "QQQ");
  CHECK(region_of("CG raster data (dead-beef [1]) 10-20 [ 4K 4K 4K 4K ] ---/--- SM=S/A").name ==
        "CG raster data (dead-beef [1])");
  CHECK(region_of("...very long na... 10-20 [ 4K 4K 4K 4K ] ---/--- SM=NUL").name == "...very long na...");
  CHECK(region_of("10-20 [ 4K 4K 4K 4K ] ---/--- SM=NUL").name.empty());
}

TEST_CASE("vmmap: headers, summaries, legends and empty lines are skipped") {
  for (const std::string_view line :
       {"", "   ", "REGION TYPE    START - END   [ VSIZE  RSDNT  DIRTY   SWAP] PRT/MAX SHRMOD PURGE    REGION DETAIL",
        "SM=sharing mode:", "Process:         face-b00c [412]", "Parent Process:  my a-b [1]",
        "Date/Time:       2026-11-22 13:05:10.104 +0000",
        "MALLOC_TINY     1024K     160K     160K      96K       0K       0K       0K        1",
        "Load Address:    0x1000", "Code Type:       X86-64 (Native)", "some face-b00c here"}) {
    INFO(line);
    const auto region = parse_vmmap_line(line);
    REQUIRE(region.ok());
    CHECK_FALSE(region->has_value());
  }
}

TEST_CASE("vmmap: a line like a region that cannot be parsed is malformed, and the error contains it") {
  for (const std::string_view line :
       {"__TEXT 1000-2000 [ 4K ] r-x/rwx SM=COW", "__TEXT 1000-2000 [ ] r-x/rwx SM=COW",
        "__TEXT 1000-2000 [ 4K 4K 4K 4K 4K ] r-x/rwx SM=COW", "__TEXT 1000-2000 [ 4K 4K 4Q 4K ] r-x/rwx SM=COW",
        "__TEXT 2000-1000 [ 4K 4K 4K 4K ] r-x/rwx SM=COW", "__TEXT 1000-2000 [ 4K 4K 4K 4K ] SM=COW",
        "__TEXT 1000-2000 [ 4K 4K 4K 4K ] r-x/rwx", "__TEXT 1000-2000 [ 4K 4K 4K 4K ] r-x/rwx SM=",
        "__TEXT 1000-2000 [ 4K 4K 4K 4K", "__TEXT 1000..2000 [ 4K 4K 4K 4K ] r-x/rwx SM=COW",
        "__TEXT 10000000000000000-2000 [ 4K 4K 4K 4K ] r-x/rwx SM=COW", "__TEXT 104a5c000-104a60000"}) {
    INFO(line);
    const auto region = parse_vmmap_line(line);
    REQUIRE_FALSE(region.ok());
    CHECK(region.error().kind == ErrorKind::malformed);
    CHECK(region.error().message.starts_with("vmmap: cannot understand \"__TEXT"));
  }
}

TEST_CASE("vmmap of macOS 14: the sums of a process by sharing mode") {
  const std::string text = test::fixture("vmmap/macos-14");
  const VmmapProcess process = parse_vmmap(text);
  CHECK(process.path == "/Applications/Shop Server.app/Contents/MacOS/shop server");
  CHECK(process.regions == 20);
  const ProcessMemory& memory = process.memory;
  // COW 16+16+299+42189+16, PRV 16+16+160+512+512, SHM 48+1024; 512+32+16+16 of other modes count only in the totals.
  CHECK(memory.get(F::rss) == 42536 + 1216 + 1072 + 576);
  CHECK(memory.get(F::private_clean) == 32);
  CHECK(memory.get(F::private_dirty) == 1184);
  CHECK(memory.get(F::shared_clean) == 42536 - 16);
  CHECK(memory.get(F::shared_dirty) == 16 + 48 + 1024);
  CHECK(memory.get(F::swap) == 96 + 1536);
  CHECK(memory.get(F::anonymous) == 160 + 512 + 512 + 48 + 16);
  CHECK_FALSE(memory.has(F::pss));
}

TEST_CASE("vmmap of macOS 10.14: long addresses and narrow lines are parsed") {
  const VmmapProcess process = vmmap_of(test::fixture("vmmap/macos-10.14"));
  CHECK(process.regions == 12);
  CHECK(process.memory.get(F::rss) == 56 + 4 + 4 + 4 + 60 + 12595 + 4 + 16);
  CHECK(process.memory.get(F::private_dirty) == 4 + 4 + 60 + 12595 + 16);
  CHECK(process.memory.get(F::private_clean) == 0);
  CHECK(process.memory.get(F::shared_clean) == 56);
  CHECK(process.memory.get(F::shared_dirty) == 4);
  CHECK(process.memory.get(F::swap) == 512);
  CHECK(process.memory.get(F::anonymous) == 4 + 4 + 60 + 12595 + 4);
}

TEST_CASE("vmmap of Mac OS X 10.6: values that it lacks are absent, not zero") {
  const VmmapProcess process = vmmap_of(test::fixture("vmmap/macos-10.6-resident"));
  CHECK(process.regions == 8);
  CHECK(process.memory.get(F::rss) == 440 + 36 + 40 + 152 + 16 + 8);
  CHECK(process.memory.get(F::anonymous) == 152 + 16);
  for (const F field : {F::private_clean, F::private_dirty, F::shared_clean, F::shared_dirty, F::swap}) {
    CHECK_FALSE(process.memory.has(field));
  }
}

TEST_CASE("vmmap: an exited process has no region, and no zeros") {
  const VmmapProcess process = vmmap_of(test::fixture("vmmap/gone"));
  CHECK(process.regions == 0);
  CHECK(process.memory == ProcessMemory());
  CHECK(vmmap_of("").memory == ProcessMemory());
}

TEST_CASE("vmmap: malformed lines are counted, and the others are parsed") {
  const VmmapProcess process = vmmap_of(
      "a 1000-2000 [4K 4K 0K 0K] r--/r-- SM=PRV\nb 2000-3000 [4K 4K ?] r--/r-- SM=PRV\nc 3000-4000 [4K\n"
      "d 4000-5000 [4K 8K 9K 0K] r--/r-- SM=PRV\r\n",
      3);
  CHECK(process.regions == 2);
  CHECK(process.memory.get(F::rss) == 12);
  CHECK_FALSE(process.memory.has(F::private_clean));  // because a region has more dirty than resident pages
  CHECK_FALSE(process.memory.has(F::private_dirty));
}
