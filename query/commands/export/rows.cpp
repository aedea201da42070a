#include <algorithm>
#include <array>

#include "query/answer/process_columns.h"
#include "query/commands/export/export.h"
#include "query/render/render.h"

namespace memoir::query {
namespace {

// Writes rows as they come, some hundred at a time.
template <typename Row>
class RowWriter {
 public:
  RowWriter(std::vector<ColumnOf<Row>> columns, Format format, const Sink& sink)
      : columns_(std::move(columns)), format_(format), sink_(sink) {
    for (const ColumnOf<Row>& column : columns_) table_.columns.push_back(column.column);
  }

  Status begin() { return format_ == Format::csv ? sink_(csv_header(table_.columns)) : Status(Done{}); }
  void add(const Row& row) {
    if (!status_) return;
    std::vector<Value>& cells = table_.rows.emplace_back();
    cells.reserve(columns_.size());
    for (const ColumnOf<Row>& column : columns_) cells.push_back(column.get(row));
    if (table_.rows.size() >= kMost) flush();
  }
  Status finish() {
    flush();
    return status_;
  }

 private:
  static constexpr std::size_t kMost = 256;

  void flush() {
    if (status_) status_ = sink_(format_ == Format::csv ? csv_rows(table_) : json_lines(table_));
    table_.rows.clear();
  }

