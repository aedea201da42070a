#include "census/bpf_census.h"

namespace memoir {

FoundByBpf open_by_bpf() {
  const Error error{ErrorKind::not_found, "this memoird was built without BPF (MEMOIR_BPF)"};
  return {error, error};
}

}  // namespace memoir
