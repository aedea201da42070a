#include "store/samples.h"

#include "store/replay/samples.h"
#include "store/sqlite/statement.h"

namespace memoir {
namespace {

template <typename Sample>
Status visit_in(Reader& reader, Range range, const VisitSpan<Sample>& visit,
                void (*visit_samples)(SQLite::Database&, Range, const VisitSpan<Sample>&)) {
  return reader.visit([&](SQLite::Database& database) { visit_samples(database, range, visit); });
}

}  // namespace

Status visit_samples(Reader& reader, Range range, const VisitSpan<ProcessSample>& visit) {
  return visit_in(reader, range, visit, visit_process_samples);
}

Status visit_samples(Reader& reader, Range range, const VisitSpan<MachineMemory>& visit) {
  return visit_in(reader, range, visit, visit_machine_samples);
}

Status visit_samples(Reader& reader, Range range, const VisitSpan<CategorySample>& visit) {
  return visit_in(reader, range, visit, visit_category_samples);
}

Result<std::vector<StoredZombies>> load_zombies(Reader& reader, Range range) {
  const auto read = [](const Statement& row) { return StoredZombies{row.integer(0), row.integer(1)}; };
  return reader.read([&](SQLite::Database& database) {
    return every(database, "SELECT wall_ms, zombies FROM tick NOT INDEXED WHERE wall_ms BETWEEN ? AND ? ORDER BY id",
                 read, range.from_ms, range.to_ms);
  });
}

}  // namespace memoir
