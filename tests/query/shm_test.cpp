// memoir shm: the segments, their creators, and messages if they are unknown.

#include <nlohmann/json.hpp>

#include "query/ask.h"
#include "query/golden.h"
#include "query/history.h"
#include "support/catch.h"

namespace shm_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::History;
using memoir::test::recorded;
using nlohmann::json;
using M = MachineField;

namespace {

constexpr std::int64_t kMib = 1024;

SysvSegment segment(std::int64_t shmid, std::int32_t creator_pid, std::int64_t rss_kib, std::int64_t attachments) {
  SysvSegment segment;
  segment.shmid = shmid;
  segment.key = 0x52000000 + shmid;
  segment.creator_pid = creator_pid;
  segment.last_pid = 202;
  segment.uid = 70;
  segment.size_kib = 128 * kMib;
  segment.rss_kib = rss_kib;
  segment.swap_kib = kMib;
  segment.attachments = attachments;
  if (attachments == 0) segment.detached_ms = History::kStart + 30'000;
  return segment;
}

// A server that exits and leaves its segment, and a segment that is older than the recording.
void record(History& history) {
  history.begin_run();
  history.machine(M::sysv, 60 * kMib);
  history.birth(201, {"postgres", "postgres -D /data", "database", "postgres"}, 20 * kMib);
  history.birth(202, {"reader", "reader", "other", "me"}, 2 * kMib);
  history.owner(201, 70);
  history.segments({segment(3, 201, 10 * kMib, 2), segment(4, 9999, 8 * kMib, 1)});
  history.tick(3);
  history.segments({segment(3, 201, 50 * kMib, 1), segment(4, 9999, 8 * kMib, 1)});
  history.tick(3);
  history.death(201);
  history.segments({segment(3, 201, 50 * kMib, 0), segment(4, 9999, 8 * kMib, 1)});
  history.tick(6);
}

}  // namespace

TEST_CASE("shm: golden answers") {
  test::check_formats("shm", recorded<record>(), {"shm"});
}

TEST_CASE("shm: a segment's creator, its growth, and that no process is attached any more") {
  const json now = json_of(recorded<record>(), {"shm"});
  REQUIRE(now["rows"].size() == 2);
  const json& left = now["rows"][0];
  CHECK(left["shmid"] == 3);
  CHECK(left["attachments"] == 0);
  CHECK(left["growth_kib"] == 40 * kMib);
  CHECK(left["creator_command"] == "postgres -D /data");
  CHECK(left["last_command"] == "reader");
  CHECK(left["first_ms"] == History::kStart);
  CHECK(left["key"] == "0x52000003");
  CHECK(now["rows"][1]["creator_command"].is_null());
  CHECK(now["totals"]["unattached"] == 1);
  CHECK(now["totals"]["unattached_kib"] == 51 * kMib);
  const json before = json_of(recorded<record>(), {"shm", "--at", "2026-11-19 00:00:20"});
  CHECK(before["rows"][0]["rss_kib"] == 10 * kMib);
  CHECK(before["rows"][0]["attachments"] == 2);
  CHECK(before["rows"][0]["owner"] == "postgres");
}

TEST_CASE("shm: messages for no segments, unrecorded segments, and more than are recorded") {
  History none;
  none.begin_run();
  none.machine(M::sysv, 0);
  none.tick(2);
  CHECK(ask(none, {"shm"}).out.find("There is no System V segment.") != std::string::npos);
  History older;
  older.begin_run();
  older.tick(2);
  const Outcome outcome = ask(older, {"shm"});
  CHECK(outcome.exit == Exit::empty);
  CHECK((outcome.out + outcome.error).find("no record of System V segments") != std::string::npos);
  CHECK(ask(older, {"shm", "--at", "2026-11-18"}).exit == Exit::empty);
  History more;
  more.begin_run();
  more.machine(M::sysv, 100 * kMib);
  more.segments({segment(1, 5, kMib, 1)});
  more.tick(2);
  CHECK(json_of(more, {"shm"})["warnings"].size() == 1);
}

}  // namespace shm_test
