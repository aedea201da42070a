#include "proc/status.h"

#include "base/text.h"
#include "proc/key_lines.h"

namespace memoir {
namespace {

constexpr std::size_t kFirst = kRollupFields;

// Keys that are not memory fields. The lines of all but Threads precede those of the memory fields.
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

constexpr std::array<std::size_t, 3> kNeeded{kName, kState, kUid};

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

// Returns a number that is at least 0; nullopt for other texts.
std::optional<std::int32_t> parse_count(std::string_view text) {
  const auto number = parse_number<std::int32_t>(text);
  return number && *number >= 0 ? number : std::nullopt;
}

// Parses the first of the four uids: real, effective, saved, file system.
std::optional<std::uint32_t> parse_real_uid(std::string_view text) {
  const auto uid = parse_number<std::uint32_t>(cut(text, '\t'));
  return text.empty() ? std::nullopt : uid;
}

template <typename T>
bool take(std::optional<T> value, std::optional<T>& into) {
  into = value;
  return value.has_value();
}

// Stores the value of a line of the head. `text` is the part after the colon and the tab, or nullopt to clear the
// value. Returns false if the text cannot be parsed.
bool take_head(std::size_t key, std::optional<std::string_view> text, StatusHead& head) {
  const std::string_view value = text.value_or("");
  switch (key) {
    case kName:
      return take(text, head.name);
    case kState:
      return take(is_state(value.substr(0, 1)) ? std::optional(value.front()) : std::nullopt, head.state);
    case kParent:
      return take(parse_count(value), head.parent_pid);
    case kUid:
      return take(parse_real_uid(value), head.uid);
    case kThreads:
      return take(parse_count(value), head.threads);
    default:
      return take(value == "0" || value == "1" ? std::optional(value == "1") : std::nullopt, head.kernel_thread);
  }
}

bool is_memory(std::size_t key) {
  return key >= kFirstMemory && key < kThreads;
}

// Returns the value of a memory line, or 0 for a good line of the head. Returns nullopt for an odd line.
std::optional<std::int64_t> read_line(std::size_t key, const KeyLine& line, StatusHead& head) {
  if (is_memory(key)) return line.kib();
  // Only a tab is skipped, because a name may start with a space.
  const bool whole = !line.torn && line.value.starts_with('\t');
  return whole && take_head(key, line.value.substr(1), head) ? std::optional<std::int64_t>(0) : std::nullopt;
}

}  // namespace

Result<StatusHead> parse_status(std::string_view text, ProcessMemory& memory, OddLines* odd) {
  clear_fields<kFirst, kStatusFields>(memory);
  if (text.empty()) return Error{ErrorKind::not_found, "status: empty, the process has exited"};
  StatusHead head;
  KeyCursor cursor(kStatusKeys);
  LineValues<kAll> values("status", odd);
  KeyLine line;
  while (next_line(text, ':', line)) {
    const auto key = cursor.find(line.key);
    if (!key) continue;
    const auto value = values.take(*key, line, read_line(*key, line, head));
    if (is_memory(*key)) {
      memory.set(static_cast<ProcessField>(kFirst + *key - kFirstMemory), value);
    } else if (!value) {
      take_head(*key, std::nullopt, head);
    }
  }
  if (!values.any()) return nothing_known("status");
  for (const std::size_t key : kNeeded) values.need(key, kStatusKeys[key]);
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
