#include "config/config.h"
#include "fuzz/require.h"
#include "fuzz/targets.h"

namespace memoir::fuzz {
namespace {

template <typename Parse, typename Print>
void require_round_trip(std::string_view text, Parse parse, Print print) {
  const auto amount = parse(text);
  if (!amount) return require(amount.error().kind == ErrorKind::malformed, "the error's kind");
  require(*amount >= decltype(*amount){}, "no amount is negative");
  const auto again = parse(print(*amount));
  require(again.ok() && *again == *amount, "a printed amount is read back as the same amount");
}

}  // namespace

void amounts(std::string_view text) {
  require_round_trip(text, parse_duration, format_duration);
  require_round_trip(text, parse_age, format_age);
  require_round_trip(text, parse_bytes, format_bytes);
  require_round_trip(text, parse_share, format_share);
}

}  // namespace memoir::fuzz
