#include "census/bpf_census.h"

namespace memoir {
namespace {

Error built_without() {
  return {ErrorKind::gone, "this memoird was built without BPF (MEMOIR_BPF)"};
}

}  // namespace

Result<std::unique_ptr<Census>> open_bpf_census() {
  return built_without();
}

Result<std::unique_ptr<ProcessEvents>> open_bpf_events() {
  return built_without();
}

}  // namespace memoir
