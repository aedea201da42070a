#pragma once

// The result of a command before rendering. A command turns its own rows into a Report by a list of columns, each
// described once: name (JSON and CSV), header (table), kind, and how to get the value. Renderers use nothing else.
//
// Unknown is std::monostate: null in JSON, empty in CSV, "–" in a table; never 0.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "analysis/process_tree.h"
#include "base/transformed.h"
#include "store/types.h"

namespace memoir::query {

using AnyValue = std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<double>>;

// Accepts any number or text, and an optional of it.
struct Value : AnyValue {
  Value() = default;
  using AnyValue::AnyValue;
  Value(std::string_view text) : AnyValue(std::string(text)) {}
  Value(std::size_t count) : AnyValue(static_cast<std::int64_t>(count)) {}
  template <typename T>
  Value(const std::optional<T>& value) : AnyValue(value ? Value(*value) : Value()) {}
};

enum class Kind {
  text,      // any text: made printable in a table
  sentence,  // a text written by memoir; UTC times in it are shown in the chosen zone
  count,     // a plain number
  size,      // KiB; name it …_kib
  change,    // difference in KiB, shown with its sign
  time,      // milliseconds since the epoch; name it …_ms
  duration,  // milliseconds; name it …_ms
  percent,   // percent, not a fraction; name it …_percent
};

// Importance of a line: its colour on a terminal and in HTML. Data formats omit it.
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
  int drop_order = 0;  // columns that do not fit the terminal are dropped, the highest first; 0: never dropped
  Shown shown = Shown::everywhere;
  bool breaks = false;  // the last column: sentences, which continue in the next line if they do not fit the terminal
  bool sorted = false;  // whether the rows are ranked by this column, which is then shown first, with an arrow
};

inline Column data_column(std::string name, Kind kind = Kind::text) {
  return {std::move(name), "", kind, 0, Shown::machines};
}

inline Column display_column(std::string header, Kind kind = Kind::text, int drop_order = 0) {
  return {"", std::move(header), kind, drop_order, Shown::people};
}

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Value>> rows;  // each with one value per column
  std::vector<Tone> tones = {};          // tone of each row; empty: all rows are plain
  // For rows that form a tree, with parents before their children: the last column is drawn as a tree, and JSON nests
  // the rows as `children`. Empty for other rows.
  Parents parents = {};
  bool in_order = false;   // columns stay in this order, even if one ranks the rows
  bool own_units = false;  // each size has its own unit, because the sizes differ too much for a common one
};

// Maximum depth of a tree's rows: deeper rows move up to this level. Readers of JSON fail at a few hundred nested
// brackets.
inline constexpr std::size_t kDeepestRow = 100;

// Marks the column that ranks the rows, by its machine-readable name or its header.
inline void mark_sorted(Table& table, std::string_view name) {
  for (Column& column : table.columns) column.sorted = column.sorted || column.name == name || column.header == name;
}

template <typename Row>
struct ColumnOf {
  Column column;
  std::function<Value(const Row&)> get;  // a function, or a pointer to a member of Row
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
    table.rows.push_back(transformed(columns, [&row](const ColumnOf<Row>& column) { return column.get(row); }));
    if (tone_of) table.tones.push_back(tone_of(row));
  }
  return table;
}

// One named value: in JSON a member, in a table "label  value".
struct Field {
  std::string name;
  std::string label;  // empty: JSON only
  Kind kind = Kind::text;
  Value value;
  Tone tone = Tone::plain;
};

// A further table with its own name: in JSON a list with that name next to `rows`; not in CSV.
struct Section {
  std::string name;
  std::string title;  // empty: JSON only
  Table table;
  std::vector<std::string> notes = {};     // human-readable only: lines below, ready to print
  std::vector<std::string> left_out = {};  // notes about rows omitted by --limit
  bool printed = true;                     // false: omitted on paper, to keep the page short
};

// One value over a span of time. nullopt: a gap.
struct ChartPoint {
  std::int64_t from_ms = 0;
  std::int64_t until_ms = 0;
  std::optional<double> low;  // low and high: the range around the value
  std::optional<double> value;
  std::optional<double> high;
};

// A series drawn in HTML; its numbers are also in the tables. Values are in KiB or percent.
struct Chart {
  std::string title;
  Kind kind = Kind::size;
  std::int64_t from_ms = 0;
  std::int64_t to_ms = 0;
  std::vector<ChartPoint> points;   // a line over time; bars if there are few
  std::vector<ChartPoint> usual{};  // low and high: the usual range, drawn behind
  std::optional<double> limit{};    // maximum possible value: a line across; the scale includes it
  std::string value_name{};         // name of the line and the range around it, for the legend
  std::string usual_name{};
  std::string limit_name{};
  std::vector<std::pair<std::int64_t, std::string>> marks{};  // times with names, each drawn as a vertical line
  std::vector<std::pair<std::int64_t, std::string>> times{};  // times with their labels below the axis
  bool small = false;                                         // whether it is one of several charts side by side
};

struct Report {
  std::optional<std::int64_t> at_ms;  // time of the answer's tick
  std::optional<Range> range;         // range of the answer, if it has no single tick
  std::optional<Coverage> coverage;
  std::string title;                 // table: the line above everything
  Tone tone = Tone::plain;           // tone of the title
  bool title_has_range = false;      // human-readable: the range is not repeated
  std::optional<Section> first;      // the most important section: above everything else; in JSON after the facts
  std::string lead;                  // table: the answer in a sentence, below `first`; ready to print
  std::vector<Field> facts;          // table: above the rows; JSON: members of the object itself
  std::vector<std::string> drawing;  // table only: lines above the rows, ready to print
  std::string rows_title;            // human-readable: title of the rows, if something else is above them
  std::map<std::string, std::string> titles;  // human-readable titles of identities, from the processes of their rows
  Table rows;
  std::vector<Section> sections;
  std::vector<Chart> charts;  // HTML only
  std::vector<Field> totals;
  std::vector<std::string> notes;     // table only: lines below, ready to print
  std::vector<std::string> left_out;  // notes about rows omitted by --limit
  std::vector<std::string> warnings;  // what a reader must know to trust the answer
  std::optional<std::size_t> width;   // table: width in columns without a terminal, for mails and logs
  bool nothing_recorded = false;      // exit status 3
  bool failed = false;                // exit status 1: a check found a problem
  bool not_notable = false;           // --if-notable: exit status 3 without output
};

}  // namespace memoir::query
