#include "base/log.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

namespace memoir {
namespace {

// Replaces %K in the format by the suffix.
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

// systemd.exec(5): JOURNAL_STREAM has the device and inode of the journal's socket behind stdout or stderr.
bool stderr_is_the_journal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat status {};
  if (stream == nullptr || fstat(STDERR_FILENO, &status) != 0) return false;
  return fmt::format("{}:{}", status.st_dev, status.st_ino) == stream;
}

// Returns the priority as in syslog(3).
int priority_of(spdlog::level::level_enum level) {
  if (level >= spdlog::level::err) return 3;
  if (level == spdlog::level::warn) return 4;
  return level <= spdlog::level::debug ? 7 : 6;
}

// Id and fields of the line that this thread logs.
struct Extras {
  std::string_view id;
  const JournalFields& fields;
};
thread_local const Extras* extras = nullptr;

// Writes lines to stderr, prefixed by their priority (sd-daemon(3)). Lines with an id go to the journal's socket
// instead, if that works.
class JournalSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit JournalSink(std::string_view path) : socket_(path) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    const std::string_view text(line.data(), line.size());
    const int priority = priority_of(message.level);
    if (extras != nullptr && socket_.send(datagram(*extras, text, priority))) return;
    fmt::print(stderr, "<{}>{}\n", priority, text);
  }
  void flush_() override {}

 private:
  static std::string datagram(const Extras& with, std::string_view text, int priority) {
    std::string all;
    append_journal_field(all, "MESSAGE", text);
    append_journal_field(all, "MESSAGE_ID", with.id);
    append_journal_field(all, "PRIORITY", fmt::format("{}", priority));
    append_journal_field(all, "SYSLOG_IDENTIFIER", program_invocation_short_name);
    for (const auto& [name, value] : with.fields) append_journal_field(all, name, value);
    return all;
  }

  const JournalSocket socket_;
};

spdlog::level::level_enum to_spdlog(LogLevel level) {
  constexpr std::array levels{spdlog::level::debug, spdlog::level::info, spdlog::level::warn, spdlog::level::err};
  return levels.at(static_cast<std::size_t>(level));
}

}  // namespace

void log_start(LogLevel least, std::function<std::string()> suffix, std::string_view journal) {
  const bool to_journal = stderr_is_the_journal();
  auto formatter =
      std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::local, to_journal ? "" : "\n");
  formatter->add_flag<Suffix>('K', std::move(suffix));
  formatter->set_pattern(to_journal ? "%v%K" : "%Y-%m-%d %H:%M:%S.%e %l: %v%K");
  spdlog::sink_ptr sink;
  if (to_journal) {
    sink = std::make_shared<JournalSink>(journal);
  } else {
    sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  }
  auto logger = std::make_shared<spdlog::logger>("memoir", std::move(sink));
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

void log_message(LogLevel level, std::string_view text, std::string_view id, const JournalFields& fields) {
  const Extras here{id, fields};
  extras = &here;
  log_line(level, text);
  extras = nullptr;
}

void log_exception(std::string_view what, const std::exception& failure) noexcept {
  try {
    log_error(fmt::format("{}: {}", what, failure.what()));
  } catch (const std::exception&) {
    // Out of memory: the line is lost.
  }
}

}  // namespace memoir
