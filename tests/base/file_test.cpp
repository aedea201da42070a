#include "base/file.h"

#include <cstdlib>
#include <fstream>
#include <unistd.h>

#include "support/catch.h"
#include "support/temporary_directory.h"

using namespace memoir;

TEST_CASE("a file is read to its end, however large") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/large";
  const std::string content(Buffer::kFirst * 3 + 17, 'x');
  std::ofstream(path) << content;
  Buffer buffer;
  const auto text = read_file(path, buffer);
  REQUIRE(text.ok());
  CHECK(*text == content);
}

TEST_CASE("a cap is an error, not a truncation") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/large";
  std::ofstream(path) << std::string(5000, 'x');
  Buffer buffer;
  const auto text = read_file(path, buffer, 4999);
  REQUIRE_FALSE(text.ok());
  CHECK(text.error().kind == ErrorKind::io);
}

TEST_CASE("reading a file's start reads no more than requested, and the buffer fits the file") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/file";
  std::ofstream(path) << "short";
  Buffer buffer;
  CHECK(read_start(path, 1024 * 1024, buffer).value() == "short");
  CHECK(buffer.size() == Buffer::kFirst);
  const std::string large(3 * Buffer::kFirst, 'x');
  std::ofstream(path) << large;
  CHECK(read_start(path, 1024 * 1024, buffer).value() == large);
  CHECK(read_start(path, 2 * Buffer::kFirst + 1, buffer).value() == large.substr(0, 2 * Buffer::kFirst + 1));
}

TEST_CASE("a missing file is not_found, and the error names it") {
  Buffer buffer;
  const auto text = read_file("/nonexistent/file", buffer);
  REQUIRE_FALSE(text.ok());
  CHECK(text.error().kind == ErrorKind::not_found);
  CHECK(text.error().message.find("/nonexistent/file") != std::string::npos);
}

TEST_CASE("a cached descriptor is read again from its start") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/file";
  std::ofstream(path) << "one";
  Buffer buffer;
  const auto fd = open_file(path);
  REQUIRE(fd.ok());
  CHECK(*read_all(*fd, buffer, path) == "one");
  std::ofstream(path) << "two!";
  CHECK(*read_all(*fd, buffer, path) == "two!");
}

TEST_CASE("Fd closes its descriptor and hands it over when moved") {
  Fd first = open_file("/dev/null").value();
  const int raw = first.get();
  Fd second = std::move(first);
  CHECK_FALSE(first.valid());  // NOLINT(bugprone-use-after-move)
  CHECK(second.get() == raw);
  second.reset();
  CHECK(::lseek(raw, 0, SEEK_CUR) == -1);
}
