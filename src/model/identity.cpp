#include "model/identity.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "model/cgroup_path.h"

namespace memoir {
namespace {

// Enough to distinguish programs; later words are usually file names and values, which have no bound.
constexpr std::size_t kMaxWords = 8;
constexpr std::size_t kMaxBytes = 160;
constexpr std::size_t kMinHexDigits = 8;

constexpr std::array kTemporary{std::string_view("/tmp/"), std::string_view("/var/tmp/"), std::string_view("/dev/shm/"),
                                std::string_view("/run/user/")};
constexpr std::array kUnitSuffixes{std::string_view(".service"), std::string_view(".scope"),
                                   std::string_view(".socket"), std::string_view(".mount"), std::string_view(".swap")};

// A name may have a version suffix: python3.11.
constexpr std::array kInterpreters{
    std::string_view("bash"),   std::string_view("bun"),  std::string_view("dash"), std::string_view("deno"),
    std::string_view("java"),   std::string_view("ksh"),  std::string_view("lua"),  std::string_view("luajit"),
    std::string_view("node"),   std::string_view("perl"), std::string_view("php"),  std::string_view("pypy"),
    std::string_view("python"), std::string_view("ruby"), std::string_view("sh"),   std::string_view("zsh")};

bool is_digit(char letter) {
  return std::isdigit(static_cast<unsigned char>(letter)) != 0;
}

bool is_hex(char letter) {
  return is_digit(letter) || (letter >= 'a' && letter <= 'f') || (letter >= 'A' && letter <= 'F');
}

bool is_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0;
}

// Returns the length of a leading UUID, or of a leading hexadecimal run with a decimal digit in it. 0 if another word
// character follows.
std::size_t hash_length(std::string_view text) {
  std::size_t length = 0;
  std::size_t digits = 0;
  bool decimal = false;
  while (length < text.size() && (is_hex(text[length]) || (text[length] == '-' && digits >= kMinHexDigits))) {
    decimal = decimal || is_digit(text[length]);
    digits += text[length] == '-' ? 0U : 1U;
    ++length;
  }
  while (length > 0 && text[length - 1] == '-') --length;
  const bool alone = length == text.size() || !is_word(text[length]);
  return alone && decimal && digits >= kMinHexDigits ? length : 0;
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

// Returns the innermost container of a cgroup and the last unit in it. Without a container, returns the last unit;
// without a unit, the path. `outside` formats units and paths.
template <typename Outside>
std::string in_container(std::string_view cgroup, Outside outside) {
  std::string container;
  std::string_view unit;
  visit_components(cgroup, [&](std::string_view component, const Container& found) {
    std::string inner = container_label(found);
    if (!inner.empty() && inner != container) {
      container = std::move(inner);
      unit = {};
    } else if (!unit_suffix(component).empty()) {
      unit = component;
    }
  });
  if (container.empty()) return outside(unit.empty() ? cgroup : unit);
  return unit.empty() ? container : container.append("/").append(outside(unit));
}

// Truncates to kMaxBytes, but not within a UTF-8 sequence.
void shorten(std::string& text) {
  if (text.size() <= kMaxBytes) return;
  std::size_t end = kMaxBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  text.resize(end);
}

}  // namespace

std::string_view unit_suffix(std::string_view name) {
  const auto* const suffix = std::ranges::find_if(
      kUnitSuffixes, [name](std::string_view of) { return name.size() > of.size() && name.ends_with(of); });
  return suffix == kUnitSuffixes.end() ? std::string_view() : *suffix;
}

std::string normalised_command(std::string_view command) {
  std::string text;
  for (std::size_t words = 0; words < kMaxWords; ++words) {
    const std::string_view word = cut_word(command);
    if (word.empty()) break;
    if (!text.empty()) text += ' ';
    text += without_temporary(word);
  }
  shorten(text);
  return text;
}

std::string script_of(std::string_view command) {
  constexpr std::string_view version = "0123456789.-";
  const auto name_in = [](std::string_view path) { return path.substr(path.rfind('/') + 1); };
  std::string_view program = name_in(cut_word(command));
  program = program.substr(0, program.find_last_not_of(version) + 1);
  if (std::ranges::find(kInterpreters, program) == kInterpreters.end()) return {};
  const bool is_java = program == "java";
  for (std::string_view before, word; !(word = cut_word(command)).empty(); before = word) {
    if (word == "-c" || word == "-e") return {};
    if (word.front() != '-' && (!is_java || before == "-jar")) return std::string(name_in(word));
  }
  return {};
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
    const std::string_view suffix = unit_suffix(text);
    return suffix.empty() || suffix == ".scope" ? normalised_word(text) : std::string(text);
  });
}

Identity identity_of(const ProcessInfo& info) {
  return {unit_of(info.cgroup), info.exe, normalised_command(info.command)};
}

}  // namespace memoir
