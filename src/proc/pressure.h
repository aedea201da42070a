#pragma once

// /proc/pressure/memory: pressure stall information (Documentation/accounting/psi.rst).
//
//   some avg10=0.00 avg60=0.00 avg300=0.00 total=0
//   full avg10=0.00 avg60=0.00 avg300=0.00 total=0

#include <string_view>

#include "base/result.h"
#include "model/machine.h"
#include "model/odd_lines.h"

namespace memoir {

// Sets the psi fields of `memory`: averages in basis points, totals in µs. Missing and odd fields become absent. A text
// without any value is malformed. `odd`: see key_lines.h.
Status parse_pressure(std::string_view text, MachineMemory& memory, OddLines* odd = nullptr);

}  // namespace memoir
