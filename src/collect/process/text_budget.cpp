#include "collect/process/text_budget.h"

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <string_view>

#include "base/digest.h"
#include "base/heap_bytes.h"

namespace memoir {
namespace {

constexpr std::uint32_t kRootUid = 0;
constexpr std::size_t kMaxPath = 512;

std::size_t bytes_of(const ProcessInfo& info) {
  std::size_t bytes = 0;
  for (const std::string* text : {&info.comm, &info.exe, &info.command, &info.cgroup, &info.cwd, &info.settings.cwd,
                                  &info.settings.limits, &info.settings.category_rule})
    bytes += text->size();
  return bytes;
}

std::int64_t max_of(std::uint32_t uid) {
  return uid == kRootUid ? TextBudget::kMaxOfAll : TextBudget::kMaxOfUser;
}

// Returns a string without spare capacity, because there may be thousands of them.
std::string exact(std::string_view start, std::string_view end) {
  std::string text;
  text.reserve(start.size() + end.size());
  return text.append(start).append(end);
}

// Truncates a text, but not within a character. Releases its remaining memory.
std::string shortened_text(const std::string& text) {
  std::size_t end = TextBudget::kShortText;
  if (text.size() <= end) return text;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return exact(std::string_view(text).substr(0, end), kTextShortened);
}

}  // namespace

std::string bounded_path(std::string_view path) {
  if (path.size() <= kMaxPath) return exact(path, "");
  const std::size_t end = path.rfind('/', kMaxPath);
  const std::string digest = fmt::format("/…{:016x}", digest_of(path));
  return exact(path.substr(0, end == std::string_view::npos ? 0 : end), digest);
}

void TextBudget::begin_tick() {
  counted_ = false;
  shortened_ = 0;
}

void TextBudget::count(const Entries& entries) {
  counted_ = true;
  of_user_.clear();
  of_all_ = 0;
  for (const auto& entry : entries) add(entry->info.uid, static_cast<std::int64_t>(bytes_of(entry->info)));
}

// Adds to the use of a user and of all users. The use of all counts each user only up to the share of one user, so that
// an excess does not reduce the space of other users.
void TextBudget::add(std::uint32_t uid, std::int64_t bytes) {
  std::int64_t& of_user = of_user_[uid];
  const std::int64_t before = std::min(of_user, max_of(uid));
  of_user = std::max<std::int64_t>(of_user + bytes, 0);
  if (uid != kRootUid) of_all_ += std::min(of_user, max_of(uid)) - before;
}

void TextBudget::fit(ProcessInfo& info, const ProcessInfo* before, const Entries& entries) {
  if (!counted_) count(entries);
  if (before != nullptr) add(before->uid, -static_cast<std::int64_t>(bytes_of(*before)));
  const auto whole = static_cast<std::int64_t>(bytes_of(info));
  const bool all_full = info.uid != kRootUid && of_all_ + whole > kMaxOfAll;
  if (of_user_[info.uid] + whole > max_of(info.uid) || all_full) {
    info.command = shortened_text(info.command);
    if (info.cwd.size() > kShortText) release_memory(info.cwd);
    // Released explicitly, because an assignment would keep their memory.
    release_memory(info.settings.cwd);
    release_memory(info.settings.limits);
    info.exe.shrink_to_fit();
    info.cgroup.shrink_to_fit();
    ++shortened_;
    shortened_user_ = fmt::format("{} (uid {})", info.user, info.uid);
  }
  add(info.uid, static_cast<std::int64_t>(bytes_of(info)));
}

}  // namespace memoir
