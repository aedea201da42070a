#pragma once

// Conditions that must be true after any parse; shared by the fuzz targets.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text.h"
#include "model/field_set.h"

namespace memoir::fuzz {

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

inline void require_inside(std::string_view part, std::string_view text) {
  if (part.empty()) return;
  require(part.data() >= text.data() && part.data() + part.size() <= text.data() + text.size(),
          "a view is inside the text");
}

// An error must concern the text (not_found only for an empty text), and its message must be short and printable.
inline void require_good(const Error& error, std::string_view text) {
  const bool gone = text.empty() && error.kind == ErrorKind::not_found;
  require(gone || error.kind == ErrorKind::malformed, "the error's kind");
  require(!error.message.empty() && error.message.size() < 512, "the error's length");
  require(to_printable(error.message) == error.message, "the error is printable");
}

// The same for user input, which may be long and is shown in full. Each error has its own line.
inline void require_shown(const Error& error) {
  require(error.kind == ErrorKind::malformed && !error.message.empty(), "the error's kind");
  std::string lines = error.message;
  std::ranges::replace(lines, '\n', ' ');
  require(to_printable(lines) == lines, "the error is printable");
}

// Fields that are set are not negative; after an error no field is set.
template <typename E>
void require_good(const FieldSet<E>& fields, bool parsed) {
  for (std::size_t i = 0; i < FieldSet<E>::kCount; ++i) {
    const auto value = fields.get(static_cast<E>(i));
    require(!value || *value >= 0, "no field is negative");
    require(parsed || !value, "no field is set after an error");
  }
}

}  // namespace memoir::fuzz
