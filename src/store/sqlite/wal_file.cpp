#include "store/sqlite/wal_file.h"

#include <array>
#include <fmt/format.h>

#include "base/file.h"
#include "store/sqlite/file_owner.h"

namespace memoir {
namespace {

constexpr std::uint32_t kBigEndianSums = 0x377f0683;  // magic number of a -wal with big-endian checksums
constexpr int kCommitsForSure = 2;

using Checksum = std::array<std::uint32_t, 2>;
using Salt = std::array<std::uint32_t, 2>;

std::uint32_t big_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// Returns the page size in the header, where "a value of 1 represents 65536" (1.3.2 of the file format).
std::int64_t page_bytes(std::string_view header) {
  const std::int64_t value = big_endian(header, 14) & 0xffff;
  return value == 1 ? 65'536 : value;
}

std::uint32_t little_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 4; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

struct Frame {
  Salt salt;
  Checksum checksum;
  bool commits = false;
};

class WalFile {
 public:
  WalFile(std::string_view bytes, std::int64_t page_bytes)
      : bytes_(bytes), page_(page_bytes), big_endian_sums_(big_endian(bytes, 0) == kBigEndianSums) {}

  std::size_t frames() const {
    return (bytes_.size() - static_cast<std::size_t>(kWalHeadBytes)) / static_cast<std::size_t>(frame_bytes());
  }
  Frame frame(std::size_t number) const {
    const std::size_t at = offset(number);
    return {{big_endian(bytes_, at + 8), big_endian(bytes_, at + 12)},
            {big_endian(bytes_, at + 16), big_endian(bytes_, at + 20)},
            big_endian(bytes_, at + 4) != 0};
  }
  Salt salt() const { return {big_endian(bytes_, 16), big_endian(bytes_, 20)}; }
  bool head_holds() const { return sum({0, 0}, 0, 24) == head_checksum(); }
  Checksum head_checksum() const { return {big_endian(bytes_, 24), big_endian(bytes_, 28)}; }
  // Returns whether the checksum of a frame is right. It continues the checksum of the previous frame.
  bool holds(std::size_t number, const Checksum& before) const {
    const std::size_t at = offset(number);
    const Checksum head = sum(before, at, 8);
    return sum(head, at + static_cast<std::size_t>(kWalFrameHeadBytes), static_cast<std::size_t>(page_)) ==
           frame(number).checksum;
  }

 private:
  std::int64_t frame_bytes() const { return page_ + kWalFrameHeadBytes; }
  std::size_t offset(std::size_t number) const {
    return static_cast<std::size_t>(kWalHeadBytes) + number * static_cast<std::size_t>(frame_bytes());
  }
  Checksum sum(Checksum checksum, std::size_t at, std::size_t length) const {
    const auto word = [this](std::size_t where) {
      return big_endian_sums_ ? big_endian(bytes_, where) : little_endian(bytes_, where);
    };
    for (std::size_t i = at; i < at + length; i += 8) {
      checksum[0] += word(i) + checksum[1];
      checksum[1] += word(i + 4) + checksum[0];
    }
    return checksum;
  }

  std::string_view bytes_;
  std::int64_t page_;
  bool big_endian_sums_;
};

}  // namespace

std::string wal_damage(std::string_view wal, std::int64_t page_bytes) {
  if (wal.size() < static_cast<std::size_t>(kWalHeadBytes) || page_bytes <= 0 || page_bytes % 8 != 0) return "";
  const WalFile file(wal, page_bytes);
  const std::size_t frames = file.frames();
  if (frames == 0) return "";
  // Frames with other salts are from before the -wal was last started over, and do not count.
  const bool head_holds = file.head_holds();
  const Salt salt = head_holds ? file.salt() : file.frame(0).salt;
  std::string damage = head_holds ? "" : "the header of the -wal has a wrong checksum";
  int commits = 0;
  Checksum before = file.head_checksum();
  for (std::size_t i = 0; i < frames; ++i) {
    const Frame frame = file.frame(i);
    const bool holds = frame.salt == salt && file.holds(i, before);
    before = frame.checksum;
    if (!holds && damage.empty()) damage = fmt::format("frame {} of the -wal has a wrong checksum", i + 1);
    if (holds && !damage.empty() && frame.commits && ++commits == kCommitsForSure) return damage;
  }
  return "";
}

std::string wal_damage_of(const std::string& path) {
  Buffer start;
  const auto header = read_start(path, kHeaderBytes, start);
  if (!header || header->size() < kHeaderBytes) return "";
  Buffer buffer;
  const auto wal = read_file(path + "-wal", buffer);
  return wal ? wal_damage(*wal, page_bytes(*header)) : "";
}

}  // namespace memoir
