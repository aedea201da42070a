#pragma once

// Interpretation of stored high-water marks.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "query/report/report.h"
#include "store/names.h"
#include "store/reader.h"

namespace memoir::query {

// Returns whether the mark was reached before the start of its UTC day. VmHWM covers the whole lifetime, so the mark of
// a day may be from an earlier one.
inline bool stood(const HighWater& mark) {
  return mark.before_ms != mark.at_ms && mark.before_ms < mark.day_ms.value_or(0);
}

inline Value seen_by_value(std::optional<Origin> by) {
  return by ? Value(std::string(to_string(*by))) : Value();
}

// Adds the time of a mark, the interval within which it was reached, and its source. `mark` finds the HighWater or the
// Peak of a row; `drop_order` has the values for the columns AT, WITHIN and SOURCE.
template <typename Row, typename GetMark>
void add_reached(Columns<Row>& columns, GetMark mark, std::array<int, 3> drop_order) {
  columns.add({"at_ms", "AT", Kind::time, drop_order[0]}, [mark](const Row& row) { return mark(row).at_ms; });
  columns.add(data_column("before_ms", Kind::time), [mark](const Row& row) { return mark(row).before_ms; });
  columns.add(display_column("WITHIN", Kind::duration, drop_order[1]), [mark](const Row& row) {
    const std::int64_t within_ms = mark(row).at_ms - mark(row).before_ms;
    return within_ms > 0 ? within_ms : Value();
  });
  columns.add({"seen_by", "SOURCE", Kind::text, drop_order[2]},
              [mark](const Row& row) { return seen_by_value(mark(row).seen_by); });
}

// Loads the processes of the marks, as far as the store still has them.
inline Result<std::vector<StoredProcess>> processes_of(Reader& reader, const ProcessMarks& marks) {
  return load_processes_by_id(reader, transformed(marks.marks, &HighWater::subject_id));
}

}  // namespace memoir::query
