#include "base/version.h"

#include "version_text.h"

namespace memoir {

const char* version() {
  return MEMOIR_VERSION_TEXT;
}

const char* version_commit() {
  return MEMOIR_COMMIT_TEXT;
}

}  // namespace memoir
