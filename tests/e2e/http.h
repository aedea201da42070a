#pragma once

// A client of HTTP for servers on this machine, no more than a test needs.

#include <cstdint>
#include <optional>
#include <string>

namespace memoir::test {

// One that nobody listens at. Another program may take it before it is used.
std::uint16_t free_port();

struct Answered {
  int status = 0;
  std::string body;
};

// Absent: nobody answers there (yet). With a body it is a POST.
std::optional<Answered> ask_http(std::uint16_t port, const std::string& target, const std::string& body = "");

// As a part of a query.
std::string url_encoded(const std::string& text);

}  // namespace memoir::test
