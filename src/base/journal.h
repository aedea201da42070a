#pragma once

// Sends messages to systemd's journal with a MESSAGE_ID and fields, in its native protocol
// (https://systemd.io/JOURNAL_NATIVE_PROTOCOL/). systemd/memoir.catalog explains each id to the reader of the journal.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"

namespace memoir {

namespace message_id {
inline constexpr std::string_view kOomKill = "7c7eae00440742b0913a6d11ea02d564";
inline constexpr std::string_view kLeak = "a2056ed20f5e4554b3aa1ade14105069";
inline constexpr std::string_view kQuarantinedFile = "d0cd692c4b2d4668801ca6f30a09fb16";
inline constexpr std::string_view kDegraded = "cbe2ad4cac1945a285ce323a5f728d51";
}  // namespace message_id

// Names consist of capital letters, digits and underscores: {"MEMOIR_PID", "812"}.
using JournalFields = std::vector<std::pair<std::string_view, std::string>>;

// Appends the field to a datagram.
void append_journal_field(std::string& datagram, std::string_view name, std::string_view value);

class JournalSocket {
 public:
  static constexpr const char* kPath = "/run/systemd/journal/socket";

  explicit JournalSocket(std::string_view path);

  // Returns false if the journal did not accept the datagram.
  bool send(const std::string& datagram) const;

 private:
  Fd socket_;
};

}  // namespace memoir
