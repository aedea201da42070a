#include "base/partial_file.h"

#include <filesystem>
#include <fstream>

#include "support/catch.h"
#include "support/slurp.h"
#include "support/temporary_directory.h"

using namespace memoir;
using memoir::test::slurp;

TEST_CASE("a file is written whole, in the place of the one before") {
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

TEST_CASE("a file that came in between is not replaced, unless that was asked for") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/file";
  const auto write_beside_another = [&path](Existing existing) {
    std::filesystem::remove(path);
    auto file = PartialFile::begin(path, existing);
    REQUIRE(file.ok());
    REQUIRE(file->write("ours").ok());
    std::ofstream(path) << "another's";
    return file->commit();
  };
  const Status refused = write_beside_another(Existing::keep);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find(path + " is there already") == 0);
  CHECK(slurp(path) == "another's");
  CHECK_FALSE(std::filesystem::exists(path + ".partial"));
  REQUIRE(write_beside_another(Existing::replace).ok());
  CHECK(slurp(path) == "ours");
}

TEST_CASE("what cannot be written leaves the file as it was") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/file";
  REQUIRE(write_file(path, "before").ok());
  {
    auto abandoned = PartialFile::begin(path, Existing::replace);
    REQUIRE(abandoned.ok());
    REQUIRE(abandoned->write("half").ok());
    CHECK_FALSE(write_file(path, "meanwhile").ok());  // one writer at a time
  }
  CHECK(slurp(path) == "before");
  CHECK_FALSE(std::filesystem::exists(path + ".partial"));
  CHECK_FALSE(write_file(directory.path() + "/absent/file", "text").ok());
  CHECK_FALSE(write_file(directory.path(), "text").ok());
}
