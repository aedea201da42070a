#include "base/log.h"

#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <memory>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

namespace memoir {
namespace {

// %J: the journal's priority prefix.
class JournalPriority final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    std::string_view prefix = "<6>";
    if (message.level >= spdlog::level::err) {
      prefix = "<3>";
    } else if (message.level == spdlog::level::warn) {
      prefix = "<4>";
    } else if (message.level <= spdlog::level::debug) {
      prefix = "<7>";
    }
    out.append(prefix.data(), prefix.data() + prefix.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<JournalPriority>(); }
};

// %K: the suffix.
class Suffix final : public spdlog::custom_flag_formatter {
 public:
  explicit Suffix(std::function<std::string()> make) : make_(std::move(make)) {}
  void format(const spdlog::details::log_msg&, const std::tm&, spdlog::memory_buf_t& out) override {
    if (!make_) return;
    const std::string text = make_();
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<Suffix>(make_); }

 private:
  std::function<std::string()> make_;
};

// systemd.exec(5): JOURNAL_STREAM holds the device and inode of the journal's socket that stdout or stderr leads to.
bool stderr_is_the_journal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat status {};
  if (stream == nullptr || fstat(STDERR_FILENO, &status) != 0) return false;
  return fmt::format("{}:{}", status.st_dev, status.st_ino) == stream;
}

spdlog::level::level_enum to_spdlog(LogLevel level) {
  constexpr std::array levels{spdlog::level::debug, spdlog::level::info, spdlog::level::warn, spdlog::level::err};
  return levels.at(static_cast<std::size_t>(level));
}

}  // namespace

void log_start(LogLevel least, std::function<std::string()> suffix) {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<JournalPriority>('J').add_flag<Suffix>('K', std::move(suffix));
  formatter->set_pattern(stderr_is_the_journal() ? "%J%v%K" : "%Y-%m-%d %H:%M:%S.%e %l: %v%K");
  auto logger = std::make_shared<spdlog::logger>("memoir", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_formatter(std::move(formatter));
  logger->set_level(to_spdlog(least));
  spdlog::set_default_logger(std::move(logger));
}

void log_level(LogLevel least) {
  spdlog::default_logger_raw()->set_level(to_spdlog(least));
}

void log_line(LogLevel level, std::string_view text) {
  spdlog::default_logger_raw()->log(to_spdlog(level), spdlog::string_view_t(text.data(), text.size()));
}

}  // namespace memoir
