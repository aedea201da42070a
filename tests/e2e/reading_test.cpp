// The query tool reads the file of any recorder, in any state, and never changes it.

#include <filesystem>
#include <string>
#include <sys/stat.h>

#include "recording.h"
#include "support/catch.h"

using namespace memoir::test;
using nlohmann::json;

namespace {

// Lets other users read the file. The recorder admits only its owner and group, and membership in the group cannot be
// tested.
void let_everybody_read(const Scene& scene) {
  for (const std::string suffix : {"", "-wal", "-shm"}) {
    const std::string file = scene.db() + suffix;
    if (std::filesystem::exists(file)) REQUIRE(chmod(file.c_str(), 0644) == 0);
  }
}

// Runs every command as a user with read permission only.
void check_readable(const Scene& scene) {
  let_everybody_read(scene);
  const mode_t closed = other_user() ? 0755 : 0555;
  REQUIRE(chmod(scene.folder().c_str(), closed) == 0);
  for (const std::string command : {"status", "top", "peaks", "processes", "categories"}) {
    const Outcome outcome = scene.ask({command}, other_user());
    INFO(command << ": " << outcome.err);
    CHECK(outcome.status == 0);
    CHECK_FALSE(outcome.out.empty());
  }
  REQUIRE(chmod(scene.folder().c_str(), 0777) == 0);
}

void copy(const Scene& from, const Scene& to) {
  for (const std::string suffix : {"", "-wal"}) {
    if (std::filesystem::exists(from.db() + suffix)) std::filesystem::copy_file(from.db() + suffix, to.db() + suffix);
  }
}

void check_same_answers(const Scene& one, const Scene& other) {
  CHECK(one.answer_rows({"top", "--limit", "0"}) == other.answer_rows({"top", "--limit", "0"}));
  CHECK(one.answer_rows({"peaks", "--limit", "0"}) == other.answer_rows({"peaks", "--limit", "0"}));
}

}  // namespace

TEST_CASE("the file can be read while it is written") {
  const Scene scene;
  Recorder recorder(scene, "100ms");
  recorder.tick();
  check_readable(scene);
  recorder.tick();
  // Each answer is from a newer tick, and the recorder is not delayed.
  const std::int64_t first = scene.answer({"top"}).at("at_ms");
  recorder.tick();
  CHECK(scene.answer({"top"}).at("at_ms") > first);
  CHECK(recorder.stop() == 0);
}

TEST_CASE("the file can be read after kill -9, in place and as a copy") {
  const Scene scene;
  Recorder recorder(scene);
  recorder.tick();
  recorder.tick();
  recorder.kill();
  check_readable(scene);
  const Scene elsewhere;
  copy(scene, elsewhere);
  check_same_answers(scene, elsewhere);
  check_readable(elsewhere);
}

TEST_CASE("the file can be read after a clean stop, in place and as a copy") {
  const Scene scene;
  Recorder recorder(scene);
  recorder.tick();
  REQUIRE(recorder.stop() == 0);
  check_readable(scene);
  const Scene elsewhere;
  // After a clean stop the main file alone is enough.
  std::filesystem::copy_file(scene.db(), elsewhere.db());
  check_same_answers(scene, elsewhere);
  check_readable(elsewhere);
}

TEST_CASE("an answer leaves the file unchanged") {
  const Scene scene;
  Recorder recorder(scene);
  recorder.tick();
  REQUIRE(recorder.stop() == 0);
  const auto written = std::filesystem::last_write_time(scene.db());
  const auto size = std::filesystem::file_size(scene.db());
  for (const std::string command : {"status", "top", "peaks"}) CHECK(scene.ask({command}).status == 0);
  CHECK(std::filesystem::last_write_time(scene.db()) == written);
  CHECK(std::filesystem::file_size(scene.db()) == size);
}