  std::vector<ColumnOf<Row>> columns_;
  Format format_;
  const Sink& sink_;
  Table table_;
  Status status_ = Done{};
};

struct MachineRow {
  std::int64_t at_ms;
  const MachineMemory& memory;
};

struct CategoryRow {
  std::int64_t at_ms;
  const CategorySample& sample;
};

struct ProcessRow {
  std::int64_t at_ms;
  const StoredProcess& process;
  const ProcessSample& sample;
};

std::vector<ColumnOf<MachineRow>> machine_columns() {
  std::vector<ColumnOf<MachineRow>> columns{
      {{"at_ms", "", Kind::time}, [](const MachineRow& row) { return Value(row.at_ms); }},
      {{"used_kib", "", Kind::size}, [](const MachineRow& row) { return maybe(used_kib(row.memory)); }},
      {{"swap_used_kib", "", Kind::size}, [](const MachineRow& row) { return maybe(swap_used_kib(row.memory)); }},
  };
  std::size_t next = 0;
  for (const FieldName& name : kMachineFields) {
    columns.push_back(
        {{name.column, "", Kind::count},
         [field = static_cast<MachineField>(next++)](const MachineRow& row) { return maybe(row.memory.get(field)); }});
  }
  return columns;
}

std::vector<ColumnOf<CategoryRow>> category_columns(bool rolled) {
  return {
      {{"at_ms", "", Kind::time}, [](const CategoryRow& row) { return Value(row.at_ms); }},
      {{"category", "", Kind::text}, [](const CategoryRow& row) { return Value(row.sample.category); }},
      {{"processes", "", Kind::count}, [](const CategoryRow& row) { return Value(row.sample.processes); }},
      {{"inexact", "", Kind::count},
       [rolled](const CategoryRow& row) { return rolled ? Value() : Value(row.sample.inexact); }},
      {{"pss_kib", "", Kind::size}, [](const CategoryRow& row) { return Value(row.sample.pss_kib); }},
      {{"rss_kib", "", Kind::size}, [](const CategoryRow& row) { return Value(row.sample.rss_kib); }},
      {{"uss_kib", "", Kind::size}, [](const CategoryRow& row) { return Value(row.sample.uss_kib); }},
      {{"swap_kib", "", Kind::size}, [](const CategoryRow& row) { return Value(row.sample.swap_kib); }},
      {{"swap_pss_kib", "", Kind::size}, [](const CategoryRow& row) { return Value(row.sample.swap_pss_kib); }},
  };
}

// Fields of a process that rollups have.
bool is_rolled(ProcessField field) {
  constexpr std::array fields{ProcessField::rss, ProcessField::pss, ProcessField::anonymous, ProcessField::swap,
                              ProcessField::swap_pss};
  return std::ranges::find(fields, field) != fields.end();
}

std::vector<ColumnOf<ProcessRow>> process_columns(bool rolled) {
  std::vector<ColumnOf<ProcessRow>> columns{
      {{"at_ms", "", Kind::time}, [](const ProcessRow& row) { return Value(row.at_ms); }},
      {{"pid", "", Kind::count}, [](const ProcessRow& row) { return Value(std::int64_t{row.sample.key.pid}); }}};
  const auto add = [&](const char* name, Kind kind, bool known, std::function<Value(const ProcessRow&)> get) {
    columns.push_back({{name, "", kind}, known ? std::move(get) : [](const ProcessRow&) { return Value(); }});
  };
  const bool ticks = !rolled;
  add_identity_for_machines(columns, [](const ProcessRow& row) { return &row.process.info; });
  add("exec_count", Kind::count, true,
      [](const ProcessRow& row) { return Value(std::int64_t{row.sample.key.exec_count}); });
  add("parent_pid", Kind::count, true,
      [](const ProcessRow& row) { return Value(std::int64_t{row.sample.parent_pid}); });
  add("state", Kind::text, ticks, [](const ProcessRow& row) { return Value(std::string(1, row.sample.state)); });
  add("threads", Kind::count, ticks, [](const ProcessRow& row) { return Value(std::int64_t{row.sample.threads}); });
  add("source", Kind::text, true,
      [rolled](const ProcessRow& row) { return Value(std::string(rolled ? "mean" : to_string(row.sample.source))); });
  add("uss_kib", Kind::size, true, [](const ProcessRow& row) { return maybe(uss_kib(row.sample.memory)); });
  add("hwm_kib", Kind::size, ticks, [](const ProcessRow& row) { return maybe(high_water_kib(row.sample.memory)); });
  for (std::size_t i = 0; i < kProcessFields.size(); ++i) {
    const auto field = static_cast<ProcessField>(i);
    add(kProcessFields[i].column, Kind::size, ticks || is_rolled(field),
        [field](const ProcessRow& row) { return maybe(row.sample.memory.get(field)); });
  }
  return columns;
}

// Writes all rows: `sample` hands those of a chunk to the writer.
template <typename Row, typename SampleChunk>
Result<std::int64_t> write_all(const Context& context, const ExportQuestion& question, const Sink& sink,
                               std::vector<ColumnOf<Row>> columns, SampleChunk sample) {
  RowWriter<Row> writer(std::move(columns), context.options.format, sink);
  TRY(writer.begin());
  return for_each_chunk(context.reader, question, [&](const ExportChunk& chunk) -> Status {
    TRY(sample(chunk, writer));
    return writer.finish();
  });
}

}  // namespace

Result<std::int64_t> export_rows(const Context& context, const ExportQuestion& question, const Sink& sink) {
  Reader& reader = context.reader;
  const bool rolled = question.tier != Tier::raw;
  switch (question.subjects.front()) {
    case ExportOf::machine:
      return write_all<MachineRow>(context, question, sink, machine_columns(), [&](const auto& chunk, auto& writer) {
        return sample_machine(reader, chunk, [&](std::int64_t at_ms, const MachineMemory& memory) {
          writer.add({at_ms, memory});
        });
      });
    case ExportOf::categories:
      return write_all<CategoryRow>(
          context, question, sink, category_columns(rolled), [&](const auto& chunk, auto& writer) {
            return sample_categories(reader, chunk, [&](std::int64_t at_ms, const CategorySample& sample) {
              writer.add({at_ms, sample});
            });
          });
    case ExportOf::processes:
      break;
  }
  return write_all<ProcessRow>(context, question, sink, process_columns(rolled), [&](const auto& chunk, auto& writer) {
    return sample_processes(reader, chunk, question.filter,
                            [&](std::int64_t at_ms, const StoredProcess& process, const ProcessSample& sample) {
                              writer.add({at_ms, process, sample});
                            });
  });
}

}  // namespace memoir::query
