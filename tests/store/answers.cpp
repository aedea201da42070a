#include "answers.h"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>
#include <sstream>

#include "store/events.h"
#include "store/names.h"
#include "store/samples.h"

namespace memoir::test {
namespace {

constexpr Range kEver{0, 4'000'000'000'000};

template <typename E>
std::string words(const FieldSet<E>& values) {
  std::string text;
  for (std::size_t i = 0; i < FieldSet<E>::kCount; ++i) {
    const auto value = values.get(static_cast<E>(i));
    text += value ? fmt::format(" {}", *value) : " -";
  }
  return text;
}

std::string words(const std::optional<std::int64_t>& value) {
  return value ? fmt::format("{}", *value) : "-";
}

std::string words(const ProcessSample& sample) {
  return fmt::format("{}@{}+{} {} {} {} {}@{}{}", sample.key.pid, sample.key.start_ticks, sample.key.exec_count,
                     sample.state, sample.parent_pid, sample.threads, to_string(sample.source),
                     words(sample.read_boot_ms), words(sample.memory));
}

std::string words(const CategorySample& sample) {
  return fmt::format("{} {} {} {} {} {} {} {}", sample.category, sample.processes, sample.inexact, sample.rss_kib,
                     sample.pss_kib, sample.uss_kib, sample.swap_kib, sample.swap_pss_kib);
}

std::string words(const CgroupSample& sample) {
  return fmt::format("{} {} {} {} {} {} {}", sample.path, sample.current_kib, words(sample.file_kib),
                     words(sample.swap_kib), words(sample.max_kib), words(sample.high_kib), words(sample.swap_max_kib));
}

std::string words(const StoredProcess& process) {
  const ProcessInfo& info = process.info;
  return fmt::format("{} {} {}@{}+{} {} {} {} {} '{}' '{}' '{}' '{}' '{}' {} {}..{} gone {} '{}' identity {} '{}' '{}'",
                     process.id, process.boot_id, info.key.pid, info.key.start_ticks, info.key.exec_count,
                     info.start_ms, info.parent_pid, info.uid, info.user, info.comm, info.exe, info.command,
                     info.cgroup, info.cwd, info.category, process.first_ms, process.last_ms, words(process.exited_ms),
                     process.exit_kind, process.identity_id, process.unit, process.identity);
}

std::string words(const StoredLife& life) {
  return fmt::format("{} {} {} {} {}", life.process_id, life.identity_id, life.pid, life.first_ms,
                     words(life.exited_ms));
}

std::string words(const StoredRun& run) {
  return fmt::format("{} {} {} {} {} {} {} {} {} {} '{}' {} {}", run.id, run.boot.boot_id, run.boot.boot_ms,
                     run.boot.host, run.boot.kernel, run.pid, run.version, run.interval_ms, run.started_ms,
                     words(run.stopped_ms), run.stop_reason, words(run.first_tick_ms), words(run.last_tick_ms));
}

std::string words(const StoredTick& tick) {
  const TickCounts& counts = tick.counts;
  std::string text =
      fmt::format("{} {} {}..{} {} {} {} {} {} {}", tick.id, tick.run_id, tick.begin.wall_ms, tick.end.boot_ms,
                  tick.keyframe, tick.skipped, tick.total.cpu_us, tick.total.wall_us, counts.seen, counts.zombies);
  for (const Cost& cost : tick.cost) text += fmt::format(" {}/{}", cost.cpu_us, cost.wall_us);
  return text;
}

std::string words(const Snapshot& snapshot) {
  std::string text = fmt::format("tick {}\nrun {}\nmachine{}", words(snapshot.tick), words(snapshot.run),
                                 words(snapshot.machine.memory));
  for (const OtherMeminfo& other : snapshot.machine.other) text += fmt::format(" {}={}", other.key, other.value);
  for (const ProcessState& state : snapshot.processes) {
    text += fmt::format("\n{} | {}", words(state.process), words(state.sample));
  }
  for (const CategorySample& sample : snapshot.categories) text += "\n" + words(sample);
  for (const CgroupSample& sample : snapshot.cgroups) text += "\n" + words(sample);
  return text;
}

std::string words(const Coverage& coverage) {
  std::string text = fmt::format("{} {} {}", coverage.ticks, coverage.recorded_ms, coverage.runs);
  for (const Gap& gap : coverage.gaps) text += fmt::format(" {}..{} {};", gap.from_ms, gap.to_ms, gap.reason);
  return text;
}

std::string words(const HighWater& mark) {
  return fmt::format("{} {} '{}' {} {} {} {} {}", static_cast<int>(mark.subject), mark.subject_id, mark.name,
                     to_string(mark.metric), words(mark.day_ms), mark.value_kib, mark.at_ms, mark.before_ms);
}

std::string words(const StoredIdentity& identity) {
  return fmt::format("{} '{}' '{}' '{}' {} {}", identity.id, identity.unit, identity.exe, identity.command,
                     identity.first_ms, identity.last_ms);
}

std::string words(const Event& event) {
  return fmt::format("{} {} {} {}", event.at.wall_ms, event.at.boot_ms, event.kind, event.text);
}

template <typename T>
void add_all(std::string& text, const char* what, const std::vector<T>& all) {
  for (const T& one : all) text += fmt::format("{} {}\n", what, words(one));
}

void add_steps(std::string& text, Reader& reader) {
  must(visit_samples(reader, kEver, [&](const SampleSpan<ProcessSample>& held) {
    text += fmt::format("step {} {}..{} {}\n", held.subject_id, held.from_ms, held.until_ms, words(*held.sample));
  }));
  must(visit_samples(reader, kEver, [&](const SampleSpan<MachineMemory>& held) {
    text += fmt::format("machine step {}..{}{}\n", held.from_ms, held.until_ms, words(*held.sample));
  }));
  must(visit_samples(reader, kEver, [&](const SampleSpan<CategorySample>& held) {
    text += fmt::format("category step {}..{} {}\n", held.from_ms, held.until_ms, words(*held.sample));
  }));
}

}  // namespace

std::string all_answers(Reader& reader) {
  const FileInfo info = must(reader.info());
  std::string text = fmt::format("{} ticks, {}..{}\n", info.ticks, info.first_tick_ms, info.last_tick_ms);
  add_all(text, "run", must(reader.runs()));
  add_all(text, "event", must(load_events(reader, kEver)));
  const Range range{info.first_tick_ms, info.last_tick_ms};
  text += fmt::format("coverage {}\n", words(must(reader.coverage(range))));
  add_all(text, "process", must(load_processes(reader, range)));
  add_all(text, "life", must(load_lives(reader, range)));
  add_all(text, "identity", must(load_identities(reader, range)));
  add_all(text, "mark of all time", must(reader.high_water(std::nullopt, kAllKinds)));
  add_all(text, "mark of a day", must(reader.high_water(range, kAllKinds)));
  const std::vector<StoredTick> ticks = must(reader.ticks(range));
  add_all(text, "tick", ticks);
  for (const StoredTick& tick : ticks) text += words(must(reader.snapshot(tick.id))) + "\n";
  add_steps(text, reader);
  return text;
}

std::vector<std::string> rows_of(SQLite::Database& database, const std::string& sql) {
  std::vector<std::string> rows;
  SQLite::Statement statement(database, sql);
  while (statement.executeStep()) {
    std::string& row = rows.emplace_back();
    for (int i = 0; i < statement.getColumnCount(); ++i) {
      const SQLite::Column value = statement.getColumn(i);
      row += value.isNull() ? "NULL|" : value.getString() + "|";
    }
  }
  return rows;
}

std::string difference(const std::string& answers, const std::string& others) {
  std::istringstream left(answers);
  std::istringstream right(others);
  std::string a;
  std::string b;
  while (true) {
    const bool more_left = static_cast<bool>(std::getline(left, a));
    const bool more_right = static_cast<bool>(std::getline(right, b));
    if (!more_left && !more_right) return "";
    if (more_left != more_right || a != b) return fmt::format("'{}' and '{}'", more_left ? a : "", more_right ? b : "");
  }
}

std::string sample_words(const Snapshot& snapshot) {
  std::string text = fmt::format("tick {}\nmachine{}", words(snapshot.tick), words(snapshot.machine.memory));
  for (const OtherMeminfo& other : snapshot.machine.other) text += fmt::format(" {}={}", other.key, other.value);
  for (const ProcessState& state : snapshot.processes) {
    text += fmt::format("\n{} {} | {}", state.process.id, state.process.info.command, words(state.sample));
  }
  for (const CategorySample& sample : snapshot.categories) text += "\n" + words(sample);
  return text;
}

}  // namespace memoir::test
