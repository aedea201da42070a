#include "query/args/zone.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <optional>

#include "base/text.h"

namespace memoir::query {
namespace {

std::chrono::year_month_day date_of(const Civil& civil) {
  return std::chrono::year{civil.year} / std::chrono::month{static_cast<unsigned>(civil.month)} /
         std::chrono::day{static_cast<unsigned>(civil.day)};
}

std::tm to_tm(const Civil& civil, int is_dst) {
  std::tm tm{};
  tm.tm_year = civil.year - 1900;
  tm.tm_mon = civil.month - 1;
  tm.tm_mday = civil.day;
  tm.tm_hour = civil.hour;
  tm.tm_min = civil.minute;
  tm.tm_sec = civil.second;
  tm.tm_isdst = is_dst;
  return tm;
}

// Parses a time at the front of `text` that format_time() wrote in UTC; nullopt if there is none.
std::optional<Civil> take_utc(std::string_view text) {
  constexpr std::string_view form = "0000-00-00 00:00:00 UTC";
  if (text.size() < form.size()) return std::nullopt;
  for (std::size_t i = 0; i < form.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (form[i] == '0' ? !digit : text[i] != form[i]) return std::nullopt;
  }
  const auto number = [text](std::size_t at, std::size_t digits) {
    return parse_number<int>(text.substr(at, digits)).value_or(0);
  };
  const Civil civil{number(0, 4), number(5, 2), number(8, 2), number(11, 2), number(14, 2), number(17, 2)};
  return is_valid(civil) ? std::optional(civil) : std::nullopt;
}

std::int64_t offset_ms_at(std::int64_t ms) {
  const std::time_t seconds = ms / 1000;
  std::tm tm{};
  localtime_r(&seconds, &tm);
  return std::int64_t{tm.tm_gmtoff} * 1000;
}

// Returns the offset of local time if it does not change near `utc_ms`; otherwise nullopt. Offsets are within 26 hours
// of each other, and no zone changes twice in two days. (mktime(3) searches years for summer time if the zone has none,
// which takes 30 µs.)
std::optional<std::int64_t> constant_offset_ms(std::int64_t utc_ms) {
  constexpr std::int64_t near_ms = 26 * 3'600'000;
  const std::int64_t before = offset_ms_at(utc_ms - near_ms);
  return before == offset_ms_at(utc_ms + near_ms) ? std::optional(before) : std::nullopt;
}

}  // namespace

// Finds the file as tzset(3) does: TZ may be the name of a file, with or without a colon in front.
std::optional<std::string> odd_zone_file() {
  const char* const zone = std::getenv("TZ");
  if (zone == nullptr) return std::nullopt;
  const char* const folder = std::getenv("TZDIR");
  const std::filesystem::path path =
      std::filesystem::path(folder == nullptr ? "/usr/share/zoneinfo" : folder) / (zone[0] == ':' ? zone + 1 : zone);
  std::error_code error;
  const auto type = std::filesystem::status(path, error).type();
  using enum std::filesystem::file_type;
  const bool is_read = type == fifo || type == character || type == block || type == socket;
  return is_read ? std::optional(path.string()) : std::nullopt;
}

bool is_valid(const Civil& civil) {
  return date_of(civil).ok() && civil.hour >= 0 && civil.hour < 24 && civil.minute >= 0 && civil.minute < 60 &&
         civil.second >= 0 && civil.second < 60;
}

Civil to_civil(std::int64_t ms, Zone zone) {
  const std::time_t seconds = ms >= 0 ? ms / 1000 : (ms - 999) / 1000;
  std::tm tm{};
  (zone == Zone::utc ? gmtime_r : localtime_r)(&seconds, &tm);
  return {tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec};
}

std::vector<std::int64_t> moments_of(const Civil& civil, Zone zone) {
  std::tm as_utc = to_tm(civil, 0);
  const std::int64_t utc_ms = std::int64_t{timegm(&as_utc)} * 1000;
  if (zone == Zone::utc) return {utc_ms};
  if (const auto offset_ms = constant_offset_ms(utc_ms)) return {utc_ms - *offset_ms};
  // Tries standard time, summer time, and mktime(3)'s own choice (-1), which covers other changes of the zone.
  std::vector<std::int64_t> found;
  std::vector<std::int64_t> tried;
  for (const int is_dst : {0, 1, -1}) {
    std::tm tm = to_tm(civil, is_dst);
    const std::int64_t ms = std::int64_t{mktime(&tm)} * 1000;
    tried.push_back(ms);
    if (to_civil(ms, zone) == civil) found.push_back(ms);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  if (found.empty()) found.push_back(*std::max_element(tried.begin(), tried.end()));
  return found;
}

Civil start_of_day(const Civil& civil, int days) {
  const std::chrono::year_month_day date = std::chrono::sys_days{date_of(civil)} + std::chrono::days{days};
  return {int{date.year()}, static_cast<int>(unsigned{date.month()}), static_cast<int>(unsigned{date.day()}), 0, 0, 0};
}

std::vector<std::int64_t> round_times(std::int64_t from_ms, std::int64_t until_ms, std::int64_t step_ms, Zone zone) {
  constexpr std::int64_t hour_ms = 3'600'000;
  constexpr std::int64_t day_ms = 24 * hour_ms;
  std::vector<std::int64_t> times;
  const auto add = [&](std::int64_t ms) {
    if (ms >= from_ms && ms < until_ms) times.push_back(ms);
  };
  const Civil first = to_civil(from_ms, zone);
  const int days = static_cast<int>(std::max<std::int64_t>(step_ms / day_ms, 1));
  for (int day = 0;; day += days) {
    Civil at = start_of_day(first, day);
    const std::int64_t begin_ms = moments_of(at, zone).front();
    if (begin_ms >= until_ms) return times;
    if (step_ms < hour_ms) {
      // Summer time moves clocks by whole hours: shorter steps continue through the change.
      const std::int64_t end_ms = std::min(moments_of(start_of_day(first, day + 1), zone).front(), until_ms);
      const std::int64_t before = std::max<std::int64_t>(from_ms - begin_ms + step_ms - 1, 0) / step_ms;
      for (std::int64_t ms = begin_ms + before * step_ms; ms < end_ms; ms += step_ms) add(ms);
      continue;
    }
    for (; at.hour < 24; at.hour += static_cast<int>(std::min(step_ms, day_ms) / hour_ms))
      add(moments_of(at, zone).front());
  }
}

int weekday(const Civil& civil) {
  return static_cast<int>(std::chrono::weekday{std::chrono::sys_days{date_of(civil)}}.c_encoding());
}

std::string format_time(std::int64_t ms, Zone zone) {
  const Civil at = to_civil(ms, zone);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}{}", at.year, at.month, at.day, at.hour, at.minute, at.second,
                     zone == Zone::utc ? " UTC" : "");
}

