#include "base/journal.h"

#include <cstdint>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>

namespace memoir {

void append_journal_field(std::string& datagram, std::string_view name, std::string_view value) {
  datagram += name;
  if (value.find('\n') == std::string_view::npos) {
    datagram += '=';
  } else {
    datagram += '\n';
    // The value's length: 64 bits, little-endian.
    for (std::uint64_t size = value.size(), i = 0; i < sizeof(size); ++i, size >>= 8U) {
      datagram += static_cast<char>(size & 0xffU);
    }
  }
  datagram += value;
  datagram += '\n';
}

JournalSocket::JournalSocket(std::string_view path) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  if (path.size() >= sizeof(to.sun_path)) return;
  std::memcpy(to.sun_path, path.data(), path.size());
  Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0) return;
  socket_ = std::move(socket);
}

bool JournalSocket::send(const std::string& datagram) const {
  return socket_ && ::send(socket_.get(), datagram.data(), datagram.size(), MSG_NOSIGNAL) >= 0;
}

}  // namespace memoir
