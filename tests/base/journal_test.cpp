#include "base/journal.h"

#include <array>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <set>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "support/catch.h"
#include "support/in_child.h"
#include "support/slurp.h"
#include "support/temporary_directory.h"

using namespace memoir;
using namespace memoir::test;

namespace {

// A socket that replaces the journal's.
class Journal {
 public:
  Journal() : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    path().copy(at.sun_path, sizeof(at.sun_path) - 1);
    REQUIRE(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&at), sizeof(at)) == 0);
  }

  std::string path() const { return folder_.path() + "/socket"; }
  std::string stderr_path() const { return folder_.path() + "/stderr"; }

  // The next datagram; empty if there is none.
  std::string next() const {
    std::array<char, 4096> datagram{};
    const ssize_t size = ::recv(socket_.get(), datagram.data(), datagram.size(), 0);
    return size < 0 ? std::string() : std::string(datagram.data(), static_cast<std::size_t>(size));
  }

 private:
  TemporaryDirectory folder_;
  Fd socket_;
};

// Logs in a process with its stderr in a file. JOURNAL_STREAM names this file, as systemd names the journal's stream.
void log_under_systemd(const Journal& journal, const std::string& socket) {
  const std::string done = in_child([&] {
    const int file = ::open(journal.stderr_path().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    struct stat status {};
    if (::dup2(file, STDERR_FILENO) < 0 || ::fstat(file, &status) != 0) return std::string("no stderr");
    ::setenv("JOURNAL_STREAM", fmt::format("{}:{}", status.st_dev, status.st_ino).c_str(), 1);
    log_start(
        LogLevel::info, [] { return std::string(" [rss 9 MiB]"); }, socket);
    log_message(LogLevel::warning, "java was killed", message_id::kOomKill, {{"MEMOIR_PID", "812"}});
    log_message(LogLevel::debug, "below the level", message_id::kOomKill, {});
    log_info("an ordinary line");
    return std::string("done");
  });
  REQUIRE(done == "done");
}

}  // namespace

TEST_CASE("journal: a value of several lines is preceded by its size") {
  std::string datagram;
  append_journal_field(datagram, "A", "one line");
  append_journal_field(datagram, "B", "two\nlines");
  using namespace std::string_literals;
  CHECK(datagram == "A=one line\nB\n\x09\0\0\0\0\0\0\0two\nlines\n"s);
}

TEST_CASE("journal: a message with an id goes to its socket with fields, any other line to stderr") {
  const Journal journal;
  log_under_systemd(journal, journal.path());
  const std::string datagram = journal.next();
  INFO(datagram);
  CHECK(datagram.starts_with("MESSAGE=java was killed [rss 9 MiB]\nMESSAGE_ID=" + std::string(message_id::kOomKill) +
                             "\nPRIORITY=4\nSYSLOG_IDENTIFIER="));
  CHECK(datagram.ends_with("\nMEMOIR_PID=812\n"));
  CHECK(journal.next().empty());
  CHECK(slurp(journal.stderr_path()) == "<6>an ordinary line [rss 9 MiB]\n");
}

TEST_CASE("journal: if nothing listens on its socket, all lines go to stderr") {
  const Journal journal;
  log_under_systemd(journal, journal.path() + "-none");
  CHECK(slurp(journal.stderr_path()) == "<4>java was killed [rss 9 MiB]\n<6>an ordinary line [rss 9 MiB]\n");
}

TEST_CASE("journal: the catalog has an entry for each id, and no other entry") {
  const std::string catalog = slurp(MEMOIR_SOURCE "/systemd/memoir.catalog");
  std::set<std::string> explained;
  for (std::size_t at = 0; (at = catalog.find("\n-- ", at)) != std::string::npos; at += 4)
    explained.insert(catalog.substr(at + 4, 32));
  CHECK(explained == std::set<std::string>{std::string(message_id::kOomKill), std::string(message_id::kLeak),
                                           std::string(message_id::kQuarantinedFile),
                                           std::string(message_id::kDegraded)});
}
