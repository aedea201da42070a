// The BPF programs of the census and of process events. For the census, a walk over the list of processes, or on some
// kernels an iterator over all tasks (Documentation/bpf/bpf_iterators.rst), writes a record for each process. For
// events, programs at tracepoints of the scheduler, of cgroups, of the OOM killer and of signals write records into a
// ring buffer.

// linux/bpf.h comes first, because the other headers need it.
// clang-format off
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf_record.h"
#include "kernel_types.bpf.h"
// clang-format on

char LICENSE[] SEC("license") = "Dual MIT/GPL";

// A per-CPU map that shows where each CPU's part of a counter is. The address of the map's value on a CPU, minus the
// map's base, is the offset of all per-CPU objects of that CPU. (The kernel's this_cpu_off is not in every kallsyms.)
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, u32);
  __type(value, u64);
} probe SEC(".maps");

__u64 cpu_offset[kCensusMostCpus];  // find_cpus() stores addresses, from which memoird subtracts probe_base
__u64 probe_base;
__u32 probe_id;
__u32 cpus;    // number of CPUs in cpu_offset
__u32 by_cpu;  // 1 if the kernel counts by CPU, as it does since 6.2

// memoird sets possible_cpus before loading. The verifier treats it as a constant, which limits how far it follows
// loops.
const volatile __u32 possible_cpus = kCensusMostCpus;

static __always_inline int counts_by_cpu(void) {
  struct mm_struct___before_6_2* old = 0;
  return !bpf_core_field_exists(old->rss_stat.count);
}

SEC("iter/bpf_map")
int find_cpus(struct bpf_iter__bpf_map* context) {
  // bpf_map_lookup_percpu_elem() exists only since 5.19. Before 6.2 the verifier accepts the call, because this return
  // makes it unreachable.
  if (!counts_by_cpu()) return 0;
  by_cpu = 1;
  struct bpf_map___any* map = context->map;
  if (!map || map->id != probe_id) return 0;
  void* base = 0;
  bpf_core_read(&base, sizeof base, &((struct bpf_array___any*)map)->pptrs[0]);
  probe_base = (u64)base;
  u32 zero = 0;
  for (u32 i = 0; i < possible_cpus; i++) {
    if (i >= kCensusMostCpus) break;
    void* value = bpf_map_lookup_percpu_elem(&probe, &zero, i);
    if (!value) break;
    cpu_offset[i] = (u64)value;  // the verifier forbids subtracting the base here
    cpus = i + 1;
  }
  return 0;
}

// Adds the parts of all CPUs to `sums`. Without them a counter is off by up to max(32, 2 × CPUs) pages for each CPU.
static __always_inline void add_of_cpus(s64* sums, void* const* parts) {
  // Since 6.6 the parts of the four counters are adjacent.
  const int together =
      parts[1] == parts[0] + sizeof(s32) && parts[2] == parts[1] + sizeof(s32) && parts[3] == parts[2] + sizeof(s32);
  for (u32 cpu = 0; cpu < possible_cpus; cpu++) {
    if (cpu >= kCensusMostCpus) break;
    s32 of_cpu[kCensusCounters] = {};
    if (together) {
      bpf_probe_read_kernel(of_cpu, sizeof of_cpu, parts[0] + cpu_offset[cpu]);
    } else {
      for (int i = 0; i < kCensusCounters; i++) {
        bpf_probe_read_kernel(&of_cpu[i], sizeof of_cpu[i], parts[i] + cpu_offset[cpu]);
      }
    }
    for (int i = 0; i < kCensusCounters; i++) sums[i] += of_cpu[i];
  }
}

static __always_inline void read_counters(s64* rss, struct mm_struct* mm) {
  if (!counts_by_cpu()) {
    struct mm_struct___before_6_2* old = (void*)mm;
    bpf_core_read(rss, kCensusCounters * sizeof *rss, &old->rss_stat.count);
    return;
  }
  // The kernel's percpu_counter is larger than the one declared here, so the steps use the kernel's size.
  void* counters = &mm->rss_stat;
  void* parts[kCensusCounters];
  for (int i = 0; i < kCensusCounters; i++) {
    struct percpu_counter* counter = counters + i * bpf_core_type_size(struct percpu_counter);
    rss[i] = BPF_CORE_READ(counter, count);
    parts[i] = BPF_CORE_READ(counter, counters);
  }
  add_of_cpus(rss, parts);
}

