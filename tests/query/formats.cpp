#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ranges>
#include <regex>
#include <set>

#include <nlohmann/json.hpp>

#include "query/ask.h"
#include "query/golden.h"
#include "support/catch.h"
#include "support/csv_records.h"

namespace memoir::test {
namespace {

using Json = nlohmann::ordered_json;
using Cells = std::vector<std::string>;

// Adds a line with the names of the members for each object. Elements of a list are merged.
void add_names(std::string& out, const std::string& path, const std::vector<const Json*>& objects) {
  std::vector<std::string> names;
  std::vector<std::pair<std::string, std::vector<const Json*>>> inner;
  for (const Json* object : objects) {
    for (const auto& [name, value] : object->items()) {
      if (std::ranges::find(names, name) == names.end()) {
        names.push_back(name);
        inner.emplace_back(path.empty() ? name : path + "." + name, std::vector<const Json*>());
      }
      auto& below = inner[static_cast<std::size_t>(std::ranges::find(names, name) - names.begin())].second;
      if (value.is_object()) below.push_back(&value);
      if (name == "children" || !value.is_array()) continue;
      for (const Json& element : value) {
        if (element.is_object()) below.push_back(&element);
      }
    }
  }
  out += fmt::format("{}: {}\n", path.empty() ? "answer" : path, fmt::join(names, " "));
  for (const auto& [name, below] : inner) {
    if (!below.empty()) add_names(out, name, below);
  }
}

std::string csv_cell(const Json& value) {
  if (value.is_null()) return {};
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{:.12g}", value.get<double>());
  if (value.is_array()) return fmt::format("{:.12g}", fmt::join(value.get<std::vector<double>>(), " "));
  return value.dump();
}

// Adds rows in CSV's order, parents before their children. Each row starts with the cells of `first`.
void add_rows(std::vector<Cells>& out, const Json& rows, const Cells& first) {
  for (const Json& row : rows) {
    Cells cells = first;
    for (const auto& [name, value] : row.items()) {
      if (name != "children") cells.push_back(csv_cell(value));
    }
    out.push_back(std::move(cells));
    if (row.contains("children")) add_rows(out, row["children"], first);
  }
}

void compare_csv(const std::string& csv, const Json& answer) {
  const auto records = csv_records(csv);
  REQUIRE(records.has_value());
  REQUIRE_FALSE(records->empty());
  std::vector<Cells> rows;
  // JSON has the time of the answer outside the rows.
  const bool has_time = answer.contains("at_ms");
  add_rows(rows, answer["rows"], has_time ? Cells{csv_cell(answer["at_ms"])} : Cells());
  CHECK(std::vector<Cells>(records->begin() + 1, records->end()) == rows);
  if (rows.empty()) return;
  Cells names = has_time ? Cells{"at_ms"} : Cells();
  for (const auto& [name, value] : answer["rows"][0].items()) {
    if (name != "children") names.push_back(name);
  }
  CHECK(records->front() == names);
}

std::string without_markup(std::string text) {
  const std::pair<const char*, const char*> marks[]{{"<[^>]*>", ""}, {R"(\\([\\`*_\[\]#~]))", "$1"},
                                                    {"&#124;", "|"}, {"&#64;", "@"},
                                                    {"&#58;", ":"},  {"&#46;", "."},
                                                    {"&#39;", "'"},  {"&quot;", "\""},
                                                    {"&lt;", "<"},   {"&gt;", ">"},
                                                    {"&amp;", "&"}};
  for (const auto& [mark, plain] : marks) text = std::regex_replace(text, std::regex(mark), plain);
  return text;
}

// Returns the headings and rows of all tables.
std::vector<Cells> cells_of(const std::string& page, const std::regex& row, const std::regex& cell) {
  std::vector<Cells> out;
  for (std::sregex_iterator line(page.begin(), page.end(), row), end; line != end; ++line) {
    const std::string text = line->str();
    Cells cells;
    for (std::sregex_iterator at(text.begin(), text.end(), cell); at != end; ++at)
      cells.push_back(without_markup((*at)[1].str()));
    out.push_back(std::move(cells));
  }
  return out;
}

// Removes the spaces and lines between the cells of a table.
std::string dense(const std::string& text) {
  return std::regex_replace(text, std::regex("[ \n]|├─|└─|│"), "");
}

void compare_pages(const std::string& table, const std::string& markdown, const std::string& html) {
  const std::vector<Cells> cells =
      cells_of(markdown, std::regex(R"(\n\| [^\n]* \|(?=\n))"), std::regex(R"(\| (.*?) (?=\|))"));
  CHECK(cells == cells_of(html, std::regex("<tr.*</tr>"), std::regex("<t[dh][^>]*>(.*?)</t[dh]>")));
  CHECK_FALSE(cells.empty());
  if (table.find("…") != std::string::npos) return;  // truncated, because the table is as wide as a mail
  const std::string all = dense(table);
  std::size_t at = 0;
  for (const Cells& row : cells) {
    CAPTURE(row);
    at = all.find(dense(fmt::format("{}", fmt::join(row, ""))), at);
    REQUIRE(at != std::string::npos);
  }
}

}  // namespace

void check_formats(const std::string& name, const InFormat& answer, bool has_pages) {
  CAPTURE(name);
  const std::string table = answer("table");
  if (!name.empty()) compare_with_golden(name + ".table", table);
  const Json json = Json::parse(answer("json"));
  std::string names;
  add_names(names, "", {&json});
  if (!name.empty()) compare_with_golden(name + ".names", names);
  compare_csv(answer("csv"), json);
  if (has_pages) compare_pages(table, answer("markdown"), answer("html"));
}

void check_formats(const std::string& name, const History& history, std::vector<std::string> words, bool has_pages) {
  const InFormat answer = [&](const std::string& format) {
    std::vector<std::string> asked = words;
    asked.insert(asked.end(), {"--format", format});
    return text_of(history, asked);
  };
  check_formats(name, answer, has_pages);
}

}  // namespace memoir::test
