#pragma once

// What the value of a key must be, and how it fills the configuration. For the parser alone.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#define TOML_EXCEPTIONS 0
#include <toml++/impl/preprocessor.h>
// Of a time that is none, as 1979-05-27T@:, toml++ 3.3 is sure that a digit comes before it looks whether one does. In
// a build of clang that is optimised the look may then be left out.
#undef TOML_ASSERT_ASSUME
#define TOML_ASSERT_ASSUME(expression) static_assert(true)
#include <toml++/toml.h>

#include "base/nearest.h"
#include "config/config.h"

namespace memoir::values {

// What is wrong with a value, as the end of a sentence that begins with its key; nothing if it was taken.
using Complaint = std::optional<std::string>;

// A key of a table that fills a T.
template <typename T>
struct Key {
  const char* name;
  std::function<Complaint(const toml::node&, T&)> take;
};

template <typename T, typename Owner>
auto text(T Owner::*member) {
  return [member](const toml::node& node, Owner& owner) -> Complaint {
    const auto* value = node.as_string();
    if (value == nullptr) return "must be a text in quotes";
    if (value->get().empty()) return "must not be empty";
    owner.*member = value->get();
    return std::nullopt;
  };
}

template <typename Owner>
auto flag(bool Owner::*member) {
  return [member](const toml::node& node, Owner& owner) -> Complaint {
    const auto* value = node.as_boolean();
    if (value == nullptr) return "must be true or false";
    owner.*member = value->get();
    return std::nullopt;
  };
}

inline auto number(std::int64_t Config::*member, std::int64_t least, std::int64_t most) {
  return [=](const toml::node& node, Config& config) -> Complaint {
    const auto* value = node.as_integer();
    if (value == nullptr) return "must be a whole number";
    if (value->get() < least || value->get() > most) {
      return fmt::format("is {}, but must be from {} to {}", value->get(), least, most);
    }
    config.*member = value->get();
    return std::nullopt;
  };
}

// Of a text that `parse` reads. `form`: what it must be; `judge`: from where to where it must be, or nothing.
template <typename T, typename Parse, typename Judge>
auto parsed(T Config::*member, const char* form, Parse parse, Judge judge) {
  return [=](const toml::node& node, Config& config) -> Complaint {
    const auto* value = node.as_string();
    if (value == nullptr) return form;
    const Result<T> read = parse(value->get());
    if (!read) return fmt::format("cannot be read: {}", read.error().message);
    const std::string bounds = judge(*read);
    if (!bounds.empty()) return fmt::format("is {}, but must be {}", value->get(), bounds);
    config.*member = *read;
    return std::nullopt;
  };
}

inline auto duration(std::chrono::milliseconds Config::*member, std::chrono::milliseconds least,
                     std::chrono::milliseconds most) {
  return parsed(
      member, "must be a duration in quotes, as \"10s\"", parse_duration, [=](std::chrono::milliseconds read) {
        const bool fits = read >= least && read <= most;
        return fits ? std::string() : fmt::format("from {} to {}", print_duration(least), print_duration(most));
      });
}

// How often something is done that costs, or "off", which is 0.
inline auto pace(std::chrono::milliseconds Config::*member, std::chrono::milliseconds least,
                 std::chrono::milliseconds most) {
  return [member, take = duration(member, least, most)](const toml::node& node, Config& config) -> Complaint {
    const auto* word = node.as_string();
    if (word == nullptr || word->get() != "off") return take(node, config);
    config.*member = std::chrono::milliseconds(0);
    return std::nullopt;
  };
}

// How long a tier is kept.
inline auto age(std::chrono::milliseconds Config::*member) {
  return parsed(
      member, "must be a duration in quotes, as \"7d\", or \"forever\"", parse_age, [](std::chrono::milliseconds read) {
        const bool fits = read.count() == 0 || (read >= kLeastAge && read <= kMostAge);
        return fits ? std::string()
                    : fmt::format("from {} to {}, or forever", print_duration(kLeastAge), print_duration(kMostAge));
      });
}

// `or_none`: "unlimited", too, which is 0.
inline auto bytes(std::int64_t Config::*member, std::int64_t least, bool or_none) {
  return parsed(member, "must be a size in quotes, as \"2GiB\"", parse_bytes, [=](std::int64_t read) {
    const bool fits = read >= least || (or_none && read == 0);
    return fits ? std::string() : "at least " + print_bytes(least);
  });
}

inline auto share(std::int64_t Config::*member, std::int64_t least) {
  return parsed(member, "must be a share of a core in quotes, as \"0.5%\"", parse_share, [=](std::int64_t read) {
    return read == 0 || read >= least ? std::string() : "at least " + print_share(least);
  });
}

// A part of the time, or "off", which is 0. In millionths.
inline auto part_of_time(std::int64_t Config::*member, std::int64_t least) {
  return [=](const toml::node& node, Config& config) -> Complaint {
    const auto* value = node.as_string();
    if (value == nullptr) return "must be a part of the time in quotes, as \"20%\", or \"off\"";
    const bool off = value->get() == "off";
    const Result<std::int64_t> parsed = off ? Result<std::int64_t>(0) : parse_share(value->get());
    if (!parsed || (*parsed == 0 && !off)) {
      return fmt::format("is '{}', but must be a number of percent, as \"20%\", or \"off\"", value->get());
    }
    if (*parsed < least && !off) return fmt::format("is {}, but must be at least {}", value->get(), print_share(least));
    config.*member = *parsed;
    return std::nullopt;
  };
}

// A program and its arguments, or nothing.
inline auto program(std::vector<std::string> Config::*member) {
  return [=](const toml::node& node, Config& config) -> Complaint {
    constexpr const char* form =
        "must be a program and its arguments, as [\"/usr/local/bin/alert\", \"--page\"], or []";
    const toml::array* array = node.as_array();
    if (array == nullptr) return form;
    std::vector<std::string> words;
    for (const toml::node& entry : *array) {
      const auto* word = entry.as_string();
      if (word == nullptr || word->get().find('\0') != std::string::npos) return form;
      words.push_back(word->get());
    }
    if (!words.empty() && !words.front().starts_with('/')) {
      return fmt::format("begins with '{}', but must begin with the whole path of a program: no shell looks for it",
                         words.front());
    }
    config.*member = std::move(words);
    return std::nullopt;
  };
}

inline auto choice(std::string Config::*member, std::vector<std::string> words) {
  return [member, words = std::move(words)](const toml::node& node, Config& config) -> Complaint {
    const auto* value = node.as_string();
    if (value == nullptr || std::find(words.begin(), words.end(), value->get()) == words.end()) {
      const std::string given = value == nullptr ? "" : value->get();
      return fmt::format("must be one of {}{}", fmt::join(words, ", "), did_you_mean(given, words));
    }
    config.*member = value->get();
    return std::nullopt;
  };
}

// A key of [redaction], which fills a part of Config.
inline auto redaction(bool RedactionOptions::*member) {
  return [take = flag(member)](const toml::node& node, Config& config) { return take(node, config.redaction); };
}

}  // namespace memoir::values
