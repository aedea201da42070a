#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "query/commands/leaks/leaks.h"
#include "query/report/format.h"

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

// Removes a record (RFC 4180) from the front of `text` and splits it into `fields`, which are trimmed. A field in
// quotes may contain commas, newlines and doubled quotes. Returns false if a quote is not closed.
bool cut_record(std::string_view& text, std::vector<std::string>& fields) {
  fields.clear();
  for (bool more = true; more;) {
    std::string& field = fields.emplace_back();
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    while (text.starts_with('"')) {
      const std::size_t end = text.find('"', 1);
      if (end == std::string_view::npos) return false;
      field += text.substr(1, end - 1);
      text.remove_prefix(end + 1);
      if (text.starts_with('"')) field += '"';
    }
    const std::size_t end = std::min(text.find_first_of(",\n"), text.size());
    field += trim(text.substr(0, end));
    more = text.substr(end).starts_with(',');
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

class Parser {
 public:
  Parser(std::string_view text, std::string_view path) : text_(text), path_(path) {}

  Result<CsvSeries> parse() {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (text_.starts_with(byte_order_mark)) text_.remove_prefix(byte_order_mark.size());
    bool first = true;
    std::vector<std::string> fields;
    for (const char* counted = text_.data(); !text_.empty();) {
      line_ += std::count(std::exchange(counted, text_.data()), text_.data(), '\n');
      if (text_.starts_with('#')) {
        cut_line(text_);
        continue;
      }
      if (!cut_record(text_, fields)) return error("a quote is not closed");
      if (fields.size() == 1 && fields.front().empty()) continue;
      const bool header = std::exchange(first, false) && !parse_number<double>(fields.front());
      TRY(header ? read_header(fields) : read_line(fields));
    }
    sort();
    drop_repeated();
    return std::move(series_);
  }

 private:
  // The kind is io, not malformed, because the file is wrong, not the command line.
  Error error(const std::string& what) const {
    return {ErrorKind::io, fmt::format("{}: line {}: {}", path_, line_, what)};
  }

  Status read_header(const std::vector<std::string>& fields) {
    columns_ = {};
    for (std::size_t at = 0; at < fields.size(); ++at) {
      const std::string& name = fields[at];
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
        series_.warnings.push_back(fmt::format("{}: the column '{}' is ignored", path_, to_printable(name)));
      }
    }
    if (columns_.time && columns_.value) return Done{};
    return error(fmt::format("no column {}; expected {}", columns_.time ? "kib" : "time_ms", kCsvForms));
  }

  Status read_line(const std::vector<std::string>& fields) {
    if (!columns_.time) {
      columns_ = {0, 1000, 1, fields.size() > 2 ? std::optional<std::size_t>(2) : std::nullopt, std::nullopt};
      series_.unit = LeakUnit::unknown;
    }
    const auto field = [&fields](std::optional<std::size_t> column) {
      return column && *column < fields.size() ? std::string_view(fields[*column]) : std::string_view();
    };
    const std::optional<double> time = parse_number<double>(field(columns_.time));
    if (!time || !(std::abs(*time * columns_.ms_per_time) <= 1000 * kLongestSeconds)) {
      return error(fmt::format("'{}' is not a time", to_printable(field(columns_.time))));
    }
    const std::string_view text = field(columns_.value);
    if (columns_.value >= fields.size()) return error("there is no value");
    if (text.empty()) return Done{};  // unknown at that time
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

  // Returns the number of a life, which is the lifetime of one process. Its name may be any text: a pid, a start time,
  // a word.
  std::int32_t life_of(std::string_view name) {
    return lives_.try_emplace(std::string(name), static_cast<std::int32_t>(lives_.size())).first->second;
  }

  void sort() {
    if (std::ranges::is_sorted(series_.samples, {}, &LeakSample::at_ms)) return;
    std::ranges::stable_sort(series_.samples, {}, &LeakSample::at_ms);
    series_.warnings.push_back(fmt::format("{}: the lines were not in time order and have been sorted", path_));
  }

  // Keeps only the last of consecutive lines with the same time and life.
  void drop_repeated() {
    std::vector<LeakSample>& samples = series_.samples;
    const auto repeated = std::unique(samples.rbegin(), samples.rend(), [](const LeakSample& a, const LeakSample& b) {
      return a.at_ms == b.at_ms && a.life == b.life;
    });
    const auto dropped = samples.rend() - repeated;
    if (dropped == 0) return;
    samples.erase(samples.begin(), samples.begin() + dropped);
    series_.warnings.push_back(fmt::format("{}: {} the same time as the next and {} left out", path_,
                                           format_count(dropped, "line has", "lines have"),
                                           dropped == 1 ? "is" : "are"));
  }

  std::string_view text_;
  std::string_view path_;
  std::int64_t line_ = 1;
  CsvColumns columns_;
  std::map<std::string, std::int32_t> lives_;
  CsvSeries series_;
};

}  // namespace

Result<CsvSeries> parse_leak_csv(std::string_view text, std::string_view path) {
  return Parser(text, path).parse();
}

Result<LeakRow> judge_csv(const std::string& path, const LeakSettings& settings, std::optional<double> limit,
                          std::vector<std::string>& warnings) {
  Buffer buffer;
  const std::string_view text = TRY(read_stream(path == "-" ? "/dev/stdin" : path, buffer, kLargest));
  CsvSeries series = TRY(parse_leak_csv(text, path));
  warnings.insert(warnings.end(), series.warnings.begin(), series.warnings.end());
  LeakRow row;
  row.subject = row.title = path;
  row.metric = series.unit == LeakUnit::kib ? LeakMetric{"kib"} : LeakMetric{"value", 0, 0.05, LeakUnit::unknown};
  row.series = roll_up(series.samples, settings);
  std::vector<LeakLimit> limits;
  if (limit && !series.samples.empty()) {
    const LeakSample& last = series.samples.back();
    const double reading = last.mean.value_or(last.value);
    limits.push_back({"the given limit", std::max(*limit - reading, 0.0), 0, reading});
  }
  row.finding = judge_leak(row.series, row.metric, settings, limits);
  return row;
}

}  // namespace memoir::query
