#pragma once

#include <string>

#include "base/log.h"

namespace memoir {

// Logs a warning when a condition starts, not at every tick while it lasts.
class WarnOnce {
 public:
  void report(const std::string& text) {
    if (!text.empty() && !lasting_) log_warning(text);
    lasting_ = !text.empty();
  }

 private:
  bool lasting_ = false;
};

}  // namespace memoir
