#include <set>
#include <string>

#include "model/machine.h"
#include "model/process.h"
#include "support/catch.h"

using namespace memoir;

namespace {

template <typename Names>
void check_unique(const Names& names) {
  std::set<std::string> keys;
  std::set<std::string> columns;
  for (const FieldName& name : names) {
    REQUIRE(name.key != nullptr);
    REQUIRE(name.column != nullptr);
    INFO(name.key);
    CHECK(keys.insert(name.key).second);
    CHECK(columns.insert(name.column).second);
  }
}

std::string column(ProcessField field) {
  return kProcessFields[static_cast<std::size_t>(field)].column;
}

std::string column(MachineField field) {
  return kMachineFields[static_cast<std::size_t>(field)].column;
}

}  // namespace

TEST_CASE("each field has a key and a column of its own") {
  check_unique(kProcessFields);
  check_unique(kMachineFields);
}

TEST_CASE("a process's fields are in the order of their names, all of them in KiB") {
  CHECK(column(ProcessField::rss) == "rss_kib");
  CHECK(column(ProcessField::pss_shmem) == "pss_shmem_kib");
  CHECK(column(ProcessField::ksm) == "ksm_kib");
  CHECK(column(ProcessField::locked) == "locked_kib");
  CHECK(column(ProcessField::vm_peak) == "vm_peak_kib");
  CHECK(column(ProcessField::rss_anon) == "rss_anon_kib");
  CHECK(column(ProcessField::hugetlb_pages) == "hugetlb_pages_kib");
  for (const FieldName& name : kProcessFields) CHECK(std::string(name.column).ends_with("_kib"));
  CHECK(kRollupFields == static_cast<std::size_t>(ProcessField::locked) + 1);
}

TEST_CASE("the machine's fields are in the order of their names, with the unit of their file") {
  CHECK(column(MachineField::mem_total) == "mem_total_kib");
  CHECK(column(MachineField::kernel_reclaimable) == "kernel_reclaimable_kib");
  CHECK(column(MachineField::huge_pages_total) == "huge_pages_total_kib");
  CHECK(column(MachineField::direct_map_1g) == "direct_map_1g_kib");
  CHECK(column(MachineField::pgfault) == "pgfault");
  CHECK(column(MachineField::compact_stall) == "compact_stall");
  CHECK(column(MachineField::nr_vmscan_immediate_reclaim) == "nr_vmscan_immediate_reclaim");
  CHECK(column(MachineField::psi_some_avg10) == "psi_some_avg10_bp");
  CHECK(column(MachineField::psi_full_total) == "psi_full_total_us");
  for (std::size_t i = 0; i < kFirstVmstat; ++i) CHECK(std::string(kMachineFields[i].column).ends_with("_kib"));
  for (std::size_t i = kFirstVmstat; i < kFirstPressure; ++i) {
    CHECK(std::string(kMachineFields[i].column) == kMachineFields[i].key);
  }
}
