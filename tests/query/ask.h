#pragma once

// Runs memoir on a file that a test recorded.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "query/application.h"
#include "query/history.h"

namespace memoir::test {

// Runs memoir on the file at `path` at the time `now_ms`. In the output, the path is replaced by "DB".
query::Outcome ask(const std::string& path, std::int64_t now_ms, std::vector<std::string> words,
                   const char* zone = "UTC");
query::Outcome ask(const History& history, std::vector<std::string> words);

// Returns the output; requires exit status 0.
std::string text_of(const History& history, std::vector<std::string> words);
nlohmann::json json_of(const std::string& path, std::int64_t now_ms, std::vector<std::string> words,
                       const char* zone = "UTC");
nlohmann::json json_of(const History& history, std::vector<std::string> words);

// Runs memoir on the recording of `record`.
template <void (*record)(History&)>
query::Outcome ask_recorded(std::vector<std::string> words) {
  return ask(recorded<record>(), std::move(words));
}
template <void (*record)(History&)>
nlohmann::json json_recorded(std::vector<std::string> words) {
  return json_of(recorded<record>(), std::move(words));
}

// Returns true if the text contains the part.
inline bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace memoir::test
