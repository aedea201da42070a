#pragma once

// memoir view without a file: messages go in, requests come out.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "query/commands.h"
#include "query/view/update.h"

namespace memoir::test::view {

using namespace memoir::query::view;
using query::commands;
using query::Kind;
using query::Report;
using query::Value;

// 2026-11-25 02:15:30 UTC.
inline constexpr std::int64_t kNow = 1'795'572'930'000;
inline constexpr std::int64_t kMinute = 60'000;

inline Setup setup() {
  Setup setup;
  setup.zone = query::Zone::utc;
  setup.commands = &commands();
  return setup;
}

inline RecordingInfo recorded(std::int64_t last_ms = kNow) {
  RecordingInfo recorded;
  recorded.host = "web1";
  recorded.state = query::Recording::active;
  recorded.first_ms = kNow - 1000 * kMinute;
  recorded.last_ms = last_ms;
  recorded.ticks = 6001 + (last_ms - kNow) / 10'000;
  recorded.interval_ms = 10'000;
  recorded.now_ms = last_ms;
  return recorded;
}

// The view with the requests that it has made so far.
class Played {
 public:
  explicit Played(const Start& from = {}, query::Screen screen = {80, 24}) {
    take(start(setup(), screen, recorded(), from));
  }

  void press(const std::string& keys) {
    std::string_view rest = keys;
    for (std::string_view key = cut_word(rest); !key.empty(); key = cut_word(rest)) send(KeyPress{std::string(key)});
  }
  void type(const std::string& text) {
    for (const char c : text) send(KeyPress{c == ' ' ? "Space" : std::string(1, c)});
  }
  void send(const Msg& msg) { take(update(std::move(model), msg)); }

  // Returns the words of the last request of a slot; empty without one.
  Words words(Slot slot = Slot::page) const {
    const auto found = asked.find(slot);
    return found == asked.end() ? Words() : found->second.words;
  }
  void answer(Slot slot, Report report) {
    send(Answered{slot, asked.at(slot).id, std::make_shared<const Report>(std::move(report)), {}, {}});
  }
  // Reports that the last seek has found this tick.
  void found(std::int64_t at_ms) { send(Sought{seek.id, at_ms}); }

  Model model;
  std::map<Slot, AskFor> asked;
  Seek seek;
  std::string copied;
  bool quits = false;

 private:
  void take(Step step) {
    model = std::move(step.model);
    for (const Request& request : step.requests) {
      if (const auto* const of = std::get_if<AskFor>(&request)) asked[of->slot] = *of;
      if (const auto* const of = std::get_if<Seek>(&request)) seek = *of;
      if (const auto* const of = std::get_if<Copy>(&request)) copied = of->text;
      if (const auto* const of = std::get_if<Signal>(&request)) quits = quits || *of == Signal::quit;
    }
  }
};

// Returns a report of processes with these pids, the largest first.
inline Report processes(const std::vector<std::int64_t>& pids) {
  Report report;
  report.rows.columns = {{"pid", "PID", Kind::count},
                         query::data_column("start_ms", Kind::time),
                         query::data_column("comm"),
                         {"pss_kib", "PSS", Kind::size, 0, query::Shown::everywhere, false, true},
                         query::display_column("COMMAND")};
  std::int64_t kib = 300'000;
  for (const std::int64_t pid : pids) {
    report.rows.rows.push_back({Value(pid), Value(pid * 10), Value("sh"), Value(kib), Value("sh -c true")});
    kib -= 1000;
  }
  return report;
}

// Returns a report for the bar from the start and highest value of each minute.
inline Report trend(const std::vector<std::pair<std::int64_t, std::int64_t>>& minutes) {
  Report report;
  report.rows.columns = {{"from_ms", "FROM", Kind::time},
                         {"until_ms", "", Kind::time},
                         {"mean_kib", "MEAN", Kind::size},
                         {"max_kib", "MAX", Kind::size},
                         {"max_at_ms", "", Kind::time}};
  for (const auto& [from_ms, max_kib] : minutes)
    report.rows.rows.push_back(
        {Value(from_ms), Value(from_ms + kMinute), Value(max_kib / 2), Value(max_kib), Value(from_ms + 20'000)});
  return report;
}

inline Report events(const std::vector<std::pair<std::int64_t, const char*>>& all) {
  Report report;
  report.rows.columns = {{"at_ms", "AT", Kind::time}, {"kind", "KIND"}, {"text", "WHAT", Kind::sentence}};
  for (const auto& [at_ms, kind] : all)
    report.rows.rows.push_back({Value(at_ms), Value(std::string_view(kind)), Value("python3 (32702) in shop.service")});
  return report;
}

}  // namespace memoir::test::view