std::string format_date(std::int64_t ms, Zone zone) {
  const Civil at = to_civil(ms, zone);
  return fmt::format("{:04}-{:02}-{:02}", at.year, at.month, at.day);
}

std::string format_time_of_day(std::int64_t ms, Zone zone) {
  const Civil at = to_civil(ms, zone);
  return fmt::format("{:02}:{:02}:{:02}", at.hour, at.minute, at.second);
}

std::string format_within(std::int64_t from_ms, std::int64_t until_ms, Zone zone) {
  if (from_ms == until_ms) return format_time(from_ms, zone);
  const bool same_day = format_date(from_ms, zone) == format_date(until_ms, zone);
  return fmt::format("{} to {}", format_time(from_ms, zone),
                     same_day ? format_time_of_day(until_ms, zone) : format_time(until_ms, zone));
}

std::string times_in_zone(std::string_view text, Zone zone) {
  constexpr std::size_t form = 23;  // "2026-11-20 03:14:07 UTC"
  std::string out;
  while (!text.empty()) {
    const std::optional<Civil> civil = take_utc(text);
    if (civil) {
      out += format_time(moments_of(*civil, Zone::utc).front(), zone);
    } else {
      out += text.front();
    }
    text.remove_prefix(civil ? form : 1);
  }
  return out;
}

}  // namespace memoir::query
