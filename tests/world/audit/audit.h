#pragma once

// Inputs of laws: memoir's answers to queries of one recording, and the truth. Counts how often each law was checked. A
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
  std::string name;  // empty if the law has only one

  auto operator<=>(const Clause&) const = default;
};

// Counts over all recordings.
struct Tally {
  struct Count {
    std::int64_t checked = 0;
    std::int64_t violated = 0;
    std::string first;  // violation
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

  // Queries the recording, or a copy of it, as JSON. An answer is kept: laws share it. null if it failed, which
  // violates law 0.
  const json& ask(const Words& words);
  query::Outcome run(Words words, const std::string& path) const;
  json parse(const Words& words, const query::Outcome& outcome);

  // After the recording.
  void set_truth(const Truth& truth);
  const Truth& truth() const { return *truth_; }
  const std::string& path() const { return path_; }

  // The whole recording, as options.
  Words range() const;
  // The summary of the day; null if the recording has ticks on other days too.
  const json& summary();
  // `count` ticks at random, the same for all laws; fewer if there are not as many.
  std::vector<const TickTruth*> some_ticks(std::size_t count) const;
  const TickTruth* tick_at(std::int64_t wall_ms) const;

 private:
  Tally::Count& count_of(std::string_view clause);

  const std::string path_;
  const std::string label_;  // the recording, in messages
  Tally& tally_;
  const Truth* truth_ = nullptr;
  int law_ = 0;
  std::map<Words, json> answers_;
};

// Words together.
Words operator+(Words words, const Words& more);
// A time as an option.
std::string at(std::int64_t wall_ms);
// A number of a row; kNone where it is null or absent.
inline constexpr std::int64_t kNone = INT64_MIN;
std::int64_t number(const json& row, const char* key);
std::string text(const json& row, const char* key);
// A part of an answer; null where there is none.
const json& part(const json& answer, const char* key);
// An object's list; empty where there is none.
const json& list(const json& answer, const char* key);

// A process in answers: pid, start and comm, which an exec changes.
std::string name_of(const json& row);
std::string name_of(const Life& life, const Image& image);
// Rows by name_of().
std::map<std::string, const json*> by_name(const json& answer);

}  // namespace memoir::world
