#include "query/copies/copies.h"

#include <array>
#include <csignal>
#include <fmt/format.h>

#include "base/text.h"
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

constexpr std::array kSignals{SIGINT, SIGHUP, SIGTERM};

volatile std::sig_atomic_t noted = 0;
std::array<struct sigaction, kSignals.size()> handlers_before;

void note(int) {
  noted = 1;
}

// Makes SIGINT, SIGHUP and SIGTERM set a flag instead of ending the program, so that it can clean up. Only one object
// may exist at a time.
class Interruption {
 public:
  Interruption() {
    noted = 0;
    struct sigaction action {};
    action.sa_handler = note;
    action.sa_flags = SA_RESTART;
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      sigaction(kSignals[i], nullptr, &handlers_before[i]);
      // nohup(1) makes a program ignore the hangup.
      if (handlers_before[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
    }
  }
  ~Interruption() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &handlers_before[i], nullptr);
  }
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
};

}  // namespace

Result<Report> copy_to_output(const std::string& database, const Options& options, std::string_view what,
                              const std::function<Status(const CopyPlan&)>& copy) {
  if (!options.output) return malformed("no file to write is named; use -o F");
  const Interruption interruption;
  const Status copied =
      copy({database, *options.output, options.force ? Existing::replace : Existing::keep, [](int percent) {
              show_progress("copying", percent);
              return noted == 0;
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
