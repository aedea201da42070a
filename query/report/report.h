#pragma once

// What a command answers, before it is drawn. A command turns its own rows into a Report by a list of columns, each
// described once: name (JSON and CSV), header (table), kind, and how to get the value. Renderers know nothing else.
//
// Unknown is std::monostate: null in JSON, empty in CSV, "–" in a table; never 0.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "analysis/process_tree.h"
#include "base/each_of.h"
#include "store/types.h"

namespace memoir::query {

using AnyValue = std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<double>>;

// What may be given for one: any number or text, and an optional of it.
struct Value : AnyValue {
  Value() = default;
  using AnyValue::AnyValue;
  Value(std::string_view text) : AnyValue(std::string(text)) {}
  Value(std::size_t count) : AnyValue(static_cast<std::int64_t>(count)) {}
  template <typename T>
  Value(const std::optional<T>& value) : AnyValue(value ? Value(*value) : Value()) {}
};

enum class Kind {
  text,      // from outside or ours: made printable in a table
  sentence,  // ours; the times that it tells in UTC are shown in the zone
  count,     // a plain number
  size,      // KiB; name it …_kib
  change,    // KiB more (or less); people see the sign
  time,      // milliseconds since the epoch; name it …_ms
  duration,  // milliseconds; name it …_ms
  percent,   // of 100; name it …_percent
};

// How much a line concerns its reader: colour on a terminal and in HTML; the values say it to machines.
enum class Tone { plain, marked, warning, problem };

// Where a column or field is shown.
enum class Shown {
  everywhere,
  machines,  // JSON and CSV only
  people,    // tables only
};

struct Column {
  std::string name;
  std::string header;
  Kind kind = Kind::text;
  int least_useful = 0;  // columns that do not fit the terminal go, the highest first; 0 stays
  Shown shown = Shown::everywhere;
  bool breaks = false;  // the last column: sentences, which go on in the next line where they do not fit the terminal
  bool sorted = false;  // the rows are ranked by it: people see it first, and marked
};

inline Column for_machines(std::string name, Kind kind = Kind::text) {
  return {std::move(name), "", kind, 0, Shown::machines};
}

inline Column for_people(std::string header, Kind kind = Kind::text, int least_useful = 0) {
  return {"", std::move(header), kind, least_useful, Shown::people};
}

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Value>> rows;  // each as long as columns
  std::vector<Tone> tones = {};          // of each row; empty: all are plain
  // Of rows that are a tree, parents before their children: the last column is drawn as one, and JSON nests them as
  // `children`. Empty: they are not.
  Parents parents = {};
  bool own_units = false;  // each size has a unit of its own: they are too far apart for one of them all
};

// What is deeper in a tree stands beside its parent: readers of JSON give up at a few hundred brackets, and so would
// eyes.
inline constexpr std::size_t kDeepestRow = 100;

// The column that the rows are ranked by, under the name that machines know or the header that people see.
inline void mark_sorted(Table& table, std::string_view name) {
  for (Column& column : table.columns) column.sorted = column.sorted || column.name == name || column.header == name;
}

template <typename Row>
struct ColumnOf {
  Column column;
  std::function<Value(const Row&)> get;  // or a member of Row
};

template <typename Row>
struct Columns : std::vector<ColumnOf<Row>> {
  using std::vector<ColumnOf<Row>>::vector;

  void add(Column column, std::function<Value(const Row&)> get) {
    this->push_back({std::move(column), std::move(get)});
  }
};

template <typename Row>
Table make_table(const Columns<Row>& columns, const std::vector<Row>& rows,
                 const std::function<Tone(const Row&)>& tone_of = nullptr) {
  Table table;
  for (const ColumnOf<Row>& column : columns) table.columns.push_back(column.column);
  for (const Row& row : rows) {
    table.rows.push_back(each_of(columns, [&row](const ColumnOf<Row>& column) { return column.get(row); }));
    if (tone_of) table.tones.push_back(tone_of(row));
  }
  return table;
}

// One value with a name: in JSON a member, in a table "label  value".
struct Field {
  std::string name;
  std::string label;  // empty: JSON only
  Kind kind = Kind::text;
  Value value;
  Tone tone = Tone::plain;
};

// A further table under a name of its own: in JSON a list of that name beside `rows`; not in CSV.
struct Section {
  std::string name;
  std::string title;  // empty: JSON only
  Table table;
  std::vector<std::string> notes = {};     // people only: lines below, ready to print
  std::vector<std::string> left_out = {};  // the notes among them that tell of rows which --limit cut off
};

// One value over a span of time. Absent: a gap.
struct ChartPoint {
  std::int64_t from_ms = 0;
  std::int64_t until_ms = 0;
  std::optional<double> low;  // low and high: the range around it
  std::optional<double> value;
  std::optional<double> high;
};

// A series as HTML draws it; whoever cannot see it finds its numbers in the tables. Sizes are KiB, or percent.
struct Chart {
  std::string title;
  Kind kind = Kind::size;
  std::int64_t from_ms = 0;
  std::int64_t to_ms = 0;
  std::vector<ChartPoint> points;   // a line over time; bars where they are few
  std::vector<ChartPoint> usual{};  // low and high: what it is usually between, drawn behind
  std::optional<double> limit{};    // what it cannot be more than: a line across, and in the scale
  std::string value_name{};         // what the line and the range around it are, for the legend
  std::string usual_name{};
  std::string limit_name{};
  std::vector<std::pair<std::int64_t, std::string>> times{};  // below the axis
  bool small = false;                                         // one of several beside each other
};

struct Report {
  std::optional<std::int64_t> at_ms;  // the tick answered from
  std::optional<Range> range;         // or the range
  std::optional<Coverage> coverage;
  std::string title;                 // table: the line above all
  Tone tone = Tone::plain;           // of the title
  std::string lead;                  // table: the answer in a sentence, below it; ready to print
  std::vector<Field> facts;          // table: above the rows; JSON: members of the object itself
  std::vector<std::string> drawing;  // table only: lines above the rows, ready to print
  std::string rows_title;            // people: above the rows, where there is more above them
  Table rows;
  std::vector<Section> sections;
  std::vector<Chart> charts;  // HTML only
  std::vector<Field> totals;
  std::vector<std::string> notes;     // table only: lines below, ready to print
  std::vector<std::string> left_out;  // as of a section
  std::vector<std::string> warnings;  // what a reader must know to trust the answer
  std::optional<std::size_t> width;   // table: columns where there is no terminal, for what goes into mails and logs
  bool nothing_recorded = false;      // exit status 3
  bool failed = false;                // exit status 1: what was asked after is not in order
};

}  // namespace memoir::query
