#include <fmt/format.h>

#include "base/text.h"
#include "query/render.h"

namespace memoir::query {
namespace {

std::string in_quotes(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

struct CellText {
  std::string operator()(std::monostate) const { return {}; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const { return fmt::format("{:.6g}", value); }
  std::string operator()(const std::string& value) const { return in_quotes(to_utf8(value)); }
};

}  // namespace

std::string render_csv(const Report& report) {
  std::string out;
  const auto add_line = [&](const auto& cell) {
    bool first = true;
    for (std::size_t i = 0; i < report.rows.columns.size(); ++i) {
      if (report.rows.columns[i].shown == Shown::people) continue;
      if (!first) out += ',';
      first = false;
      out += cell(i);
    }
    out += '\n';
  };
  add_line([&](std::size_t i) { return report.rows.columns[i].name; });
  for (const auto& row : report.rows.rows) {
    add_line([&](std::size_t i) { return std::visit(CellText{}, row[i]); });
  }
  return out;
}

}  // namespace memoir::query