// Like read_counters(), for a task from an iterator. The verifier knows the types of such tasks and of their pointers,
// so plain loads can read them, in a third of the time.
static __always_inline void read_resident(struct census_record* record, struct mm_struct* mm) {
  record->peak_rss = mm->hiwater_rss;
  if (!counts_by_cpu()) return read_counters(record->rss, mm);
  record->rss[0] = mm->rss_stat[0].count;
  record->rss[1] = mm->rss_stat[1].count;
  record->rss[2] = mm->rss_stat[2].count;
  record->rss[3] = mm->rss_stat[3].count;
  void* const parts[kCensusCounters] = {mm->rss_stat[0].counters, mm->rss_stat[1].counters, mm->rss_stat[2].counters,
                                        mm->rss_stat[3].counters};
  add_of_cpus(record->rss, parts);
}

static __always_inline void read_sizes(struct census_record* record, struct mm_struct* mm) {
  record->size = mm->total_vm;
  record->peak_size = mm->hiwater_vm;
  record->locked = mm->locked_vm;
  record->pinned = mm->pinned_vm.counter;
  record->data = mm->data_vm;
  record->stack = mm->stack_vm;
  record->executable = mm->exec_vm;
  record->code_begin = mm->start_code;
  record->code_end = mm->end_code;
  record->page_tables_bytes = mm->pgtables_bytes.counter;
  record->hugetlb = bpf_core_field_exists(mm->hugetlb_usage) ? mm->hugetlb_usage.counter : 0;
}

static __always_inline u32 state_of(struct task_struct* task) {
  struct task_struct___before_5_14* old = (void*)task;
  if (bpf_core_field_exists(old->state)) return (u32)BPF_CORE_READ(old, state) | task->exit_state;
  return task->__state | task->exit_state;
}

static __always_inline void read_process(struct census_record* record, struct task_struct* task, int whole) {
  record->pid = task->tgid;
  record->start_ns = task->start_boottime;
  // A zombie has no memory. A main thread that exited before its other threads has none either.
  struct mm_struct* mm = task->mm;
  record->has_memory = mm != 0;
  if (mm) read_resident(record, mm);
  if (!whole) return;
  if (mm) read_sizes(record, mm);
  // On kernels that declare these pointers as protected by RCU, loading them requires the RCU read lock.
  struct task_struct* parent = task->real_parent;
  const struct cred* cred = task->cred;
  record->parent_pid = parent ? parent->tgid : 0;
  record->uid = cred ? cred->uid.val : 0;
  record->threads = task->signal->nr_threads;
  record->state = state_of(task);
  record->minor_faults = task->signal->min_flt + task->min_flt;
  bpf_core_read_str(&record->comm, sizeof record->comm, &task->comm);
}

SEC("iter/task")
int census(struct bpf_iter__task* context) {
  struct task_struct* task = context->task;
  if (!task || task->pid != task->tgid || task->flags & kKernelThread) return 0;
  struct census_record record = {};
  read_process(&record, task, 1);
  bpf_seq_write(context->meta->seq, &record, sizeof record);
  return 0;
}

extern int bpf_iter_task_new(struct bpf_iter_task* tasks, struct task_struct* of, unsigned int which) __weak __ksym;
extern struct task_struct* bpf_iter_task_next(struct bpf_iter_task* tasks) __weak __ksym;
extern void bpf_iter_task_destroy(struct bpf_iter_task* tasks) __weak __ksym;
extern void bpf_rcu_read_lock(void) __weak __ksym;
extern void bpf_rcu_read_unlock(void) __weak __ksym;

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, kCensusMostListed);
  __type(key, u32);
  __type(value, struct census_record);
} listed SEC(".maps");

__u32 listed_count;

// Writes all processes into the map `listed`. Walking the list of processes takes a fifth of the time of the iterator
// above, which steps from pid to pid. Returns the number of processes; 0 if the kernel lacks this walk.
static __always_inline int list_all(int whole) {
  if (!bpf_core_type_exists(struct bpf_iter_task)) return 0;
  listed_count = 0;
  struct bpf_iter_task tasks;
  struct task_struct* task;
  bpf_rcu_read_lock();
  bpf_iter_task_new(&tasks, 0, kAllProcesses);
  while ((task = bpf_iter_task_next(&tasks))) {
    if (task->flags & kKernelThread) continue;
    const u32 at = listed_count++;  // a global: the verifier would follow each value of a local number
    struct census_record* record = bpf_map_lookup_elem(&listed, &at);
    if (!record) break;
    read_process(record, task, whole);
  }
  bpf_iter_task_destroy(&tasks);
  bpf_rcu_read_unlock();
  return listed_count;
}

SEC("syscall")
int list(void* context) {
  return list_all(1);
}

SEC("syscall")
int brief(void* context) {
  return list_all(0);
}

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, kEventRingBytes);
} ring SEC(".maps");

