#include "query/ask.h"

#include "query/render/terminal.h"
#include "query/zone_guard.h"
#include "support/catch.h"
#include "support/manual_clock.h"

namespace memoir::test {
namespace {

std::string answered(const std::string& path, std::int64_t now_ms, const std::vector<std::string>& words,
                     const char* zone) {
  const query::Outcome outcome = ask(path, now_ms, words, zone);
  CAPTURE(words, outcome.error);
  REQUIRE(outcome.exit == query::Exit::answered);
  return outcome.out;
}

}  // namespace

query::Outcome ask(const std::string& path, std::int64_t now_ms, std::vector<std::string> words, const char* zone) {
  query::use_utf8();
  const ZoneGuard guard(zone);
  words.insert(words.end(), {"--db", path});
  query::Outcome outcome = query::run_query(words, ManualClock({now_ms, 0}));
  for (std::size_t at = outcome.out.find(path); at != std::string::npos; at = outcome.out.find(path))
    outcome.out.replace(at, path.size(), "DB");
  return outcome;
}

query::Outcome ask(const History& history, std::vector<std::string> words) {
  return ask(history.path(), history.now_ms(), std::move(words));
}

std::string text_of(const History& history, std::vector<std::string> words) {
  return answered(history.path(), history.now_ms(), words, "UTC");
}

nlohmann::json json_of(const std::string& path, std::int64_t now_ms, std::vector<std::string> words, const char* zone) {
  words.insert(words.end(), {"--format", "json"});
  return nlohmann::json::parse(answered(path, now_ms, words, zone));
}

nlohmann::json json_of(const History& history, std::vector<std::string> words) {
  return json_of(history.path(), history.now_ms(), std::move(words));
}

}  // namespace memoir::test
