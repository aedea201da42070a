/* Records of the BPF programs: one for each process, and one for each event. This header is C, so that the BPF programs
 * and the recorder share it. Sizes are in pages unless noted otherwise; values that the kernel lacks are 0. */
#ifndef MEMOIR_CENSUS_BPF_RECORD_H
#define MEMOIR_CENSUS_BPF_RECORD_H

#include <linux/types.h>

/* The kernel's numbers of the counters of resident pages (include/linux/mm_types_task.h). */
enum { kCensusFile, kCensusAnon, kCensusSwap, kCensusShmem, kCensusCounters };

enum { kCensusMostCpus = 512 };

/* NOLINTBEGIN(readability-identifier-naming): C's own */
struct census_record {
  __u64 start_ns; /* on the boot clock */
  __s64 rss[kCensusCounters];
  __u64 peak_rss;
  __s32 pid;
  __u32 has_memory;
  /* A brief sample has none of the following values. */
  __s32 parent_pid;
  __u32 uid;
  __s32 threads;
  __u32 state; /* task_struct's __state | exit_state */
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
  __u64 minor_faults; /* faults of the main thread and of exited threads */
  char comm[16];
};

/* Maximum number of processes in one list. Without kernel preemption, listing them blocks the CPU for some 3 ms. With
 * more processes the iterator is used, which does not block. The list takes 0.7 MiB of kernel memory. */
enum { kCensusMostListed = 4096 };

enum { kEventFork, kEventExec, kEventExit, kEventVictim, kEventSignal, kEventAttach };

/* With the ring's header of 8 bytes, a record takes 64 bytes; for an exit or a signal it takes 128. The reader is woken
 * when kEventWakeBytes are in the ring. */
enum { kEventRingBytes = 256 * 1024, kEventWakeBytes = 64 * 1024 };

struct event_record {
  __u64 at_ns; /* on the boot clock */
  __u64 start_ns;
  __s64 peak_rss;
  __u16 kind;
  __u16 shares_memory; /* fork: 1 if the child uses its parent's memory, as after vfork(2) */
  __s32 pid;
  __s32 parent_pid;
  __s32 exit_code; /* in wait(2)'s format */
  char comm[16];
};

struct exit_record {
  struct event_record event;
  __u64 cgroup_id;        /* inode of its cgroup's folder in the v2 hierarchy */
  __u64 memory_cgroup_id; /* inode in the hierarchy of the memory controller */
  __s64 rss[kCensusCounters];
  __u32 uid;
  __u32 has_memory; /* rss is known */
};

/* A signal that a user-space OOM killer sent; `event` describes the victim. */
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
