#pragma once

// What only a start needs, or what is done once an hour, is not kept meanwhile.

namespace memoir {

// Hands back free heap, and forgets the pages of code and constants that are mapped; what is still used comes back from
// the page cache, which the kernel maps 16 pages at a time. Any thread may go on meanwhile: nothing that was written is
// touched (madvise(2), MADV_DONTNEED on private mappings of files that are not writable). Of a debugger that is
// attached the breakpoints go.
void give_back_spare_memory();

}  // namespace memoir
