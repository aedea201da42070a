#include "http.h"

#include <arpa/inet.h>
#include <cstdlib>
#include <fmt/format.h>
#include <netinet/in.h>
#include <stdexcept>
#include <string_view>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/file.h"

namespace memoir::test {
namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

const sockaddr* generic(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

bool send_all(int socket, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace

std::uint16_t free_port() {
  const Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  if (!fd || ::bind(fd.get(), generic(address), sizeof address) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0)
    throw std::runtime_error("there is no free port on the loopback");
  return ntohs(address.sin_port);
}

std::optional<Answered> ask_http(std::uint16_t port, const std::string& target, const std::string& body) {
  const Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience{10, 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const sockaddr_in address = loopback(port);
  if (!fd || ::connect(fd.get(), generic(address), sizeof address) != 0) return std::nullopt;
  const std::string head = fmt::format("{} {} HTTP/1.0\r\nHost: 127.0.0.1\r\nContent-Length: {}\r\n\r\n",
                                       body.empty() ? "GET" : "POST", target, body.size());
  if (!send_all(fd.get(), head) || !send_all(fd.get(), body)) return std::nullopt;
  std::string text;
  char piece[16 * 1024];
  for (ssize_t got = 0; (got = ::recv(fd.get(), piece, sizeof piece, 0)) > 0;)
    text.append(piece, static_cast<std::size_t>(got));
  const std::size_t blank = text.find("\r\n\r\n");
  const std::size_t space = text.find(' ');
  if (blank == std::string::npos || space > blank) return std::nullopt;
  return Answered{std::atoi(text.c_str() + space), text.substr(blank + 4)};
}

std::string url_encoded(const std::string& text) {
  std::string out;
  for (const char c : text) out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return out;
}

}  // namespace memoir::test
