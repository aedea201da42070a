#pragma once

// A chart as inline SVG, drawn for one width in pixels and shown at that width, so that its letters are as large as the
// surrounding text. It has only shapes and letters: no script, no external resource, no reference.

#include <string>
#include <string_view>

#include "query/args/options.h"
#include "query/report/report.h"

namespace memoir::query {

struct SvgFrame {
  int width = 720;
  int height = 220;
  std::string_view css_class;
  Units units = Units::automatic;
};

// Returns an empty text if no point has a value.
std::string draw_svg(const Chart& chart, const SvgFrame& frame);

}  // namespace memoir::query
