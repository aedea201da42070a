#pragma once

// Gives the laws memoir's answers to queries of one recording, and the truth. Counts how often each law is checked. A
// law may have several clauses, so that one known violation does not hide the others.

#include <cstdint>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "query/application.h"
#include "world/truth.h"

namespace memoir::world {

using nlohmann::json;
using Words = std::vector<std::string>;

struct Clause {
  int law = 0;
  std::string name;  // empty if the law has a single clause

  auto operator<=>(const Clause&) const = default;
};

// Counts over all recordings.
struct Tally {
  struct Count {
    std::int64_t checked = 0;
    std::int64_t violated = 0;
    std::string first;  // the first violation
  };
  std::map<Clause, Count> clauses;
  std::int64_t queries = 0;
};

class Audit {
 public:
  Audit(std::string path, std::string label, Tally& tally);

  // Sets the law that the following checks count for.
  void begin_law(int number) { law_ = number; }

  template <typename... Args>
  void check(std::string_view clause, bool holds, fmt::format_string<Args...> text, Args&&... args) {
    Tally::Count& count = count_of(clause);
    ++count.checked;
    if (holds || count.violated++ > 0) return;
    count.first = fmt::format("{}: {}", label_, fmt::format(text, std::forward<Args>(args)...));
  }

  // Returns the JSON answer to a query of the recording or of a copy. Answers are cached, because laws share them. null
  // if the query failed, which violates law 0.
  const json& ask(const Words& words);
  query::Outcome run(Words words, const std::string& path) const;
  json parse(const Words& words, const query::Outcome& outcome);

  // Must be called after the recording.
  void set_truth(const Truth& truth);
  const Truth& truth() const { return *truth_; }
  const std::string& path() const { return path_; }

  // The whole recording, as options of a query.
  Words range() const;
  // The summary of the day; null if the recording has ticks on several days.
  const json& summary();
  // At most `count` random ticks, the same for all laws.
  std::vector<const TickTruth*> some_ticks(std::size_t count) const;
  const TickTruth* tick_at(std::int64_t wall_ms) const;

 private:
  Tally::Count& count_of(std::string_view clause);

  const std::string path_;
  const std::string label_;  // names the recording in messages
  Tally& tally_;
  const Truth* truth_ = nullptr;
  int law_ = 0;
  std::map<Words, json> answers_;
};

// Appends options to a query.
Words operator+(Words words, const Words& more);
// A time as the value of an option.
std::string at(std::int64_t wall_ms);
// A number of a row; kNone if it is null or absent.
inline constexpr std::int64_t kNone = INT64_MIN;
std::int64_t number(const json& row, const char* key);
std::string text(const json& row, const char* key);
// A part of an answer; null if it is absent.
const json& part(const json& answer, const char* key);
// A list of an object; empty if it is absent.
const json& list(const json& answer, const char* key);

// The name of a process in answers: pid, start, and comm, which changes with an exec.
std::string name_of(const json& row);
std::string name_of(const Life& life, const Image& image);
// The rows by name_of().
std::map<std::string, const json*> by_name(const json& answer);

}  // namespace memoir::world
