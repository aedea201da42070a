// The same query again: repeated, on copies of the file, and in other formats.

#include <algorithm>
#include <fmt/ranges.h>

#include "support/csv_records.h"
#include "support/temporary_directory.h"
#include "world/audit/laws.h"

namespace memoir::world {
namespace {

// Most of these queries were already run for other laws.
std::vector<Words> queries(Audit& audit) {
  const std::string then = at(audit.some_ticks(2).back()->wall_ms);
  return {{"top", "--at", then, "--limit", "0"},
          Words{"top"} + audit.range(),
          {"peaks", "--limit", "0"},
          Words{"processes"} + audit.range(),
          Words{"exits"} + audit.range(),
          Words{"events"} + audit.range(),
          {"memory", "--at", then},
          {"trend", "--by", "used"},
          {"incident", "--last-oom"}};
}

const Words kJson{"--format", "json"};

json without_path(json answer) {
  if (answer.is_object()) answer.erase("db");
  return answer;
}

std::string difference(const json& one, const json& other) {
  const json patch = json::diff(without_path(one), without_path(other));
  return patch.empty() ? std::string() : patch.dump().substr(0, 300);
}

bool is_same_cell(const std::string& cell, const json& value) {
  if (value.is_null()) return cell.empty();
  if (value.is_number_float()) return std::abs(std::atof(cell.c_str()) - value.get<double>()) < 0.06;
  return value.is_string() ? true
         : value.is_boolean()
             ? cell == (value.get<bool>() ? "true" : "false") || cell == (value.get<bool>() ? "1" : "0")
             : cell == value.dump();
}

}  // namespace

void copies_agree(Audit& audit) {
  const test::TemporaryDirectory folder;
  const std::string backup = folder.path() + "/backup.db", extract = folder.path() + "/extract.db";
  const Truth& truth = audit.truth();
  audit.run({"backup", "-o", backup}, audit.path());
  audit.run({"extract", "-o", extract, "--from", at(truth.ticks.front().wall_ms - 1000), "--to",
             at(truth.ticks.back().wall_ms + 1000)},
            audit.path());
  for (const Words& words : queries(audit)) {
    const json& one = audit.ask(words);
    for (const auto& [clause, path] : {std::pair{"backup", backup}, std::pair{"extract", extract}}) {
      const std::string differs = difference(one, audit.parse(words, audit.run(words + kJson, path)));
      audit.check(clause, differs.empty(), "{}: {}", fmt::join(words, " "), differs);
    }
  }
}

void formats_agree(Audit& audit) {
  for (const Words& words : queries(audit)) {
    if (words[0] == "incident") continue;
    const json& one = audit.ask(words);
    const auto records = test::csv_records(audit.run(words + Words{"--format", "csv"}, audit.path()).out);
    const json& rows = list(one, "rows");
    const bool is_complete = records && !records->empty() && records->size() == rows.size() + 1;
    audit.check("rows", is_complete, "{}: {} records, {} rows", fmt::join(words, " "), records ? records->size() : 0,
                rows.size());
    if (!is_complete) continue;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t column = 0; column < records->front().size(); ++column) {
        const std::string& name = records->front()[column];
        const std::string& cell = (*records)[i + 1][column];
        // In CSV the time is a cell of each row; in JSON it is a field of the object.
        const json& holder = name == "at_ms" && !rows[i].contains(name) ? one : rows[i];
        const auto value = holder.find(name);
        audit.check("cells", value == holder.end() ? cell.empty() : is_same_cell(cell, *value), "{}: {} is {} in {}",
                    fmt::join(words, " "), name, cell, rows[i].dump());
      }
    }
  }
}

void queries_repeat(Audit& audit) {
  for (const Words& words : queries(audit)) {
    const std::string differs =
        difference(audit.ask(words), audit.parse(words, audit.run(words + kJson, audit.path())));
    audit.check("", differs.empty(), "{}: {}", fmt::join(words, " "), differs);
  }
}

}  // namespace memoir::world
