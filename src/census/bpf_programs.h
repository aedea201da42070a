#pragma once

// The loaded BPF programs of census.bpf.c, and ownership of libbpf's objects.

#include <bpf/libbpf.h>
#include <memory>

#include "base/file.h"
#include "base/result.h"
#include "census.skel.h"
#include "census/census.h"
#include "census/events.h"

namespace memoir {

struct CloseBpf {
  void operator()(census_bpf* programs) const { census_bpf__destroy(programs); }
  void operator()(bpf_link* link) const { bpf_link__destroy(link); }
  void operator()(ring_buffer* ring) const { ring_buffer__free(ring); }
};
template <typename T>
using OwnedBpf = std::unique_ptr<T, CloseBpf>;

// Returns an error with `what` and the text of the errno. If permission is missing, it names the capabilities to give.
Error bpf_error(const char* what, int error);

Result<Fd> open_iterator(bpf_link* link);

// The census and the events each keep the programs loaded.
Result<std::unique_ptr<Census>> make_bpf_census(std::shared_ptr<census_bpf> programs);
Result<std::unique_ptr<ProcessEvents>> make_bpf_events(std::shared_ptr<census_bpf> programs);

}  // namespace memoir
