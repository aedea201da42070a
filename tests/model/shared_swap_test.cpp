#include "model/shared_swap.h"

#include "support/catch.h"

using namespace memoir;
using F = ProcessField;
using K = MappingKind;

namespace {

MappingRow row(std::string label, std::int64_t pss_kib) {
  MappingRow row{{K::tmpfs, std::move(label)}, {}};
  row.use.regions = 1;
  row.use.memory.set(F::pss, pss_kib);
  return row;
}

MappingRow shared_row(std::string label, std::int64_t regions, std::int64_t swap_kib) {
  MappingRow shared = row(std::move(label), 0);
  shared.use.regions = regions;
  shared.use.shared_regions = regions;
  shared.use.shared_swap_kib = swap_kib;
  return shared;
}

ProcessMappings process(std::int32_t pid, std::vector<MappingRow> rows) {
  return {{.pid = pid}, {std::move(rows), {}}};
}

}  // namespace

TEST_CASE("shared swap: an object's swap is divided by the number of its mappings in all processes") {
  const std::vector<ProcessMappings> summaries{
      process(1, {shared_row("/a", 1, 90), shared_row("/b", 1, 40)}),
      process(2, {shared_row("/a", 2, 180)}),
      process(3, {row("/a", 5), shared_row("/c", 1, 0)}),
  };
  const auto shares = share_swap(summaries);
  REQUIRE(shares.size() == 3);
  CHECK(shares[0] == SharedSwap{{.pid = 1}, 30.0 + 40.0, 0});
  CHECK(shares[1] == SharedSwap{{.pid = 2}, 60.0, 0});
  CHECK(shares[2] == SharedSwap{{.pid = 3}, 0.0, 0});  // its private mapping does not count
}

TEST_CASE("shared swap: the amount without a label is reported") {
  std::vector<ProcessMappings> summaries{process(1, {shared_row("/a", 1, 10)})};
  summaries[0].summary.others[static_cast<std::size_t>(K::sysv)].add(shared_row("", 3, 70).use);
  CHECK(share_swap(summaries) == std::vector<SharedSwap>{{{.pid = 1}, 10.0, 70}});
}
