/* What the BPF programs hand on: a record for each process, and one for each of their events. C, for both sides. Sizes
 * are pages but for those that say otherwise; what the kernel lacks is 0. */
#ifndef MEMOIR_CENSUS_BPF_RECORD_H
#define MEMOIR_CENSUS_BPF_RECORD_H

#include <linux/types.h>

/* The kernel's own numbers (include/linux/mm_types_task.h). */
enum { kCensusFile, kCensusAnon, kCensusSwap, kCensusShmem, kCensusCounters };

enum { kCensusMostCpus = 512 };

/* NOLINTBEGIN(readability-identifier-naming): C's own */
struct census_record {
  __u64 start_ns; /* on the boot clock */
  __s64 rss[kCensusCounters];
  __u64 peak_rss;
  __s32 pid;
  __u32 has_memory;
  /* A glance leaves out the rest. */
  __s32 parent_pid;
  __u32 uid;
  __s32 threads;
  __u32 state; /* task_struct's __state and exit_state in one */
  __u64 size;
  __u64 peak_size;
  __u64 locked;
  __u64 pinned;
  __u64 data;
  __u64 stack;
  __u64 executable;
  __u64 hugetlb;
  __u64 code_begin; /* addresses */
  __u64 code_end;
  __u64 page_tables_bytes;
  __u64 minor_faults; /* of the first thread, and of those that ended */
  char comm[16];
};

/* Processes that are listed at once. Where the kernel is built so, it lets nobody else have the CPU meanwhile, some 3
 * ms for so many: of more the iterator tells, which does. The list takes 0.7 MiB of the kernel's memory. */
enum { kCensusMostListed = 4096 };

enum { kEventFork, kEventExec, kEventExit, kEventVictim, kEventSignal, kEventAttach };

/* With the ring's own 8 bytes a record takes 64, that of an end or of a signal 128. Whoever reads it is woken where so
 * much waits. */
enum { kEventRingBytes = 256 * 1024, kEventWakeBytes = 64 * 1024 };

struct event_record {
  __u64 at_ns; /* on the boot clock */
  __u64 start_ns;
  __s64 peak_rss;
  __u16 kind;
  __u16 shares_memory; /* of a birth: with its parent, as vfork(2) has it */
  __s32 pid;
  __s32 parent_pid;
  __s32 exit_code; /* as wait(2) has it */
  char comm[16];
};

struct end_record {
  struct event_record event;
  __u64 cgroup_id;        /* inode of its folder in the hierarchy of v2 */
  __u64 memory_cgroup_id; /* in that of the memory controller */
  __s64 rss[kCensusCounters];
  __u32 uid;
  __u32 has_memory; /* rss is known */
};

/* What a user-space OOM killer sent; the event is of whom it was for. */
struct signal_record {
  struct event_record event;
  __s64 rss[kCensusCounters];
  __u32 has_memory; /* rss is known */
  __s32 signal;
  __s32 sender_pid;
  char sender[16];
};
/* NOLINTEND(readability-identifier-naming) */

#endif
