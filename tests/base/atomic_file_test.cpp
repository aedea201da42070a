#include "base/atomic_file.h"

#include <filesystem>
#include <fstream>

#include "support/catch.h"
#include "support/slurp.h"
#include "support/temporary_directory.h"

using namespace memoir;
using memoir::test::slurp;

TEST_CASE("a file is replaced atomically") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/file";
  const std::string text = std::string(300'000, 'x') + '\0' + "end";
  REQUIRE(write_file(path, "before").ok());
  REQUIRE(write_file(path, text).ok());
  CHECK((slurp(path) == text));
  CHECK_FALSE(std::filesystem::exists(path + ".partial"));
  CHECK((std::filesystem::status(path).permissions() & std::filesystem::perms::others_all) ==
        std::filesystem::perms::none);
}

TEST_CASE("a file that belongs to a database, such as its WAL, is not overwritten") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/memoir.db";
  CHECK(AtomicFile::begin(path + "-wal", Existing::replace).ok());
  std::ofstream(path) << "a database";
  for (const char* suffix : {"-wal", "-shm", "-journal", ".lock", ".pid"}) {
    const auto refused = AtomicFile::begin(path + suffix, Existing::replace);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().message == path + suffix + " belongs to " + path + "; name another file");
  }
}

TEST_CASE("a file that another program creates during the write is replaced only on request") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/file";
  const auto write_beside_another = [&path](Existing existing) {
    std::filesystem::remove(path);
    auto file = AtomicFile::begin(path, existing);
    REQUIRE(file.ok());
    REQUIRE(file->write("ours").ok());
    std::ofstream(path) << "another's";
    return file->commit();
  };
  const Status refused = write_beside_another(Existing::keep);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find(path + " exists already") == 0);
  CHECK(slurp(path) == "another's");
  CHECK_FALSE(std::filesystem::exists(path + ".partial"));
  REQUIRE(write_beside_another(Existing::replace).ok());
  CHECK(slurp(path) == "ours");
}

TEST_CASE("a failed write leaves the file unchanged") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/file";
  REQUIRE(write_file(path, "before").ok());
  {
    auto abandoned = AtomicFile::begin(path, Existing::replace);
    REQUIRE(abandoned.ok());
    REQUIRE(abandoned->write("half").ok());
    CHECK_FALSE(write_file(path, "second").ok());  // one writer at a time
  }
  CHECK(slurp(path) == "before");
  CHECK_FALSE(std::filesystem::exists(path + ".partial"));
  CHECK_FALSE(write_file(directory.path() + "/absent/file", "text").ok());
  CHECK_FALSE(write_file(directory.path(), "text").ok());
}
