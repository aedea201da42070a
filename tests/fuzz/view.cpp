#include <algorithm>

#include "base/text.h"
#include "fuzz/require.h"
#include "fuzz/targets.h"
#include "query/commands.h"
#include "query/view/draw.h"
#include "query/view/update.h"

namespace memoir::fuzz {
namespace {

using namespace query::view;

constexpr std::int64_t kFirst = 1'795'000'000'000;

std::int64_t number_in(std::string_view& line) {
  constexpr std::int64_t most = 100'000'000'000;
  return parse_number<std::int64_t>(cut_word(line)).value_or(0) % most;
}

RecordingInfo recorded_until(std::int64_t last_ms) {
  RecordingInfo recorded;
  recorded.host = "host";
  recorded.state = query::Recording::active;
  recorded.first_ms = kFirst;
  recorded.last_ms = std::max(kFirst, last_ms);
  recorded.now_ms = recorded.last_ms;
  recorded.ticks = 1 + (recorded.last_ms - kFirst) / recorded.interval_ms;
  return recorded;
}

// Rows with the columns of processes, events and buckets of a trend.
std::shared_ptr<const query::Report> answer_with(std::int64_t rows, std::int64_t from_ms, std::string_view text) {
  using query::Kind;
  using query::Value;
  auto report = std::make_shared<query::Report>();
  report->rows.columns = {{"pid", "PID", Kind::count},
                          {"start_ms", "START", Kind::time},
                          {"comm", "COMM"},
                          {"at_ms", "AT", Kind::time},
                          {"kind", "KIND"},
                          {"text", "WHAT", Kind::sentence},
                          {"from_ms", "FROM", Kind::time},
                          {"until_ms", "UNTIL", Kind::time},
                          {"mean_kib", "MEAN MiB", Kind::size},
                          {"max_kib", "MAX MiB", Kind::size},
                          {"max_at_ms", "MAX AT", Kind::time}};
  for (std::int64_t row = 0; row < std::min<std::int64_t>(std::abs(rows), 200); ++row) {
    const std::int64_t at_ms = kFirst + from_ms + row * 60'000;
    report->rows.rows.push_back({Value(row), Value(at_ms), Value(text), Value(at_ms), Value("oom-victim"), Value(text),
                                 Value(at_ms), Value(at_ms + 60'000), Value(row), Value(row * 2), Value(at_ms)});
  }
  return report;
}

// "size 80 24", "tick 60000", "found 0", "answer 0 5 60000 text", "error 0 text" and "lost text" are messages; all
// other words are keys.
std::vector<Msg> messages_of(std::string_view line, const Model& model) {
  std::string_view rest = line;
  const std::string_view word = cut_word(rest);
  const auto slot = [&rest] { return static_cast<Slot>(static_cast<std::size_t>(std::abs(number_in(rest))) % kSlots); };
  const auto id_of = [&model](Slot of) { return model.asked.at(static_cast<std::size_t>(of)).id; };
  if (word == "size") {
    const auto columns = static_cast<std::size_t>(std::abs(number_in(rest))) % 400;
    return {Resized{{columns, static_cast<std::size_t>(std::abs(number_in(rest))) % 200}}};
  }
  if (word == "tick")
    return {Ticked{recorded_until(std::max(model.recorded.last_ms, kFirst + number_in(rest))), false}};
  if (word == "found")
    return {Sought{model.seek, std::clamp(kFirst + number_in(rest), kFirst, model.recorded.last_ms)}};
  if (word == "lost") return {Lost{std::string(rest)}};
  if (word == "answer") {
    const Slot of = slot();
    const std::int64_t rows = number_in(rest);
    const std::int64_t from_ms = number_in(rest);
    return {Answered{of, id_of(of), answer_with(rows, from_ms, rest), {}, {}}};
  }
  if (word == "error") {
    const Slot of = slot();
    return {Answered{of, id_of(of), nullptr, std::string(rest) + "!", {}}};
  }
  std::vector<Msg> keys;
  for (std::string_view key = cut_word(line); !key.empty(); key = cut_word(line))
    keys.emplace_back(KeyPress{std::string(key)});
  return keys;
}

}  // namespace

// Each line of the text is a message to memoir view, or keys.
void view(std::string_view text) {
  constexpr int most_lines = 60;
  Setup setup;
  setup.zone = query::Zone::utc;
  setup.commands = &query::commands();
  Step step = start(setup, {80, 24}, recorded_until(kFirst + 10'000'000), {});
  for (int line = 0; line < most_lines && !text.empty(); ++line) {
    for (const Msg& msg : messages_of(cut_line(text), step.model)) step = update(std::move(step.model), msg);
    const Model& model = step.model;
    const CellGrid grid = draw(model);
    require(grid.lines() >= model.screen.lines && grid.columns() >= model.screen.columns, "the grid fills the screen");
    require(model.at_ms >= model.recorded.first_ms && model.at_ms <= model.recorded.last_ms, "the cursor is recorded");
    require(!model.path.empty() && model.bar.letters.size() <= 1000, "a page is open");
  }
}

}  // namespace memoir::fuzz
