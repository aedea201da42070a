#include "proc/mountinfo.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/text.h"
#include "proc/key_lines.h"

namespace memoir {
namespace {

// Undoes the kernel's octal escapes of space ("\040"), tab, newline and backslash.
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

// Parses the value of size=, "24684096k": a number of bytes and a unit, as in mount(8) for tmpfs. nullopt for anything
// else, such as "50%".
std::optional<std::int64_t> size_kib(std::string_view text) {
  constexpr std::string_view units = "kmgtp";
  const char last = text.empty() ? '\0' : static_cast<char>(text.back() | 0x20);
  const std::size_t unit = units.find(last);
  if (unit == std::string_view::npos) {
    const auto bytes = parse_natural(text);
    return bytes && *bytes > 0 ? std::optional(*bytes / 1024) : std::nullopt;
  }
  const auto count = parse_natural(text.substr(0, text.size() - 1));
  const std::size_t shift = 10 * unit;
  if (!count || *count == 0 || *count > std::numeric_limits<std::int64_t>::max() >> shift) return std::nullopt;
  return *count << shift;
}

std::optional<std::int64_t> size_option(std::string_view options) {
  while (!options.empty()) {
    const std::string_view option = cut(options, ',');
    if (option.starts_with("size=")) return size_kib(option.substr(5));
  }
  return std::nullopt;
}

struct Mount {
  TmpfsMount place;
  std::string_view type;
  std::string_view root;  // folder of the file system that is mounted
};

std::optional<Mount> read_mount(std::string_view line) {
  cut_word(line);  // mount ID
  cut_word(line);  // parent ID
  std::string_view device = cut_word(line);
  const auto major = parse_number<std::uint32_t>(cut(device, ':'));
  const auto minor = parse_number<std::uint32_t>(device);
  const std::string_view root = cut_word(line);
  const std::string_view mount_point = cut_word(line);
  if (!major || !minor || !mount_point.starts_with('/')) return std::nullopt;
  // Skips options and optional fields, which vary between kernels, up to the dash.
  std::string_view word = cut_word(line);
  while (!word.empty() && word != "-") word = cut_word(line);
  const std::string_view type = cut_word(line);
  if (type.empty()) return std::nullopt;
  const std::string_view source = cut_word(line);
  const auto limit_kib = size_option(cut_word(line));
  return Mount{{*major, *minor, unescaped(mount_point), limit_kib, root == "/", unescaped(source)}, type, root};
}

auto place_of(const TmpfsMount& mount) {
  return std::tuple(mount.major, mount.minor, !mount.whole, mount.mount_point.size(),
                    std::string_view(mount.mount_point));
}

// Returns the mount points below `mount_point`. `points` are all mount points, sorted.
std::vector<std::string> mounted_below(const std::string& mount_point, const std::vector<std::string>& points) {
  const std::string prefix = mount_point.ends_with('/') ? mount_point : mount_point + '/';
  std::vector<std::string> below;
  for (auto at = std::ranges::upper_bound(points, prefix); at != points.end() && at->starts_with(prefix); ++at)
    below.push_back(at->substr(prefix.size()));
  return below;
}

}  // namespace

Result<std::vector<TmpfsMount>> parse_tmpfs_mounts(std::string_view text, OddLines* odd) {
  std::vector<TmpfsMount> mounts;
  std::vector<std::string> points;
  KeyLine line;
  while (next_line(text, '\n', line)) {
    auto mount = read_mount(line.text);
    if (!mount || line.torn) {
      if (odd != nullptr) odd->note("mountinfo", "", line.text);
      continue;
    }
    points.push_back(mount->place.mount_point);
    if (mount->type == "tmpfs") mounts.push_back(std::move(mount->place));
  }
  if (points.empty()) return nothing_known("mountinfo");
  std::ranges::sort(points);
  for (TmpfsMount& mount : mounts) mount.mounted_on = mounted_below(mount.mount_point, points);
  std::ranges::sort(mounts, {}, place_of);
  return mounts;
}

std::optional<std::string> mounted_at(std::string_view text, std::string_view mount_point) {
  std::optional<std::string> root;
  KeyLine line;
  while (next_line(text, '\n', line)) {
    const auto mount = read_mount(line.text);
    if (mount && mount->place.mount_point == mount_point) root = unescaped(mount->root);
  }
  return root;
}

}  // namespace memoir
