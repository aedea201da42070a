#pragma once

// A Report as text: a table for people, JSON and CSV for machines.

#include <cstddef>
#include <optional>
#include <string>

#include "query/args/options.h"
#include "query/report/report.h"

namespace memoir::query {

// What an answer is an answer to.
struct Asked {
  std::string command;
  std::string db;
  std::string host;
};

struct Presentation {
  Zone zone = Zone::local;
  Units units = Units::automatic;
  bool color = false;
  std::optional<std::size_t> width;  // of the terminal; absent: nothing is cut
  bool ascii = false;                // no character of ours is beyond it
};

inline constexpr int kJsonSchemaVersion = 1;

std::string render_table(const Asked& asked, const Report& report, const Presentation& presentation);
// For people too: one self-contained page, and Markdown for tickets and chats.
std::string render_html(const Asked& asked, const Report& report, const Presentation& presentation);
std::string render_markdown(const Asked& asked, const Report& report, const Presentation& presentation);
std::string render_json(const Asked& asked, const Report& report);
// RFC 4180, but for lines that end in a bare newline.
std::string render_csv(const Report& report);

// The parts of CSV, and JSON lines (jsonlines.org), for rows that are written as they come.
std::string csv_header(const std::vector<Column>& columns);
std::string csv_rows(const Table& table);
std::string json_lines(const Table& table);

}  // namespace memoir::query
