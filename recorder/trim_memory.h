#pragma once

// Returns free heap and clean code pages to the kernel, after a start or hourly work.

namespace memoir {

// Returns free heap, and drops the mapped pages of code and constants. Pages in use come back from the page cache; the
// kernel maps 16 at a time. Other threads may run during this: no written page is affected (madvise(2), MADV_DONTNEED
// on private mappings of files that are not writable). Breakpoints of an attached debugger are lost.
void trim_memory();

}  // namespace memoir
