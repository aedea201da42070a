#pragma once

// A minimal HTTP client for servers on this machine.

#include <cstdint>
#include <optional>
#include <string>

namespace memoir::test {

// Returns a port without a listener. Another program may take the port before it is used.
std::uint16_t free_port();

struct Answered {
  int status = 0;
  std::string body;
};

// Returns nullopt if no server answers yet. Sends a POST if there is a body, otherwise a GET.
std::optional<Answered> ask_http(std::uint16_t port, const std::string& target, const std::string& body = "");

// Encodes the text as a part of a query.
std::string url_encoded(const std::string& text);

}  // namespace memoir::test
