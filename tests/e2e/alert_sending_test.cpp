// memoir-alert.service mails and posts the alerts that `exec` leaves in the spool folder. The test has a fake sendmail
// and an HTTP server.

#include <arpa/inet.h>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <netinet/in.h>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "recording.h"
#include "support/catch.h"
#include "support/slurp.h"

using namespace memoir::test;

namespace {

namespace fs = std::filesystem;

// Answers each request with the given status, and keeps the bodies of requests.
class HookServer {
 public:
  explicit HookServer(std::string status) : status_(std::move(status)), socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    REQUIRE(::bind(socket_, generic, size) == 0);
    REQUIRE(::listen(socket_, 8) == 0);
    REQUIRE(::getsockname(socket_, generic, &size) == 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~HookServer() {
    stop_ = true;
    thread_.join();
    ::close(socket_);
  }
  HookServer(const HookServer&) = delete;
  HookServer& operator=(const HookServer&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/hook"; }
  // Must be called after the sender has exited.
  std::vector<std::string> bodies() {
    const std::lock_guard lock(mutex_);
    return bodies_;
  }

 private:
  void serve() {
    while (!stop_) {
      pollfd ready{socket_, POLLIN, 0};
      if (::poll(&ready, 1, 20) != 1) continue;
      const int client = ::accept(socket_, nullptr, nullptr);
      if (client < 0) continue;
      const std::string body = read_body(client);
      {
        const std::lock_guard lock(mutex_);
        bodies_.push_back(body);
      }
      const std::string reply = "HTTP/1.1 " + status_ + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
      static_cast<void>(::send(client, reply.data(), reply.size(), MSG_NOSIGNAL));
      ::close(client);
    }
  }
  static std::string read_body(int client) {
    std::string request;
    char buffer[4096];
    while (true) {
      const std::size_t end = request.find("\r\n\r\n");
      const std::size_t header = request.find("Content-Length: ");
      if (end != std::string::npos && header != std::string::npos &&
          request.size() >= end + 4 + std::stoul(request.substr(header + 16)))
        return request.substr(end + 4);
      const ssize_t got = ::recv(client, buffer, sizeof buffer, 0);
      if (got <= 0) return {};
      request.append(buffer, static_cast<std::size_t>(got));
    }
  }

  const std::string status_;
  const int socket_;
  std::uint16_t port_ = 0;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::vector<std::string> bodies_;
  std::thread thread_;
};

const std::string kText = R"(The OOM killer killed "shop" (17) in shop.service & <b>; its last RSS was 48 MiB.)";

struct Spool {
  Spool() {
    fs::create_directories(bin());
    script("sendmail", "cat >\"" + folder.path() + "/mail\"\n");
    script("memoir", "echo \"memoir $*\"\n");
  }
  std::string bin() const { return folder.path() + "/bin"; }
  std::string alerts() const { return folder.path() + "/alerts"; }
  void script(const std::string& name, const std::string& text) const {
    std::ofstream(bin() + "/" + name) << "#!/bin/sh\n" << text;
    ::chmod((bin() + "/" + name).c_str(), 0755);
  }
  Outcome leave() const {
    return run({.path = "/bin/sh",
                .arguments = {"-c", "echo '{\"rows\": []}' | " MEMOIR_SOURCE "/systemd/alert-spool"},
                .environment = {"PATH=/usr/bin:/bin", "MEMOIR_ALERT_SPOOL=" + alerts(), "MEMOIR_ALERT=oom-kill",
                                "MEMOIR_ALERT_AT=1795046400000", "MEMOIR_ALERT_TEXT=" + kText}});
  }
  // env(1) replaces the test's PATH.
  Outcome send(const std::string& mail, const std::string& url) const {
    return run({.path = "/usr/bin/env",
                .arguments = {"PATH=" + bin() + ":/usr/bin:/bin", "MEMOIR_ALERT_SPOOL=" + alerts(),
                              "MEMOIR_ALERT_MAIL=" + mail, "MEMOIR_ALERT_URL=" + url, "http_proxy=", "no_proxy=*",
                              "/bin/sh", MEMOIR_SOURCE "/systemd/alert-send"}});
  }
  std::size_t waiting() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(alerts()), fs::directory_iterator()));
  }

  TemporaryDirectory folder;
};

bool can_post() {
  if (::access("/usr/bin/curl", X_OK) == 0) return true;
  WARN("skipped: needs curl");
  return false;
}

}  // namespace

TEST_CASE("alerts: an alert in the spool folder is mailed and posted once") {
  const Spool spool;
  REQUIRE(spool.leave().status == 0);
  REQUIRE(spool.waiting() == 1);
  if (!can_post()) return;
  HookServer server("200 OK");
  const Outcome sent = spool.send("root", server.url());
  CAPTURE(sent.err);
  CHECK(sent.status == 0);
  CHECK(spool.waiting() == 0);
  const std::string mail = slurp(spool.folder.path() + "/mail");
  CAPTURE(mail);
  CHECK(contains(mail, "To: root\nSubject: "));
  CHECK(contains(mail, ": " + kText + "\n"));
  CHECK(contains(mail, "\n\n" + kText + "\n\nmemoir incident --at @1795046400000 "));
  const auto bodies = server.bodies();
  REQUIRE(bodies.size() == 1);
  const auto posted = nlohmann::json::parse(bodies[0]);
  CHECK(contains(posted.at("text").get<std::string>(), R"(killed "shop" (17) in shop.service &amp; &lt;b&gt;;)"));
  CHECK(spool.send("root", server.url()).status == 0);
  CHECK(server.bodies().size() == 1);
}

TEST_CASE("alerts: an alert that cannot be posted stays, and is not mailed twice") {
  if (!can_post()) return;
  const Spool spool;
  REQUIRE(spool.leave().status == 0);
  {
    HookServer server("500 No");
    CHECK(spool.send("root", server.url()).status == 1);
  }
  CHECK(fs::exists(spool.folder.path() + "/mail"));
  fs::remove(spool.folder.path() + "/mail");
  HookServer server("200 OK");
  CHECK(spool.send("root", server.url()).status == 0);
  CHECK_FALSE(fs::exists(spool.folder.path() + "/mail"));
  CHECK(spool.waiting() == 0);
}

TEST_CASE("alerts: without an address nothing is sent, and without memoir the mail has the JSON") {
  const Spool spool;
  REQUIRE(spool.leave().status == 0);
  CHECK(spool.send("", "").status == 1);
  CHECK(spool.waiting() == 1);
  spool.script("memoir", "exit 1\n");
  CHECK(spool.send("root", "").status == 0);
  CHECK(contains(slurp(spool.folder.path() + "/mail"), "{\"rows\": []}"));
}
