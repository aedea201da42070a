#include "proc/mountinfo.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "proc/key_lines.h"

namespace memoir {
namespace {

// "\040" is a space; the kernel escapes space, tab, newline and backslash.
std::string unescaped(std::string_view text) {
  const auto octal = [&](std::size_t at) { return text[at] >= '0' && text[at] <= '7' ? text[at] - '0' : -1; };
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 3 < text.size() && octal(i + 1) >= 0 && octal(i + 1) <= 3 &&
                        octal(i + 2) >= 0 && octal(i + 3) >= 0;
    plain += escape ? static_cast<char>(octal(i + 1) * 64 + octal(i + 2) * 8 + octal(i + 3)) : text[i];
    if (escape) i += 3;
  }
  return plain;
}

struct Mount {
  TmpfsMount place;
  std::string_view type;
};

std::optional<Mount> read_mount(std::string_view line) {
  cut_word(line);  // its number,
  cut_word(line);  // its parent's
  std::string_view device = cut_word(line);
  const auto major = parse_int<std::uint32_t>(cut(device, ':'));
  const auto minor = parse_int<std::uint32_t>(device);
  cut_word(line);  // root within the file system
  const std::string_view mount_point = cut_word(line);
  if (!major || !minor || !mount_point.starts_with('/')) return std::nullopt;
  // Options, and fields of which a kernel may add some, up to the dash.
  std::string_view word = cut_word(line);
  while (!word.empty() && word != "-") word = cut_word(line);
  const std::string_view type = cut_word(line);
  if (type.empty()) return std::nullopt;
  return Mount{{*major, *minor, unescaped(mount_point)}, type};
}

}  // namespace

Result<std::vector<TmpfsMount>> parse_tmpfs_mounts(std::string_view text) {
  std::vector<TmpfsMount> mounts;
  if (text.empty()) return nothing_known("mountinfo");
  KeyLine line;
  while (next_line(text, '\n', line)) {
    auto mount = read_mount(line.text);
    if (!mount || line.torn) return bad_line("mountinfo", line.text);
    if (mount->type == "tmpfs") mounts.push_back(std::move(mount->place));
  }
  std::sort(mounts.begin(), mounts.end());
  return mounts;
}

}  // namespace memoir
