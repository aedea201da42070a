#include "proc/cgroup.h"

#include "fuzz/require.h"
#include "fuzz/targets.h"

void memoir::fuzz::cgroup(std::string_view text) {
  const auto path = parse_cgroup(text);
  if (!path) return require_good(path.error(), text);
  require_inside(*path, text);
  require(path->starts_with('/') && path->find('\n') == std::string_view::npos, "a path of one line");
}
