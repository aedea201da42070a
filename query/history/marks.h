#pragma once

// What a high-water mark of the store means.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "query/report/report.h"
#include "store/names.h"
#include "store/reader.h"

namespace memoir::query {

// VmHWM is that of a whole life: one that stood when its UTC day began was reached before.
inline bool stood(const HighWater& mark) {
  return mark.before_ms != mark.at_ms && mark.before_ms < mark.day_ms.value_or(0);
}

inline Value seen_by_value(std::optional<SeenBy> by) {
  return by ? Value(std::string(to_string(*by))) : Value();
}

// When it was reached, within which time, and how that is known. `mark` finds the HighWater or the Peak of a row;
// `least_useful` is of AT, WITHIN and SEEN BY.
template <typename Row, typename GetMark>
void add_reached(Columns<Row>& columns, GetMark mark, std::array<int, 3> least_useful) {
  columns.add({"at_ms", "AT", Kind::time, least_useful[0]}, [mark](const Row& row) { return mark(row).at_ms; });
  columns.add(for_machines("before_ms", Kind::time), [mark](const Row& row) { return mark(row).before_ms; });
  columns.add(for_people("WITHIN", Kind::duration, least_useful[1]), [mark](const Row& row) {
    const std::int64_t within_ms = mark(row).at_ms - mark(row).before_ms;
    return within_ms > 0 ? within_ms : Value();
  });
  columns.add({"seen_by", "SEEN BY", Kind::text, least_useful[2]},
              [mark](const Row& row) { return seen_by_value(mark(row).seen_by); });
}

// Whose they are, those that the store still knows.
inline Result<std::vector<StoredProcess>> processes_of(Reader& reader, const ProcessMarks& marks) {
  return load_processes_by_id(reader, each_of(marks.marks, &HighWater::subject_id));
}

}  // namespace memoir::query
