/* The members of the kernel's types that the programs use. The loader relocates them (CO-RE), so building needs neither
 * a kernel's BTF nor its headers. A type with a suffix ___NAME is the same type as other kernels define it. */
#ifndef MEMOIR_CENSUS_KERNEL_TYPES_BPF_H
#define MEMOIR_CENSUS_KERNEL_TYPES_BPF_H

#include <linux/types.h>

#include "bpf_record.h"

#define KERNEL __attribute__((preserve_access_index))

typedef __u16 u16;
typedef __u32 u32;
typedef __s32 s32;
typedef __u64 u64;
typedef __s64 s64;

struct kuid {
  u32 val;
} KERNEL;
struct capabilities {
  u64 bits;
};
struct user_namespace {
  int level;
} KERNEL;
struct cred {
  struct kuid uid;
  struct capabilities cap_effective;
  struct user_namespace* user_ns;
} KERNEL;
struct kernel_siginfo {
  int si_code;
} KERNEL;
struct kernfs_node {
  u64 id;
} KERNEL;
struct cgroup {
  struct kernfs_node* kn;
} KERNEL;
struct cgroup_subsys_state {
  struct cgroup* cgroup;
} KERNEL;
struct css_set {
  struct cgroup_subsys_state* subsys[1];  // the kernel's array has an element for each controller
  struct cgroup* dfl_cgrp;
} KERNEL;
enum cgroup_subsys_id { memory_cgrp_id };  // the number depends on the kernel's configuration
struct atomic64 {
  s64 counter;
} KERNEL;
struct percpu_counter {
  s64 count;
  s32* counters;
} KERNEL;
struct mm_struct {
  struct percpu_counter rss_stat[kCensusCounters];  // since 6.2
  unsigned long hiwater_rss, hiwater_vm, total_vm, locked_vm, data_vm, exec_vm, stack_vm, start_code, end_code;
  struct atomic64 pinned_vm, pgtables_bytes, hugetlb_usage;
} KERNEL;
struct mm_rss_stat___before_6_2 {
  struct atomic64 count[kCensusCounters];
} KERNEL;
struct mm_struct___before_6_2 {
  struct mm_rss_stat___before_6_2 rss_stat;
} KERNEL;
struct atomic {
  int counter;
} KERNEL;
struct signal_struct {
  struct atomic live;
  int nr_threads, group_exit_code;
  unsigned int flags;
  unsigned long maxrss, min_flt;
} KERNEL;
struct task_struct {
  unsigned int __state;  // since 5.14
  int exit_state, exit_code;
  unsigned int flags;
  int pid, tgid;
  unsigned long min_flt;
  u64 start_boottime;  // since 5.5
  struct mm_struct* mm;
  struct task_struct *real_parent, *group_leader;
  const struct cred* cred;
  struct signal_struct* signal;
  struct css_set* cgroups;
  char comm[16];
} KERNEL;
struct task_struct___before_5_14 {
  long state;
} KERNEL;
struct bpf_iter_task {  // since 6.7
  u64 opaque[3];
};
struct seq_file;
struct bpf_iter_meta {
  struct seq_file* seq;
} KERNEL;
struct bpf_iter__task {
  struct bpf_iter_meta* meta;
  struct task_struct* task;
} KERNEL;
struct bpf_map___any {
  u32 id;
} KERNEL;
struct bpf_array___any {
  void* pptrs[1];
} KERNEL;
struct bpf_iter__bpf_map {
  struct bpf_iter_meta* meta;
  struct bpf_map___any* map;
} KERNEL;

enum { kAllProcesses = 0 };                                                        // BPF_TASK_ITER_ALL_PROCS
enum { kKernelThread = 0x00200000 };                                               // PF_KTHREAD
enum { kGroupExit = 4 };                                                           // SIGNAL_GROUP_EXIT
enum { kSigKill = 9, kSigTerm = 15, kByUser = 0, kByQueue = -1, kByThread = -6 };  // SI_USER, SI_QUEUE, SI_TKILL
enum { kMayKill = 1 << 5 };                                                        // CAP_KILL

#endif
