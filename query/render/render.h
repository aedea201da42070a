#pragma once

// A Report as text: a table for humans, JSON and CSV for machines.

#include <cstddef>
#include <optional>
#include <string>

#include "query/args/options.h"
#include "query/report/report.h"

namespace memoir::query {

struct ReportContext {
  std::string command;
  std::string db;
  std::string host;
};

struct Presentation {
  Zone zone = Zone::local;
  Units units = Units::automatic;
  bool color = false;
  std::optional<std::size_t> width;  // columns of the terminal; nullopt: nothing is truncated
  bool ascii = false;                // memoir draws with ASCII characters only
};

inline constexpr int kJsonSchemaVersion = 1;

std::string render_table(const ReportContext& asked, const Report& report, const Presentation& presentation);
// Return other human-readable forms: one self-contained page, and Markdown for tickets and chats.
std::string render_html(const ReportContext& asked, const Report& report, const Presentation& presentation);
std::string render_markdown(const ReportContext& asked, const Report& report, const Presentation& presentation);
std::string render_json(const ReportContext& asked, const Report& report);
// RFC 4180, except that lines end in a bare newline.
std::string render_csv(const Report& report);

// Parts of CSV, and JSON lines (jsonlines.org), for streamed rows. `first` is a cell that precedes the others of each
// line.
std::string csv_header(const std::vector<Column>& columns, std::string_view first = {});
std::string csv_rows(const Table& table, std::string_view first = {});
std::string json_lines(const Table& table);

}  // namespace memoir::query
