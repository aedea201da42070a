#include "proc/status.h"

#include "support/catch.h"
#include "support/fixture.h"

using namespace memoir;
using F = ProcessField;

TEST_CASE("status of Linux 6.18: the head and every field") {
  const std::string text = test::fixture("linux-6.18/python/status");
  ProcessMemory memory;
  const auto head = parse_status(text, memory);
  REQUIRE(head.ok());
  CHECK(head->name == "python3");
  CHECK(head->state == 'S');
  CHECK(head->parent_pid == 10282);
  CHECK(head->uid == 0);
  CHECK(head->threads == 1);
  CHECK(head->kernel_thread == false);
  CHECK(memory.get(F::vm_peak) == 177764);
  CHECK(memory.get(F::vm_size) == 173664);
  CHECK(memory.get(F::vm_hwm) == 122908);
  CHECK(memory.get(F::vm_rss) == 118952);
  CHECK(memory.get(F::rss_anon) == 50216);
  CHECK(memory.get(F::rss_file) == 11240);
  CHECK(memory.get(F::rss_shmem) == 57496);
  CHECK(memory.get(F::vm_data) == 50696);
  CHECK(memory.get(F::vm_stk) == 132);
  CHECK(memory.get(F::vm_exe) == 4);
  CHECK(memory.get(F::vm_lib) == 9196);
  CHECK(memory.get(F::vm_pte) == 384);
  for (const F field : {F::vm_lck, F::vm_pin, F::vm_swap, F::hugetlb_pages}) CHECK(memory.get(field) == 0);
  CHECK_FALSE(memory.has(F::rss));
}

TEST_CASE("status of older kernels: missing fields are absent, the others the same") {
  const auto parsed = [](const std::string& name) {
    const std::string text = test::fixture(name + "/mysqld/status");
    ProcessMemory memory;
    const auto head = parse_status(text, memory);
    REQUIRE(head.ok());
    CHECK(head->name == "mysqld");
    CHECK(head->uid == 105);
    CHECK(head->threads == 22);
    CHECK_FALSE(head->kernel_thread.has_value());
    return memory;
  };
  ProcessMemory expected = parsed("linux-6.1");
  CHECK(expected.get(F::vm_rss) == 55484);
  CHECK(expected.or_zero(F::rss_anon) + expected.or_zero(F::rss_file) + expected.or_zero(F::rss_shmem) == 55484);
  CHECK(expected.get(F::vm_swap) == 1024);
  CHECK(parsed("linux-5.10") == expected);
  CHECK(parsed("linux-4.18") == expected);
}

TEST_CASE("status of a zombie and a kernel thread has no memory") {
  const auto name = GENERATE(as<std::string>{}, "linux-6.18/zombie", "linux-6.18/kernel-thread", "linux-6.1/zombie",
                             "linux-6.1/kernel-thread");
  INFO(name);
  const std::string text = test::fixture(name + "/status");
  ProcessMemory memory;
  const auto head = parse_status(text, memory);
  REQUIRE(head.ok());
  CHECK(memory == ProcessMemory());
  const bool zombie = name.find("zombie") != std::string::npos;
  CHECK(head->state == (zombie ? 'Z' : 'I'));
  if (name.find("6.18") != std::string::npos) CHECK(head->kernel_thread == !zombie);
}

TEST_CASE("status: a name may consist of parentheses, a newline and a backslash") {
  const std::string text = test::fixture("linux-6.18/odd-comm/status");
  ProcessMemory memory;
  const auto head = parse_status(text, memory);
  REQUIRE(head.ok());
  CHECK(head->name == ") (R 1\\n\\\\ 2)");
  CHECK(unescape_name(head->name.value()) == ") (R 1\n\\ 2)");
  CHECK(head->state == 'R');
}

TEST_CASE("status: names may look like lines, be spaces, or be empty") {
  ProcessMemory memory;
  const auto name_of = [&memory](const std::string& name) {
    const std::string text = "Name:\t" + name + "\nState:\tS (sleeping)\nUid:\t0\t0\t0\t0\n";
    const auto head = parse_status(text, memory);
    REQUIRE(head.ok());
    return std::string(head->name.value());
  };
  CHECK(name_of("VmRSS:\t 9 kB") == "VmRSS:\t 9 kB");
  CHECK(name_of("  two blanks ") == "  two blanks ");
  CHECK(name_of("") == "");
  CHECK(name_of("\xff\x1b[2J") == "\xff\x1b[2J");
  CHECK_FALSE(memory.has(F::vm_rss));
}

TEST_CASE("unescape_name undoes the kernel's escapes and nothing else") {
  CHECK(unescape_name("a\\\\nb") == "a\\nb");
  CHECK(unescape_name("a\\nb") == "a\nb");
  CHECK(unescape_name("\\t\\") == "\\t\\");
  CHECK(unescape_name("").empty());
}

TEST_CASE("status: the largest uid is accepted, and so are spaces instead of tabs") {
  ProcessMemory memory;
  const auto head = parse_status("Name:\tx\nState:\tS (sleeping)\nUid:\t4294967295\t0\t0\t0\nVmRSS:\t  0 kB\n", memory);
  REQUIRE(head.ok());
  CHECK(head->uid == 4294967295U);
  CHECK(memory.get(F::vm_rss) == 0);
}

TEST_CASE("status: no text means that the process has exited") {
  ProcessMemory memory;
  memory.set(F::vm_rss, 1);
  const auto head = parse_status("", memory);
  REQUIRE_FALSE(head.ok());
  CHECK(head.error().kind == ErrorKind::not_found);
  CHECK_FALSE(memory.has(F::vm_rss));
}

TEST_CASE("status: a head line that is missing or odd is unknown, and counted") {
  ProcessMemory memory;
  OddLines odd;
  const auto head =
      parse_status("Name:\tx\nUid:\t-1\t0\t0\t0\nThreads:\t4\nThreads:\t5\nVmRSS:\t 1 kB\nVmHWM:\t 2", memory, &odd);
  REQUIRE(head.ok());
  CHECK(head->name == "x");
  CHECK_FALSE(head->state);
  CHECK_FALSE(head->uid);
  CHECK_FALSE(head->threads);
  CHECK(memory.get(F::vm_rss) == 1);
  CHECK_FALSE(memory.has(F::vm_hwm));
  CHECK(odd.count() == 4);
  CHECK(odd.kinds().at(0) == OddLine{"status", "Uid", "cannot understand \"Uid:\\t-1\\t0\\t0\\t0\"", 1});
  CHECK(odd.kinds().at(3) == OddLine{"status", "State", "has no State", 1});
  CHECK(parse_status(std::string(5000, '\0'), memory).error().kind == ErrorKind::malformed);
}
