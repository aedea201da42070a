#include "proc/vmmap.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "proc/key_lines.h"

namespace memoir {
namespace {

using F = ProcessField;

constexpr std::size_t kMaxDigits = 15;  // maximum digits of a number before its point, so that it fits with any unit
constexpr std::size_t kFractionDigits = 6;  // further digits are ignored
constexpr std::int64_t kMillionths = 1'000'000;
constexpr std::size_t kAddressDigits = 8;  // minimum length of the first address in a line that looks like a region
constexpr std::size_t kMinSizes = 2;       // virtual and resident
constexpr std::size_t kMaxSizes = 4;       // also dirty and swapped

bool is_digits(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Returns the size of a unit (K, M, G or T, in either case) in KiB; nullopt for another character.
std::optional<std::int64_t> unit_kib(char unit) {
  const std::size_t at = std::string_view("KkMmGgTt").find(unit);
  if (at == std::string_view::npos) return std::nullopt;
  return std::int64_t{1} << (at / 2 * 10);
}

// Returns the digits after the point, in millionths.
std::int64_t millionths(std::string_view digits) {
  std::string text(digits.substr(0, kFractionDigits));
  text.resize(kFractionDigits, '0');
  return parse_number<std::int64_t>(text).value_or(0);
}

struct AddressRange {
  std::uint64_t start;
  std::uint64_t end;
};

std::optional<AddressRange> parse_range(std::string_view word) {
  const std::size_t dash = word.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto start = parse_number<std::uint64_t>(word.substr(0, dash), 16);
  const auto end = parse_number<std::uint64_t>(word.substr(dash + 1), 16);
  if (!start || !end) return std::nullopt;
  return AddressRange{*start, *end};
}

bool has_long_range(std::string_view line) {
  for (std::string_view word; !(word = cut_word(line)).empty();) {
    if (word.find('-') >= kAddressDigits && parse_range(word)) return true;
  }
  return false;
}

// Returns whether a line without a head was probably meant to be a region: such a line is odd, others are ignored.
bool looks_like_region(std::string_view line) {
  const bool has_mode = line.find('[') != std::string_view::npos && line.find(" SM=") != std::string_view::npos;
  return has_mode || has_long_range(line);
}

// The start of a region's line: its name, and its addresses, up to an opening bracket.
struct Head {
  std::string_view name;
  AddressRange range;
  std::string_view rest;  // text after the bracket
};

// Returns whether the name belongs to a header line, such as "Process:  face-b00c [412]".
bool is_header(std::string_view name) {
  return name.ends_with(':') || name.find(": ") != std::string_view::npos;
}

std::optional<Head> find_head(std::string_view line) {
  std::string_view rest = line;
  for (std::string_view word; !(word = cut_word(rest)).empty();) {
    const auto range = parse_range(word.substr(0, word.find('[')));
    if (!range) continue;
    const auto at = static_cast<std::size_t>(word.data() - line.data());
    const std::size_t bracket = line.find_first_not_of(" \t", at + std::min(word.find('['), word.size()));
    if (bracket == std::string_view::npos) break;
    if (line[bracket] != '[') continue;
    const std::string_view name = trim(line.substr(0, at));
    if (is_header(name)) break;
    return Head{name, *range, line.substr(bracket + 1)};
  }
  return std::nullopt;
}

// Parses "1024K  156K  156K  0K", or "1024K/ 156K" of older releases.
bool parse_sizes(std::string_view text, VmmapRegion& region) {
  std::array<std::int64_t, kMaxSizes> sizes{};
  std::size_t count = 0;
  for (std::string_view part = text; !part.empty();) {
    std::string_view words = cut(part, '/');
    for (std::string_view word; !(word = cut_word(words)).empty();) {
      const auto kib = parse_vmmap_size(word);
      if (!kib || count == kMaxSizes) return false;
      sizes[count++] = *kib;
    }
  }
  region.size_kib = sizes[0];
  region.resident_kib = sizes[1];
  if (count > 2) region.dirty_kib = sizes[2];
  if (count > 3) region.swapped_kib = sizes[3];
  return count >= kMinSizes;
}

bool is_permissions(std::string_view word) {
  return !word.empty() && word.find_first_not_of("rwx-/") == std::string_view::npos;
}

bool parse_rest(std::string_view rest, VmmapRegion& region) {
  const std::size_t close = rest.find(']');
  if (close == std::string_view::npos || !parse_sizes(rest.substr(0, close), region)) return false;
  rest.remove_prefix(close + 1);
  region.permissions = cut_word(rest);
  std::string_view mode = cut_word(rest);
  if (!is_permissions(region.permissions) || !mode.starts_with("SM=")) return false;
  mode.remove_prefix(3);
  region.mode = mode;
  region.details = trim(rest);
  return !mode.empty();
}

bool is_anonymous(std::string_view name) {
  const auto has = [name](std::string_view part) { return name.find(part) != std::string_view::npos; };
  return has("MALLOC") || has("VM_ALLOCATE") || has("Stack") || has("STACK") || has("anonymous");
}

// Limits the rows of a summary. It is not reached: there are few names of regions, and a process cannot choose them.
constexpr std::size_t kMaxNames = 128;

MappingKind kind_of(std::string_view name) {
  if (!is_anonymous(name)) return MappingKind::other;
  if (name.find("MALLOC") != std::string_view::npos) return MappingKind::heap;
  const bool is_stack = name.find("Stack") != std::string_view::npos || name.find("STACK") != std::string_view::npos;
  return is_stack ? MappingKind::stack : MappingKind::anonymous;
}

constexpr std::array kSummed{F::rss,           F::shared_clean, F::shared_dirty, F::private_clean,
                             F::private_dirty, F::anonymous,    F::swap};

// Returns the contribution of one region to each field of kSummed; absent where a value is missing.
ProcessMemory memory_of(const VmmapRegion& region) {
  ProcessMemory memory;
  memory.set(F::rss, region.resident_kib);
  memory.set(F::anonymous, is_anonymous(region.name) ? region.resident_kib : 0);
  memory.set(F::swap, region.swapped_kib);
  if (!region.dirty_kib) return memory;
  for (const F field : {F::shared_clean, F::shared_dirty, F::private_clean, F::private_dirty}) memory.set(field, 0);
  const bool is_private = region.mode == "PRV";
  if (!is_private && region.mode != "COW" && region.mode != "SHM") return memory;
  memory.set(is_private ? F::private_clean : F::shared_clean, region.resident_kib - *region.dirty_kib);
  memory.set(is_private ? F::private_dirty : F::shared_dirty, *region.dirty_kib);
  return memory;
}

void add_mapping(const VmmapRegion& region, const ProcessMemory& memory, MappingSummary& summary) {
  const bool is_shared = region.mode == "SHM";
  const MappingUse use{.regions = 1,
                       .size_kib = region.size_kib,
                       .shared_regions = is_shared ? 1 : 0,
                       .shared_swap_kib = is_shared ? region.swapped_kib.value_or(0) : 0,
                       .memory = memory};
  const MappingName name{kind_of(region.name), to_utf8(region.name)};
  const auto row = std::ranges::find(summary.rows, name, &MappingRow::name);
  if (row != summary.rows.end()) return row->use.add(use);
  if (summary.rows.size() < kMaxNames) return static_cast<void>(summary.rows.push_back({name, use}));
  summary.others[static_cast<std::size_t>(name.kind)].add(use);
}

// Adds a region to the process. A value that is missing in one region is unknown for the process.
void add(VmmapRegion region, std::string_view line, VmmapProcess& process, OddLines* odd) {
  if (region.dirty_kib.value_or(0) > region.resident_kib) {
    if (odd != nullptr) odd->note("vmmap", "dirty", line);
    region.dirty_kib.reset();
  }
  const ProcessMemory memory = memory_of(region);
  for (const F field : kSummed) {
    const bool known = memory.has(field) && (process.regions == 0 || process.memory.has(field));
    if (known) process.memory.add(field, memory);
    if (!known) process.memory.clear(field);
  }
  ++process.regions;
  add_mapping(region, memory, process.mappings);
}

}  // namespace

std::optional<std::int64_t> parse_vmmap_size(std::string_view text) {
  text = trim(text);
  if (text.empty()) return 0;
  const auto unit = unit_kib(text.back());
  if (unit) text.remove_suffix(1);
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view fraction = point == std::string_view::npos ? "" : text.substr(point + 1);
  if (whole.empty() || whole.size() > kMaxDigits || !is_digits(whole) || !is_digits(fraction)) return std::nullopt;
  const std::int64_t number = parse_number<std::int64_t>(whole).value_or(0);
  const std::int64_t part = millionths(fraction);
  if (!unit) return (number + (part > 0 ? 1 : 0) + 1023) / 1024;
  std::int64_t kib = 0;
  if (__builtin_mul_overflow(number, *unit, &kib)) return std::nullopt;
  if (__builtin_add_overflow(kib, (part * *unit + kMillionths / 2) / kMillionths, &kib)) return std::nullopt;
  return kib;
}

Result<std::optional<VmmapRegion>> parse_vmmap_line(std::string_view line) {
  const auto head = find_head(line);
  if (!head) {
    if (looks_like_region(line)) return bad_line("vmmap", line);
    return std::optional<VmmapRegion>();
  }
  VmmapRegion region;
  region.name = head->name;
  region.start = head->range.start;
  region.end = head->range.end;
  if (region.start > region.end || !parse_rest(head->rest, region)) return bad_line("vmmap", line);
  return std::optional(region);
}

VmmapProcess parse_vmmap(std::string_view text, OddLines* odd) {
  VmmapProcess process;
  while (!text.empty()) {
    const std::string_view line = trim(cut_line(text));
    if (process.regions == 0 && line.starts_with("Path:")) process.path = trim(line.substr(5));
    const auto region = parse_vmmap_line(line);
    if (!region) {
      if (odd != nullptr) odd->note("vmmap", "", line);
    } else if (*region) {
      add(**region, line, process, odd);
    }
  }
  return process;
}

}  // namespace memoir
