#include "proc/status.h"

#include "base/text.h"
#include "proc/key_lines.h"

namespace memoir {
namespace {

constexpr std::size_t kFirst = kRollupFields;

// The lines of the head stand before the memory's, but for Threads.
enum HeadKey : std::size_t {
  kName,
  kState,
  kParent,
  kUid,
  kKernelThread,
  kFirstMemory,
  kThreads = kFirstMemory + kStatusFields,
  kAll
};

constexpr std::uint32_t kNeeded = 1U << kName | 1U << kState | 1U << kUid;
static_assert(kAll <= 32);

constexpr KeyTable<kAll> kStatusKeys = [] {
  std::array<std::string_view, kAll> keys;
  keys[kName] = "Name";
  keys[kState] = "State";
  keys[kParent] = "PPid";
  keys[kUid] = "Uid";
  keys[kKernelThread] = "Kthread";
  for (std::size_t i = 0; i < kStatusFields; ++i) keys[kFirstMemory + i] = kProcessFields[kFirst + i].key;
  keys[kThreads] = "Threads";
  return KeyTable<kAll>(keys);
}();

template <typename Int>
bool take(std::optional<Int> number, Int& into) {
  if (number) into = *number;
  return number.has_value();
}

// `value` is what stands behind the colon and the tab.
bool take_head(std::size_t key, std::string_view value, StatusHead& head) {
  if (key == kParent) return take(parse_number<std::int32_t>(value), head.parent_pid) && head.parent_pid >= 0;
  if (key == kThreads) return take(parse_number<std::int32_t>(value), head.threads) && head.threads >= 0;
  // Real, effective, saved, file system.
  if (key == kUid) return take(parse_number<std::uint32_t>(cut(value, '\t')), head.uid) && !value.empty();
  if (key == kName) {
    head.name = value;
    return true;
  }
  if (key == kState) {
    if (!is_state(value.substr(0, 1))) return false;
    head.state = value.front();
    return true;
  }
  if (value != "0" && value != "1") return false;
  head.kernel_thread = value == "1";
  return true;
}

bool take_line(std::size_t key, const KeyLine& line, StatusHead& head, ProcessMemory& memory) {
  if (key >= kFirstMemory && key < kThreads) {
    const auto kib = line.kib();
    if (!kib) return false;
    memory.set(static_cast<ProcessField>(kFirst + key - kFirstMemory), *kib);
    return true;
  }
  // A tab, not any blank: a name may begin with a space.
  if (line.torn || !line.value.starts_with('\t')) return false;
  return take_head(key, line.value.substr(1), head);
}

}  // namespace

Result<StatusHead> parse_status(std::string_view text, ProcessMemory& memory) {
  clear_fields<kFirst, kStatusFields>(memory);
  if (text.empty()) return Error{ErrorKind::gone, "status: empty, the process is gone"};
  StatusHead head;
  KeyCursor cursor(kStatusKeys);
  KeyLine line;
  std::uint32_t seen = 0;
  while (next_line(text, ':', line)) {
    const auto key = cursor.find(line.key);
    if (!key) continue;
    if (!take_line(*key, line, head, memory)) {
      clear_fields<kFirst, kStatusFields>(memory);
      return bad_line("status", line.text);
    }
    seen |= 1U << *key;
  }
  if ((seen & kNeeded) != kNeeded) {
    clear_fields<kFirst, kStatusFields>(memory);
    return malformed("status: has no Name, State or Uid");
  }
  return head;
}

std::string unescape_name(std::string_view name) {
  std::string out;
  out.reserve(name.size());
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char next = i + 1 < name.size() ? name[i + 1] : '\0';
    if (name[i] == '\\' && (next == '\\' || next == 'n')) {
      out += next == 'n' ? '\n' : '\\';
      ++i;
    } else {
      out += name[i];
    }
  }
  return out;
}

}  // namespace memoir