__u64 events_lost;  // events dropped because the ring was full

// Reserves a record in the ring. It is a macro, because the verifier needs a constant size.
#define NEW_RECORD(type)                                                 \
  ({                                                                     \
    struct type* record = bpf_ringbuf_reserve(&ring, sizeof *record, 0); \
    if (record) {                                                        \
      __builtin_memset(record, 0, sizeof *record);                       \
    } else {                                                             \
      __sync_fetch_and_add(&events_lost, 1);                             \
    }                                                                    \
    record;                                                              \
  })

static __always_inline void begin_event(struct event_record* event, u16 kind) {
  event->kind = kind;
  event->at_ns = bpf_ktime_get_boot_ns();
}

static __always_inline struct event_record* new_event(u16 kind) {
  struct event_record* event = NEW_RECORD(event_record);
  if (event) begin_event(event, kind);
  return event;
}

static __always_inline void name_process(struct event_record* event, struct task_struct* task) {
  event->pid = BPF_CORE_READ(task, tgid);
  event->parent_pid = BPF_CORE_READ(task, real_parent, tgid);
  event->start_ns = BPF_CORE_READ(task, group_leader, start_boottime);
  BPF_CORE_READ_STR_INTO(&event->comm, task, group_leader, comm);
}

// Passes a record to memoird, which reads it at the next scan. Wakes memoird earlier only if the record is `urgent` or
// the ring has kEventWakeBytes of unread records.
static __always_inline void submit(void* record, int urgent) {
  const u64 waiting = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA);
  bpf_ringbuf_submit(record, urgent || waiting >= kEventWakeBytes ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

static __always_inline int is_kernel_thread(struct task_struct* task) {
  return (BPF_CORE_READ(task, flags) & kKernelThread) != 0;
}

SEC("raw_tp/sched_process_fork")
int on_fork(struct bpf_raw_tracepoint_args* context) {
  struct task_struct* parent = (void*)context->args[0];
  struct task_struct* child = (void*)context->args[1];
  if (BPF_CORE_READ(child, pid) != BPF_CORE_READ(child, tgid) || is_kernel_thread(child)) return 0;
  struct event_record* event = new_event(kEventFork);
  if (!event) return 0;
  name_process(event, child);
  // The forking process, which owns the copied memory. With CLONE_PARENT it is not the child's parent.
  event->parent_pid = BPF_CORE_READ(parent, tgid);
  event->shares_memory = BPF_CORE_READ(child, mm) == BPF_CORE_READ(parent, mm);
  submit(event, 0);
  return 0;
}

// When this tracepoint is reached, the exec'ing thread is the main thread.
SEC("raw_tp/sched_process_exec")
int on_exec(struct bpf_raw_tracepoint_args* context) {
  struct event_record* event = new_event(kEventExec);
  if (!event) return 0;
  name_process(event, (void*)context->args[0]);
  submit(event, 0);
  return 0;
}

static __always_inline void read_end(struct exit_record* end, struct task_struct* task) {
  struct mm_struct* mm = BPF_CORE_READ(task, mm);
  // Before Linux 6.16 the process has already released its memory here. maxrss, which getrusage(2) reports, then is the
  // peak of all programs that it ran.
  if (!mm) {
    end->event.peak_rss = (s64)BPF_CORE_READ(task, signal, maxrss);
    return;
  }
  end->has_memory = 1;
  read_counters(end->rss, mm);
  const s64 now = end->rss[kCensusFile] + end->rss[kCensusAnon] + end->rss[kCensusShmem];
  const s64 mark = (s64)BPF_CORE_READ(mm, hiwater_rss);
  end->event.peak_rss = mark > now ? mark : now;
}

static __always_inline void read_cgroups(struct exit_record* end, struct task_struct* task) {
  struct css_set* set = BPF_CORE_READ(task, cgroups);
  end->cgroup_id = BPF_CORE_READ(set, dfl_cgrp, kn, id);
  if (!bpf_core_enum_value_exists(enum cgroup_subsys_id, memory_cgrp_id)) return;
  struct cgroup_subsys_state* memory = 0;
  void* at = (void*)set + bpf_core_field_offset(set->subsys) +
             bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id) * sizeof(void*);
  bpf_probe_read_kernel(&memory, sizeof memory, at);
  end->memory_cgroup_id = BPF_CORE_READ(memory, cgroup, kn, id);
}

