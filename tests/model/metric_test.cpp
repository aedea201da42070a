// A metric uses exactly the fields that it declares.

#include "model/metric.h"

#include <algorithm>

#include "support/catch.h"

namespace memoir {
namespace {

// Returns the fields that any metric uses, each once.
std::vector<ProcessField> fields_of_all() {
  std::vector<ProcessField> fields;
  for (const Metric metric : kMetrics) {
    for (const ProcessField field : info_of(metric).rule.of)
      if (std::find(fields.begin(), fields.end(), field) == fields.end()) fields.push_back(field);
  }
  return fields;
}

TEST_CASE("a metric needs exactly the fields that it names") {
  const std::vector<ProcessField> fields = fields_of_all();
  REQUIRE(fields.size() < 16);
  for (const Metric metric : kMetrics) {
    const auto named = info_of(metric).rule.of;
    bool needed_all = true;
    for (const ProcessField left_out : named) {
      bool needed = false;
      for (std::uint32_t present = 0; present < (1U << fields.size()); ++present) {
        ProcessMemory all;
        ProcessMemory only;
        for (std::size_t i = 0; i < fields.size(); ++i) {
          if ((present >> i & 1U) == 0) continue;
          const auto value = static_cast<std::int64_t>(10 + 7 * i);
          all.set(fields[i], value);
          if (std::find(named.begin(), named.end(), fields[i]) != named.end()) only.set(fields[i], value);
        }
        const auto known = metric_kib(all, metric);
        REQUIRE_OF_MANY(metric_kib(only, metric) == known);
        only.set(left_out, std::nullopt);
        needed |= metric_kib(only, metric) != known;
      }
      needed_all &= needed;
    }
    CAPTURE(to_string(metric));
    REQUIRE(needed_all);
  }
}

}  // namespace
}  // namespace memoir
