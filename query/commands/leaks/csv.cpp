#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

#include "base/file.h"
#include "base/own_file.h"
#include "base/text.h"
#include "query/commands/leaks/leaks.h"

namespace memoir::query {

namespace {

constexpr std::size_t kLargest = std::size_t{1} << 30;
constexpr double kLongestSeconds = 1e11;  // the year 5138

struct CsvColumns {
  std::optional<std::size_t> time;
  double ms_per_time = 1000;
  std::optional<std::size_t> value;
  std::optional<std::size_t> mean;
  std::optional<std::size_t> life;
};

// RFC 4180 without quotes: none of the columns needs them, so those of others may keep theirs.
std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t comma = line.find(',');
    fields.push_back(trim(line.substr(0, comma)));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

class Parser {
 public:
  Parser(std::string_view text, std::string_view path) : text_(text), path_(path) {}

  Result<CsvSeries> parse() {
    bool first = true;
    while (!text_.empty()) {
      const std::string_view line = trim(cut_line(text_));
      ++line_;
      if (line.empty() || line.front() == '#') continue;
      const std::vector<std::string_view> fields = fields_of(line);
      const bool header = std::exchange(first, false) && !parse_number<double>(fields.front());
      TRY(header ? read_header(fields) : read_line(fields));
    }
    sort();
    return std::move(series_);
  }

 private:
  // The file is at fault, not the command line.
  Error error(const std::string& what) const {
    return {ErrorKind::io, fmt::format("{}: line {}: {}", path_, line_, what)};
  }

  Status read_header(const std::vector<std::string_view>& fields) {
    columns_ = {};
    for (std::size_t at = 0; at < fields.size(); ++at) {
      const std::string_view name = fields[at];
      if (name == "time_ms" || name == "seconds") {
        columns_.time = at;
        columns_.ms_per_time = name == "seconds" ? 1000 : 1;
      } else if (name == "kib" || name == "value") {
        columns_.value = at;
        series_.unit = name == "kib" ? LeakUnit::kib : LeakUnit::unknown;
      } else if (name == "mean") {
        columns_.mean = at;
      } else if (name == "life") {
        columns_.life = at;
      } else {
        series_.warnings.push_back(fmt::format("{}: the column '{}' is not read", path_, to_printable(name)));
      }
    }
    if (columns_.time && columns_.value) return Done{};
    return error(fmt::format("no column {}; what is read is {}", columns_.time ? "kib" : "time_ms", kCsvForms));
  }

  Status read_line(const std::vector<std::string_view>& fields) {
    if (!columns_.time) {
      columns_ = {0, 1000, 1, fields.size() > 2 ? std::optional<std::size_t>(2) : std::nullopt, std::nullopt};
      series_.unit = LeakUnit::unknown;
    }
    const auto field = [&fields](std::optional<std::size_t> column) {
      return column && *column < fields.size() ? fields[*column] : std::string_view();
    };
    const std::optional<double> time = parse_number<double>(field(columns_.time));
    if (!time || !(std::abs(*time * columns_.ms_per_time) <= 1000 * kLongestSeconds)) {
      return error(fmt::format("'{}' is not a time", to_printable(field(columns_.time))));
    }
    const std::string_view text = field(columns_.value);
    if (columns_.value >= fields.size()) return error("there is no value");
    if (text.empty()) return Done{};  // not known at that time
    const std::optional<double> value = parse_number<double>(text);
    if (value && std::isnan(*value)) return Done{};
    if (!value || !std::isfinite(*value) || *value < 0) {
      return error(fmt::format("'{}' is not an amount", to_printable(text)));
    }
    std::optional<double> mean = parse_number<double>(field(columns_.mean));
    if (mean && !std::isfinite(*mean)) mean.reset();
    if (!mean && !field(columns_.mean).empty()) {
      return error(fmt::format("'{}' is not a mean", to_printable(field(columns_.mean))));
    }
    series_.samples.push_back(
        {std::llround(*time * columns_.ms_per_time), *value, mean, life_of(field(columns_.life))});
    return Done{};
  }

  // Whatever names a life: a pid, a start time, a word.
  std::int32_t life_of(std::string_view name) {
    return lives_.try_emplace(std::string(name), static_cast<std::int32_t>(lives_.size())).first->second;
  }

  void sort() {
    if (std::ranges::is_sorted(series_.samples, {}, &LeakSample::at_ms)) return;
    std::ranges::stable_sort(series_.samples, {}, &LeakSample::at_ms);
    series_.warnings.push_back(fmt::format("{}: the lines are not in order of time, and were sorted", path_));
  }

  std::string_view text_;
  std::string_view path_;
  std::int64_t line_ = 0;
  CsvColumns columns_;
  std::map<std::string, std::int32_t> lives_;
  CsvSeries series_;
};

}  // namespace

Result<CsvSeries> parse_leak_csv(std::string_view text, std::string_view path) {
  return Parser(text, path).parse();
}

Result<LeakRow> judge_csv(const std::string& path, const LeakSettings& settings, std::vector<std::string>& warnings) {
  Buffer buffer;
  const std::string_view text = TRY(read_named_file(path, buffer, kLargest));
  CsvSeries series = TRY(parse_leak_csv(text, path));
  warnings.insert(warnings.end(), series.warnings.begin(), series.warnings.end());
  LeakRow row;
  row.subject = row.title = path;
  row.metric = series.unit == LeakUnit::kib ? LeakMetric{"kib"} : LeakMetric{"value", 0, 0.05, LeakUnit::unknown};
  row.series = roll_up(series.samples, settings);
  row.finding = judge_leak(row.series, row.metric, settings);
  return row;
}

}  // namespace memoir::query
