#include "model/identity.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "model/container.h"

namespace memoir {
namespace {

// Enough to tell programs apart; what comes later are file names and values, of which there is no end.
constexpr std::size_t kMostWords = 8;
constexpr std::size_t kMostBytes = 160;
constexpr std::size_t kLeastHexDigits = 8;

constexpr std::array kTemporary{std::string_view("/tmp/"), std::string_view("/var/tmp/"), std::string_view("/dev/shm/"),
                                std::string_view("/run/user/")};
constexpr std::array kUnitSuffixes{std::string_view(".service"), std::string_view(".scope"),
                                   std::string_view(".socket"), std::string_view(".mount"), std::string_view(".swap")};

bool is_digit(char letter) {
  return std::isdigit(static_cast<unsigned char>(letter)) != 0;
}

bool is_hex(char letter) {
  return is_digit(letter) || (letter >= 'a' && letter <= 'f') || (letter >= 'A' && letter <= 'F');
}

bool is_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0;
}

// The length of a UUID, or of a run of hexadecimal digits with a decimal one in it, that stands alone at the front.
std::size_t hash_length(std::string_view text) {
  std::size_t length = 0;
  std::size_t digits = 0;
  bool decimal = false;
  while (length < text.size() && (is_hex(text[length]) || (text[length] == '-' && digits >= kLeastHexDigits))) {
    decimal = decimal || is_digit(text[length]);
    digits += text[length] == '-' ? 0U : 1U;
    ++length;
  }
  while (length > 0 && text[length - 1] == '-') --length;
  const bool alone = length == text.size() || !is_word(text[length]);
  return alone && decimal && digits >= kLeastHexDigits ? length : 0;
}

std::string normalised_word(std::string_view word) {
  std::string text;
  char before = ' ';
  while (!word.empty()) {
    const std::size_t hash = is_word(before) ? 0 : hash_length(word);
    std::size_t taken = hash;
    if (hash > 0) {
      text += 'H';
    } else if (is_digit(word.front())) {
      while (taken < word.size() && is_digit(word[taken])) ++taken;
      text += 'N';
    } else {
      text += word.front();
      taken = 1;
    }
    before = word[taken - 1];
    word.remove_prefix(taken);
  }
  return text;
}

// "--file=/tmp/tmpab12" becomes "--file=/tmp/*".
std::string without_temporary(std::string_view word) {
  for (const std::string_view folder : kTemporary) {
    const std::size_t at = word.find(folder);
    if (at == 0 || (at != std::string_view::npos && !is_word(word[at - 1])))
      return normalised_word(word.substr(0, at)) + std::string(folder) + "*";
  }
  return normalised_word(word);
}

bool is_unit(std::string_view part) {
  const auto ends = [part](std::string_view suffix) { return part.size() > suffix.size() && part.ends_with(suffix); };
  return std::any_of(kUnitSuffixes.begin(), kUnitSuffixes.end(), ends);
}

// The innermost container of a cgroup and the last unit in it; else that unit, else the path, as `outside` has them.
template <typename Outside>
std::string in_container(std::string_view cgroup, Outside outside) {
  std::string container;
  std::string_view unit;
  for (std::string_view rest = cgroup; !rest.empty();) {
    const std::string_view part = cut(rest, '/');
    std::string inner = container_of(cgroup.substr(0, cgroup.size() - rest.size()));
    if (inner != container) {
      container = std::move(inner);
      unit = {};
    } else if (is_unit(part)) {
      unit = part;
    }
  }
  if (container.empty()) return outside(unit.empty() ? cgroup : unit);
  return unit.empty() ? container : container.append("/").append(outside(unit));
}

// Not in the middle of a UTF-8 sequence.
void shorten(std::string& text) {
  if (text.size() <= kMostBytes) return;
  std::size_t end = kMostBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  text.resize(end);
}

}  // namespace

std::string normalised_command(std::string_view command) {
  std::string text;
  for (std::size_t words = 0; words < kMostWords; ++words) {
    const std::string_view word = cut_word(command);
    if (word.empty()) break;
    if (!text.empty()) text += ' ';
    text += without_temporary(word);
  }
  shorten(text);
  return text;
}

std::string place_of(std::string_view cgroup) {
  return in_container(cgroup, [](std::string_view text) { return std::string(text); });
}

std::string slice_of(std::string_view cgroup) {
  std::string_view slice;
  while (!cgroup.empty()) {
    const std::string_view part = cut(cgroup, '/');
    if (part.ends_with(".slice")) slice = part;
  }
  return std::string(slice);
}

std::string unit_of(std::string_view cgroup) {
  return in_container(cgroup, [](std::string_view text) {
    return is_unit(text) && !text.ends_with(".scope") ? std::string(text) : normalised_word(text);
  });
}

Identity identity_of(const ProcessInfo& info) {
  std::string_view exe = info.exe;
  // A running program whose file was replaced by an upgrade (proc(5), /proc/PID/exe).
  constexpr std::string_view deleted = " (deleted)";
  if (exe.ends_with(deleted)) exe.remove_suffix(deleted.size());
  return {unit_of(info.cgroup), std::string(exe), normalised_command(info.command)};
}

}  // namespace memoir
