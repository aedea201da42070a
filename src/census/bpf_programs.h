#pragma once

// The BPF programs of census.bpf.c in the kernel, and how libbpf's objects are owned.

#include <bpf/libbpf.h>
#include <memory>

#include "base/file.h"
#include "base/result.h"
#include "census.skel.h"

namespace memoir {

struct CloseBpf {
  void operator()(census_bpf* programs) const { census_bpf__destroy(programs); }
  void operator()(bpf_link* link) const { bpf_link__destroy(link); }
  void operator()(ring_buffer* ring) const { ring_buffer__free(ring); }
};
template <typename T>
using OwnedBpf = std::unique_ptr<T, CloseBpf>;

enum class BpfPart { census, events };

// An errno as an error that says what is missing.
Error bpf_error(const char* what, int error);

Result<Fd> open_iterator(bpf_link* link);

// Loads what the part needs; what counts for each processor is found already.
Result<OwnedBpf<census_bpf>> load_bpf(BpfPart part);

}  // namespace memoir
