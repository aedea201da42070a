#include "query/copies/copies.h"

#include <fmt/format.h>

#include "base/text.h"
#include "query/copies/interruption.h"
#include "query/render/terminal.h"
#include "store/reader.h"

namespace memoir::query {
namespace {

struct Written {
  std::string path;
  FileInfo info;
  std::int64_t runs = 0;
};

Result<Written> look_at(const std::string& path) {
  const auto reader = TRY(Reader::open(path));
  auto info = TRY(reader->info());
  const auto runs = TRY(reader->runs());
  return Written{path, std::move(info), static_cast<std::int64_t>(runs.size())};
}

Columns<Written> columns() {
  const auto time = [](std::int64_t FileInfo::*member) {
    return [member](const Written& row) { return row.info.ticks > 0 ? row.info.*member : Value(); };
  };
  return {
      {{"from_ms", "FROM", Kind::time}, time(&FileInfo::first_tick_ms)},
      {{"to_ms", "TO", Kind::time}, time(&FileInfo::last_tick_ms)},
      {{"ticks", "TICKS", Kind::count}, [](const Written& row) { return row.info.ticks; }},
      {{"runs", "RUNS", Kind::count, 1}, &Written::runs},
      {{"size_kib", "SIZE", Kind::size}, [](const Written& row) { return (row.info.bytes + 1023) / 1024; }},
      {{"file", "FILE", Kind::text}, &Written::path},
  };
}

}  // namespace

Result<Report> copy_to_output(const std::string& database, const Options& options, std::string_view what,
                              const std::function<Status(const CopyPlan&)>& copy) {
  if (!options.output) return malformed("where to? -o F names the file to write");
  const Interruption interruption;
  const Status copied =
      copy({database, *options.output, options.force ? Existing::replace : Existing::keep, [](int percent) {
              show_progress("copying", percent);
              return !Interruption::came();
            }});
  end_progress();
  if (!copied) return copied.error();
  Written written = TRY(look_at(*options.output));
  Report report;
  report.title = to_printable(fmt::format("{} of {}", what, database));
  report.rows = make_table(columns(), std::vector{std::move(written)});
  return report;
}

}  // namespace memoir::query
