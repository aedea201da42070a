#include <algorithm>
#include <optional>
#include <utility>

#include "query/commands/export/export.h"
#include "query/render/render.h"
#include "query/state/process_columns.h"

namespace memoir::query {
namespace {

// Collects rows as text while they are read, and writes them afterwards: a reader of standard output that blocks must
// not keep a transaction open. Accepts whole ticks until the text is long.
template <typename Row>
class RowWriter {
 public:
  RowWriter(Columns<Row> columns, Format format, const Sink& sink)
      : columns_(std::move(columns)), format_(format), sink_(sink) {
    for (const ColumnOf<Row>& column : columns_) table_.columns.push_back(column.column);
  }

  Status begin() { return format_ == Format::csv ? sink_(csv_header(table_.columns)) : Status(Done{}); }
  void add(const Row& row) {
    if (full_from_ms_) return;
    if (text_.size() >= kMaxBytes && row.at_ms != last_ms_) {
      full_from_ms_ = row.at_ms;
      return;
    }
    last_ms_ = row.at_ms;
    std::vector<Value>& cells = table_.rows.emplace_back();
    cells.reserve(columns_.size());
    for (const ColumnOf<Row>& column : columns_) cells.push_back(column.get(row));
    if (table_.rows.size() >= kMaxRows) format_rows();
  }
  // Writes the text. Returns the first tick that was not accepted; nullopt if all were.
  Result<std::optional<std::int64_t>> write() {
    format_rows();
    TRY(sink_(text_));
    text_.clear();
    return std::exchange(full_from_ms_, std::nullopt);
  }
  bool is_half_full() const { return text_.size() >= kMaxBytes / 2; }

 private:
  static constexpr std::size_t kMaxRows = 256;
  static constexpr std::size_t kMaxBytes = 16U << 20U;

  void format_rows() {
    text_ += format_ == Format::csv ? csv_rows(table_) : json_lines(table_);
    table_.rows.clear();
  }

