#pragma once

#include <string>

#include "base/log.h"

namespace memoir {

// Says a thing when it begins, not at every tick while it lasts.
class Complaint {
 public:
  void report(const std::string& text) {
    if (!text.empty() && !lasting_) log_warning(text);
    lasting_ = !text.empty();
  }

 private:
  bool lasting_ = false;
};

}  // namespace memoir
