#include <vector>

#include "collect/redact/redactor.h"
#include "collect/redact/unfold.h"
#include "fuzz/require.h"
#include "fuzz/targets.h"

namespace memoir::fuzz {
namespace {

constexpr std::string_view kPlanted = "s3cr3tX7q9";
constexpr std::size_t kWhole = 1'000'000;

std::vector<std::string_view> arguments_of(std::string_view text) {
  std::vector<std::string_view> arguments;
  while (!text.empty()) arguments.push_back(cut(text, '\0'));
  return arguments;
}

// Checks that an argument marked as a secret is redacted, whatever arguments surround it.
void require_hidden(const Redactor& redactor, const std::vector<std::string_view>& arguments, std::size_t at) {
  for (const std::string before : {"--password=", "DB_PASSWORD=", "--api-key=", "postgres://app:"}) {
    const std::string argument = before + std::string(kPlanted) + (before.back() == ':' ? "@db/app" : "");
    std::vector<std::string_view> with = arguments;
    with.insert(with.begin() + static_cast<std::ptrdiff_t>(at), argument);
    require(redactor.command(with, kWhole).find(kPlanted) == std::string::npos, "a secret is removed");
  }
}

void require_unfolded(std::string_view text) {
  std::string view(text);
  for (int level = 0; level < 4; ++level) {
    const std::string before = view;
    const bool opened = unfold(view);
    require(view.size() == text.size(), "a view is as long as its text");
    require(opened || view == before, "an unopened view does not change");
    if (!opened) return;
  }
}

}  // namespace

// The text consists of arguments, each ended by a NUL.
void redaction(std::string_view text) {
  static const auto redactor = Redactor::make({});
  const auto arguments = arguments_of(text.substr(0, 4096));
  const std::string line = redactor->command(arguments, kWhole);
  require(to_utf8(line) == line, "a line is UTF-8");
  const std::string cut_line = redactor->command(arguments, 64);
  require(to_utf8(cut_line) == cut_line, "a truncated line is UTF-8");
  // A fuzzer learns the planted word, and may write it in places that no rule marks as secret.
  if (text.find(kPlanted) == std::string_view::npos) {
    require_hidden(*redactor, arguments, text.size() % (arguments.size() + 1));
  }
  require_unfolded(text);
}

}  // namespace memoir::fuzz