  Columns<Row> columns_;
  Format format_;
  const Sink& sink_;
  Table table_;
  std::string text_;
  std::int64_t last_ms_ = 0;
  std::optional<std::int64_t> full_from_ms_;
};

struct MachineRow {
  std::int64_t at_ms;
  const MachineMemory& memory;
};

struct CategoryRow {
  std::int64_t at_ms;
  const GroupState& held;
};

Columns<MachineRow> machine_columns() {
  Columns<MachineRow> columns{
      {{"at_ms", "", Kind::time}, &MachineRow::at_ms},
      {{"used_kib", "", Kind::size}, [](const MachineRow& row) { return used_kib(row.memory); }},
      {{"swap_used_kib", "", Kind::size}, [](const MachineRow& row) { return swap_used_kib(row.memory); }},
  };
  std::size_t next = 0;
  for (const FieldName& name : kMachineFields) {
    columns.add({name.column, "", Kind::count},
                [field = static_cast<MachineField>(next++)](const MachineRow& row) { return row.memory.get(field); });
  }
  return columns;
}

Columns<CategoryRow> category_columns() {
  Columns<CategoryRow> columns{
      {{"at_ms", "", Kind::time}, &CategoryRow::at_ms},
      {{"category", "", Kind::text}, [](const CategoryRow& row) { return row.held.name; }},
      {{"processes", "", Kind::count}, [](const CategoryRow& row) { return row.held.processes; }},
      {{"inexact", "", Kind::count}, [](const CategoryRow& row) { return row.held.inexact; }},
  };
  for (const Metric metric : kCategoryMetrics)
    columns.add({std::string(info_of(metric).column), "", Kind::size},
                [metric](const CategoryRow& row) { return row.held.kib[metric].value_or(0); });
  return columns;
}

// Returns the value of a field. Without a sample, returns the metric that equals the field; nullopt if the field is
// only one summand of a metric.
std::optional<std::int64_t> field_of(const ExportedProcess& row, ProcessField field) {
  if (row.sample != nullptr) return row.sample->memory.get(field);
  const auto* const metric = std::ranges::find_if(kRolledMetrics, [field](Metric of) {
    const ProcessRule& rule = info_of(of).rule;
    return *rule.of.begin() == field && (rule.how != ProcessRule::How::sum || rule.of.size() == 1);
  });
  return metric == kRolledMetrics.end() ? std::nullopt : row.kib[*metric];
}

Columns<ExportedProcess> process_columns() {
  using Row = ExportedProcess;
  Columns<Row> columns;
  const auto add = [&](const char* name, Kind kind, std::function<Value(const Row&)> get) {
    columns.add({name, "", kind}, std::move(get));
  };
  add("at_ms", Kind::time, &Row::at_ms);
  add_process(columns, [](const Row& row) { return &row.process.info; });
  add("exec_count", Kind::count, [](const Row& row) { return row.process.info.key.exec_count; });
  add("parent_pid", Kind::count,
      [](const Row& row) { return row.sample != nullptr ? row.sample->parent_pid : row.process.info.parent_pid; });
  add("state", Kind::text,
      [](const Row& row) { return row.sample != nullptr ? std::string(1, row.sample->state) : Value(); });
  add("threads", Kind::count,
      [](const Row& row) { return row.sample != nullptr ? std::int64_t{row.sample->threads} : Value(); });
  add("source", Kind::text,
      [](const Row& row) { return row.sample != nullptr ? to_string(source_at(*row.sample, row.boot_ms)) : "mean"; });
  add("age_ms", Kind::duration, [](const Row& row) -> Value {
    return row.sample != nullptr ? Value(value_age_ms(*row.sample, row.boot_ms)) : Value();
  });
  add("uss_kib", Kind::size, [](const Row& row) { return row.kib[Metric::uss]; });
  add("hwm_kib", Kind::size, [](const Row& row) { return row.kib[Metric::hwm]; });
  std::size_t next = 0;
  for (const FieldName& name : kProcessFields)
    add(name.column, Kind::size,
        [field = static_cast<ProcessField>(next++)](const Row& row) { return field_of(row, field); });
  return columns;
}

// Writes all rows. `sample` passes the rows of a part of a chunk to the writer. Parts grow until their text is long.
template <typename Row, typename SampleChunk>
Result<std::int64_t> write_all(const Context& context, const ExportQuery& question, const Sink& sink,
                               Columns<Row> columns, SampleChunk sample) {
  RowWriter<Row> writer(std::move(columns), context.options.format, sink);
  TRY(writer.begin());
  std::size_t ticks_at_once = 8;
  return for_each_chunk(context.reader, question, [&](const ExportChunk& chunk) -> Status {
    for (std::size_t first = 0; first < chunk.ticks.size();) {
      const ExportChunk part = part_of(chunk, first, ticks_at_once);
      TRY(sample(part, writer));
      first += part.ticks.size();
      const bool is_long = writer.is_half_full();
      const std::optional<std::int64_t> next_ms = TRY(writer.write());
      if (next_ms)
        first = static_cast<std::size_t>(std::ranges::lower_bound(chunk.ticks, *next_ms) - chunk.ticks.begin());
      ticks_at_once = next_ms   ? std::max<std::size_t>(ticks_at_once / 2, 1)
                      : is_long ? ticks_at_once
                                : 2 * ticks_at_once;
    }
    return Done{};
  });
}

}  // namespace

Result<std::int64_t> export_rows(const Context& context, const ExportQuery& question, const Sink& sink) {
  Reader& reader = context.reader;
  switch (question.subjects.front()) {
    case ExportOf::machine:
      return write_all<MachineRow>(context, question, sink, machine_columns(), [&](const auto& chunk, auto& writer) {
        return sample_machine(reader, chunk, [&](std::int64_t at_ms, const MachineMemory& memory) {
          writer.add({at_ms, memory});
        });
      });
    case ExportOf::categories:
      return write_all<CategoryRow>(context, question, sink, category_columns(), [&](const auto& chunk, auto& writer) {
        return sample_categories(reader, chunk, [&](std::int64_t at_ms, const GroupState& held) {
          writer.add({at_ms, held});
        });
      });
    case ExportOf::processes:
    case ExportOf::fleet:  // only for OpenMetrics
      break;
  }
  return write_all<ExportedProcess>(context, question, sink, process_columns(), [&](const auto& chunk, auto& writer) {
    return sample_processes(reader, chunk, question.filter, [&](const ExportedProcess& row) { writer.add(row); });
  });
}

}  // namespace memoir::query
