#pragma once

// /proc/pressure/memory: pressure stall information (Documentation/accounting/psi.rst).
//
//   some avg10=0.00 avg60=0.00 avg300=0.00 total=0
//   full avg10=0.00 avg60=0.00 avg300=0.00 total=0

#include <string_view>

#include "base/result.h"
#include "model/machine.h"

namespace memoir {

// Sets the psi fields of `memory`: averages in basis points, totals in µs. One without a line becomes absent, and so
// does each on an error: neither a line `some` nor `full`, or one that is torn or lacks a number.
Status parse_pressure(std::string_view text, MachineMemory& memory);

}  // namespace memoir
