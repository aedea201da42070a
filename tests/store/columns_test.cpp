// The columns of process_sample that are not stored if they can be derived from others.

#include "store/rows/columns.h"

#include "random_history.h"
#include "support/catch.h"

namespace memoir::test {
namespace {

using P = ProcessField;

// A typical server process: it shares no memory with a relative and has none swapped out.
ProcessMemory usual() {
  ProcessMemory memory;
  for (const auto& [field, kib] : std::initializer_list<std::pair<P, std::int64_t>>{{P::rss_anon, 12'000},
                                                                                    {P::rss_file, 6'000},
                                                                                    {P::rss_shmem, 400},
                                                                                    {P::vm_rss, 18'400},
                                                                                    {P::shared_clean, 5'000},
                                                                                    {P::shared_dirty, 400},
                                                                                    {P::private_clean, 1'000},
                                                                                    {P::private_dirty, 12'000},
                                                                                    {P::rss, 18'400},
                                                                                    {P::pss_anon, 12'000},
                                                                                    {P::pss_file, 1'700},
                                                                                    {P::pss_shmem, 100},
                                                                                    {P::pss, 13'800},
                                                                                    {P::pss_dirty, 12'100},
                                                                                    {P::anonymous, 12'000},
                                                                                    {P::referenced, 18'400},
                                                                                    {P::vm_hwm, 18'400}})
    memory.set(field, kib);
  return memory;
}

std::vector<P> stored_of(const ProcessMemory& memory) {
  std::vector<P> fields;
  for (const P field : kHotProcessFields) {
    if (packed(memory, Source::exact).has(field)) fields.push_back(field);
  }
  return fields;
}

TEST_CASE("columns: seven of seventeen are stored for a typical process") {
  REQUIRE(stored_of(usual()) == std::vector{P::pss_file, P::pss_shmem, P::shared_clean, P::shared_dirty, P::rss_anon,
                                            P::rss_file, P::rss_shmem});
  REQUIRE(unpacked(packed(usual(), Source::exact), Source::exact) == usual());
}

TEST_CASE("columns: values that differ from the derived ones are stored") {
  ProcessMemory memory = usual();
  memory.set(P::private_dirty, 11'900);  // pages read back from swap are clean
  memory.set(P::private_clean, 1'100);
  REQUIRE(packed(memory, Source::exact).get(P::private_dirty) == 11'900);
  REQUIRE(packed(memory, Source::exact).get(P::private_clean) == 1'100);
  memory.set(P::pss_anon, 6'000);  // half of it is shared with a child
  REQUIRE(packed(memory, Source::exact).get(P::pss_anon) == 6'000);
  REQUIRE(unpacked(packed(memory, Source::exact), Source::exact) == memory);
}

TEST_CASE("columns: parts of PSS that the kernel lacks stay absent") {
  ProcessMemory memory = usual();
  for (const P part : {P::pss_anon, P::pss_file, P::pss_shmem, P::pss_dirty}) memory.clear(part);
  REQUIRE(!packed(memory, Source::exact).has(P::pss_anon));
  REQUIRE(unpacked(packed(memory, Source::exact), Source::exact) == memory);
}

TEST_CASE("columns: any values are read back unchanged, whether all fields are requested or some") {
  RandomHistory history(11);
  for (int i = 0; i < 200; ++i) {
    for (const ProcessSample& sample : history.next().processes) {
      const ProcessMemory stored = packed(sample.memory, sample.source);
      const ProcessMemory all = unpacked(stored, sample.source);
      for (const P field : kHotProcessFields) {
        REQUIRE(all.get(field) == sample.memory.get(field));
        const Unpacker alone({&field, 1});
        ProcessMemory few;
        for (const P column : alone.columns()) few.set(column, stored.get(column));
        alone.unpack(few, sample.source);
        REQUIRE(few.get(field) == sample.memory.get(field));
      }
    }
  }
}

}  // namespace
}  // namespace memoir::test