SEC("raw_tp/sched_process_exit")
int on_exit(struct bpf_raw_tracepoint_args* context) {
  struct task_struct* task = (void*)context->args[0];
  if (BPF_CORE_READ(task, signal, live.counter) != 0 || is_kernel_thread(task)) return 0;
  struct exit_record* end = NEW_RECORD(exit_record);
  if (!end) return 0;
  begin_event(&end->event, kEventExit);
  name_process(&end->event, task);
  end->event.exit_code = BPF_CORE_READ(task, signal, flags) & kGroupExit ? BPF_CORE_READ(task, signal, group_exit_code)
                                                                         : BPF_CORE_READ(task, group_leader, exit_code);
  end->uid = BPF_CORE_READ(task, cred, uid.val);
  read_end(end, task);
  read_cgroups(end, task);
  submit(end, 0);
  return 0;
}

// The kernel reports a move once for each hierarchy, and also moves of single threads. Moves of threads other than the
// main thread are ignored.
SEC("raw_tp/cgroup_attach_task")
int on_attach(struct bpf_raw_tracepoint_args* context) {
  struct task_struct* task = (void*)context->args[2];
  if (BPF_CORE_READ(task, pid) != BPF_CORE_READ(task, tgid)) return 0;
  struct event_record* event = new_event(kEventAttach);
  if (!event) return 0;
  name_process(event, task);
  submit(event, 0);
  return 0;
}

// The argument is a task since Linux 6.8 and a pid before. Addresses are above all pids.
SEC("raw_tp/mark_victim")
int on_victim(struct bpf_raw_tracepoint_args* context) {
  const u64 victim = context->args[0];
  struct event_record* event = new_event(kEventVictim);
  if (!event) return 0;
  if (victim > 0xffffffff) {
    name_process(event, (void*)victim);
  } else {
    event->pid = (s32)victim;
  }
  submit(event, 1);
  return 0;
}

// `bytes` is the length of `name` including its NUL. BPF has no memcmp().
static __always_inline int is_named(const char* comm, const char* name, int bytes) {
#pragma unroll
  for (int i = 0; i < bytes; i++) {
    if (comm[i] != name[i]) return 0;
  }
  return 1;
}
#define IS_NAMED(comm, name) is_named(comm, name, sizeof(name))

// Returns whether the task is a user-space OOM killer. Any user may run a program with such a name, so the task must
// also be allowed to kill all users' processes.
static __always_inline int is_oom_killer(struct task_struct* task, const char* comm) {
  if (!IS_NAMED(comm, "systemd-oomd") && !IS_NAMED(comm, "earlyoom") && !IS_NAMED(comm, "nohang") &&
      !IS_NAMED(comm, "oomd")) {
    return 0;
  }
  const struct cred* cred = BPF_CORE_READ(task, cred);
  struct capabilities effective = {};
  bpf_core_read(&effective, sizeof effective, &cred->cap_effective);
  return (effective.bits & kMayKill) && BPF_CORE_READ(cred, user_ns, level) == 0;
}

// Returns whether a process sent the signal. The kernel's own signals, from its OOM killer or a timer, may be sent in
// the context of any process. A signal that results from a write to cgroup.kill has no info at all.
static __always_inline int is_sent(struct kernel_siginfo* info) {
  if (!info) return 1;
  if (info == (void*)1) return 0;  // SEND_SIG_PRIV
  const int code = BPF_CORE_READ(info, si_code);
  return code == kByUser || code == kByQueue || code == kByThread;
}

// Runs for every signal on the machine, in 0.1 µs.
SEC("raw_tp/signal_generate")
int on_signal(struct bpf_raw_tracepoint_args* context) {
  const int signal = (int)context->args[0];
  const int result = (int)context->args[4];
  if ((signal != kSigKill && signal != kSigTerm) || result != 0) return 0;  // TRACE_SIGNAL_DELIVERED
  struct task_struct* sender = (void*)bpf_get_current_task();
  char comm[16] = {};
  BPF_CORE_READ_STR_INTO(&comm, sender, group_leader, comm);
  if (!is_oom_killer(sender, comm) || !is_sent((void*)context->args[1])) return 0;
  struct task_struct* task = (void*)context->args[2];
  if (BPF_CORE_READ(task, tgid) == BPF_CORE_READ(sender, tgid)) return 0;
  struct signal_record* record = NEW_RECORD(signal_record);
  if (!record) return 0;
  begin_event(&record->event, kEventSignal);
  name_process(&record->event, task);
  record->signal = signal;
  record->sender_pid = BPF_CORE_READ(sender, tgid);
  __builtin_memcpy(record->sender, comm, sizeof comm);
  struct mm_struct* mm = BPF_CORE_READ(task, mm);
  if (mm) {
    record->has_memory = 1;
    read_counters(record->rss, mm);
  }
  submit(record, 1);
  return 0;
}
