-- Memoir's schema, version 1. Sizes are in KiB (_kib), times in milliseconds since the Unix epoch, UTC (_ms), durations in
-- microseconds (_us), shares in hundredths of a percent (_bp). NULL means unknown: the kernel does not print the value or does
-- not permit reading it. Unknown is never stored as 0. The views in views.sql add names and derived columns.
--
-- Tables with a tick_id store changes only: a row is valid until the next row of the same subject. A keyframe is the first or
-- last tick of a run, or a tick once an hour. At a keyframe every live subject gets a row. So the state at tick T is the last
-- row of each subject between T's keyframe and T.

-- ---------------------------------------------------------------------------------------------------------------------
-- The recording: boots, runs, ticks.

CREATE TABLE boot (
  id INTEGER PRIMARY KEY,
  boot_uuid TEXT NOT NULL UNIQUE,          -- /proc/sys/kernel/random/boot_id
  started_ms INTEGER NOT NULL,             -- btime of /proc/stat
  host TEXT NOT NULL,
  kernel TEXT NOT NULL
) STRICT;

-- One run of the recorder with one configuration.
CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  boot_id INTEGER NOT NULL REFERENCES boot (id),
  started_ms INTEGER NOT NULL,
  stopped_ms INTEGER,                       -- NULL: it is running, or it crashed and no run has started since
  stop_reason TEXT,                        -- stopped, duration, once, reload, copied, unclean (it crashed)
  pid INTEGER NOT NULL,
  version TEXT NOT NULL,
  interval_ms INTEGER NOT NULL,
  first_tick_id INTEGER NOT NULL,          -- the run has the ticks from this one up to the first of the next run
  census TEXT                              -- how processes are scanned: bpf, or proc (by statm of each); NULL: unknown
) STRICT;

-- One pass over the machine. Ids increase in the order of recording, also when the wall clock is set back.
CREATE TABLE tick (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES run (id),
  wall_ms INTEGER NOT NULL,                -- before the first read
  boot_ms INTEGER NOT NULL,                -- the same time on the boot clock, which is never set
  keyframe_id INTEGER NOT NULL,            -- the run's last keyframe up to this tick; equals id if the tick is a keyframe
  skipped INTEGER NOT NULL,                -- intervals skipped before this tick, because the previous one overran
  duration_ms INTEGER NOT NULL,            -- from the first read to the last
  -- Numbers of processes by outcome in this tick.
  seen INTEGER NOT NULL,
  kernel_threads INTEGER NOT NULL,
  execed INTEGER NOT NULL,
  denied INTEGER NOT NULL,
  vanished INTEGER NOT NULL,
  blocked INTEGER NOT NULL,
  zombies INTEGER NOT NULL,
  malformed INTEGER NOT NULL,
  -- The cost of the pass, in total and by kind of file.
  cpu_us INTEGER NOT NULL,
  wall_us INTEGER NOT NULL,
  list_cpu_us INTEGER NOT NULL,
  list_wall_us INTEGER NOT NULL,
  status_cpu_us INTEGER NOT NULL,
  status_wall_us INTEGER NOT NULL,
  rollup_cpu_us INTEGER NOT NULL,
  rollup_wall_us INTEGER NOT NULL,
  identity_cpu_us INTEGER NOT NULL,
  identity_wall_us INTEGER NOT NULL,
  machine_cpu_us INTEGER NOT NULL,
  machine_wall_us INTEGER NOT NULL,
  -- Results of reading smaps_rollup only where needed. All are NULL if the tick read it for every process.
  exact INTEGER,                           -- processes whose smaps_rollup was read in this tick
  held INTEGER,                            -- processes whose previous reading is still valid
  estimated INTEGER,
  deferred INTEGER,                        -- due reads deferred by the budget
  longest_us INTEGER,                      -- time of the longest read
  checked INTEGER,                         -- estimates replaced by a reading in this tick
  checked_kib INTEGER,                     -- sum of the PSS that these readings found
  error_kib INTEGER,                       -- sum of the absolute errors of these estimates
  -- Scans of the census since the previous tick. NULL: there is no census.
  scans INTEGER,
  scans_cpu_us INTEGER,
  longest_scan_us INTEGER,
  -- Kernel events since the previous tick. NULL: the kernel reports none.
  exits INTEGER,                           -- process exits that the kernel reported
  lost_events INTEGER,                     -- forks, execs and exits dropped because a buffer was full
  -- Cost of the storage thread since the previous tick, with rollups, retention and checkpoints. NULL: unknown.
  storing_cpu_us INTEGER,
  storing_wall_us INTEGER,
  -- Counts of processes since the previous tick. A process counts once, even if it execs. A process that ran only between two
  -- ticks counts if the kernel reported its exit. alive of the previous tick + started = alive + exited.
  alive INTEGER NOT NULL,                  -- at the tick, without zombies
  started INTEGER NOT NULL,
  exited INTEGER NOT NULL,
  short_lived INTEGER NOT NULL,            -- exited within 10 minutes of their start
  oom_kills INTEGER                        -- processes killed by the kernel, according to its counters, or by a user-space
                                           -- killer; NULL: unknown
) STRICT;

CREATE INDEX tick_wall ON tick (wall_ms);

-- The recorder's own memory, about once a minute: its heap, by the allocator's statistics. data, fragmentation, idle and prepared
-- add up to the heap; the view recorder_memory_at has the sums.
CREATE TABLE recorder_memory (
  tick_id INTEGER PRIMARY KEY,
  data_kib INTEGER NOT NULL,               -- in use
  fragmentation_kib INTEGER NOT NULL,      -- free, between blocks in use
  idle_kib INTEGER NOT NULL,               -- free, at the end of the heap
  prepared_kib INTEGER NOT NULL,           -- mapped, but without pages
  sqlite_kib INTEGER NOT NULL,             -- SQLite's part of data
  rss_kib INTEGER                          -- of the process; NULL: unknown
) STRICT;

-- Spans of recording without a gap and without a step of the wall clock, up to the tick before rollup_progress.tick_id. They are
-- kept longer than their ticks. recorded_ms is the recorder's own clock, which cannot be set: it advances with the boot clock, and
-- across a reboot with the wall clock, by at most a day. Retention measures ages by it.
CREATE TABLE stretch (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES run (id),
  first_tick_id INTEGER NOT NULL,
  last_tick_id INTEGER NOT NULL,
  from_ms INTEGER NOT NULL,                -- wall clock of the first tick
  to_ms INTEGER NOT NULL,                  -- wall clock of the last tick
  to_boot_ms INTEGER NOT NULL,             -- boot clock of the last tick
  recorded_ms INTEGER NOT NULL,            -- at the first tick
  gap TEXT NOT NULL                        -- reason of the gap before this stretch; '' without a gap
) STRICT;

CREATE INDEX stretch_from ON stretch (from_ms);
CREATE INDEX stretch_first_tick ON stretch (first_tick_id);
CREATE INDEX stretch_last_tick ON stretch (last_tick_id);

CREATE TABLE event (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES run (id),
  wall_ms INTEGER NOT NULL,
  boot_ms INTEGER NOT NULL,
  kind TEXT NOT NULL,                      -- unclean, gap, clock-step, lost, oom-kill, oom-victim, limit, tmpfs-full …
  text TEXT NOT NULL,
  -- Details as JSON; NULL: there are none.
  -- oom-victim: pid, comm, cgroup, held_kib, peak_kib; and from the kernel log scope (machine, cgroup or nodes: what ran out of
  -- memory), limit_cgroup with usage_kib and limit_kib, invoked_by, anon_kib, file_kib, shmem_kib, and others (the largest other
  -- candidates: pid, comm, rss_kib, swap_kib).
  -- oom-kill: kills, since_ms (the previous tick), cgroup ('' if unknown).
  -- limit, throttled, tmpfs-full: subject (cgroup or mount point), from_ms, at_ms, to_ms, times, waited_us, used_kib, limit_kib,
  -- cache_kib. The row changes while the episode lasts.
  detail TEXT
) STRICT;

-- Lines of kernel files that could not be parsed; their values are unknown. At most 32 rows per run; tick.malformed counts
-- all lines.
CREATE TABLE odd_line (
  run_id INTEGER NOT NULL REFERENCES run (id),
  file TEXT NOT NULL,                      -- meminfo, status, smaps_rollup …
  key TEXT NOT NULL,                       -- the key in the lines, such as MemFree; '' without one
  problem TEXT NOT NULL,                   -- problem of the first line, and that line
  lines INTEGER NOT NULL,                  -- number of lines
  first_ms INTEGER NOT NULL,
  last_ms INTEGER NOT NULL,
  PRIMARY KEY (run_id, file, key)
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------------------------------------------------------------
-- Names, each stored once.

CREATE TABLE user (
  id INTEGER PRIMARY KEY,
  uid INTEGER NOT NULL,
  name TEXT NOT NULL,
  UNIQUE (uid, name)
) STRICT;

CREATE TABLE category (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

-- Containers, recognised by the paths of their cgroups and named by their engines' files.
CREATE TABLE container (
  id INTEGER PRIMARY KEY,
  runtime TEXT NOT NULL,                   -- docker, podman, containerd, cri-o, lxc …
  key TEXT NOT NULL,                       -- the engine's id, or the name if there is no id
  name TEXT NOT NULL,                      -- '' if unknown
  image TEXT NOT NULL,                     -- '' if unknown
  pod_uid TEXT NOT NULL,                   -- UID of the Kubernetes pod; '' if there is none
  pod TEXT NOT NULL,                       -- namespace/name of the pod
  UNIQUE (runtime, key, name, image, pod_uid, pod)
) STRICT;

CREATE TABLE cgroup (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  first_ms INTEGER NOT NULL,               -- time of the first tick with it
  last_ms INTEGER NOT NULL,                -- time of a later tick with it, updated by the rollup
  container_id INTEGER                     -- NULL: none
) STRICT;

-- Working directories.
CREATE TABLE directory (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE
) STRICT;

-- Settings that a process may change while it runs. Each combination is stored once.
CREATE TABLE setting (
  id INTEGER PRIMARY KEY,
  cwd TEXT NOT NULL,                       -- working directory; '' if it could not be read
  oom_score_adj INTEGER,
  limits TEXT NOT NULL,                    -- /proc/PID/limits, soft and hard, by the names of prlimit(1): AS=unlimited:unlimited
                                           -- NOFILE=1024:4096; '' if they could not be read
  category_rule TEXT NOT NULL,             -- the rule that chose the category, with its patterns; '' if none matched, or unknown
  UNIQUE (cwd, oom_score_adj, limits, category_rule)
) STRICT;

-- Redacted command lines. They are looked up by a digest, because an index of the texts would double their space.
CREATE TABLE command (
  id INTEGER PRIMARY KEY,
  exe TEXT NOT NULL,                       -- '' if it could not be read
  line TEXT NOT NULL,                      -- arguments, redacted, joined by a space
  line_digest INTEGER NOT NULL             -- upper 47 bits of SipHash-2-4 of the line, key 0
) STRICT;

CREATE INDEX command_digest ON command (line_digest);

-- The part of a process that stays the same across its restarts: its unit or cgroup, its executable, and its command without the
-- parts that differ from start to start (numbers, hashes, temporary names).
CREATE TABLE identity (
  id INTEGER PRIMARY KEY,
  unit TEXT NOT NULL,                      -- nginx.service, session-*.scope, /docker/*
  exe TEXT NOT NULL,
  command TEXT NOT NULL,                   -- normalised
  first_ms INTEGER NOT NULL,               -- time of the first tick with it
  last_ms INTEGER NOT NULL,                -- time of a later tick with it, updated by the rollup
  UNIQUE (unit, exe, command)
) STRICT;

-- ---------------------------------------------------------------------------------------------------------------------
-- Processes.

-- One run of one program image: an exec starts a new row. Rows are kept longer than the ticks that observed the process, so they
-- contain the times of those ticks.
CREATE TABLE process (
  id INTEGER PRIMARY KEY,
  boot_id INTEGER NOT NULL REFERENCES boot (id),
  pid INTEGER NOT NULL,
  start_ticks INTEGER NOT NULL,            -- clock ticks after boot, field 22 of /proc/PID/stat
  exec_count INTEGER NOT NULL,             -- execs since this pid and start time were first observed
  start_ms INTEGER NOT NULL,
  parent_pid INTEGER NOT NULL,             -- at the first observation
  comm TEXT NOT NULL,
  user_id INTEGER NOT NULL REFERENCES user (id),
  command_id INTEGER NOT NULL REFERENCES command (id),
  category_id INTEGER NOT NULL REFERENCES category (id),
  cgroup_id INTEGER NOT NULL REFERENCES cgroup (id),
  identity_id INTEGER NOT NULL REFERENCES identity (id),
  cwd_id INTEGER NOT NULL REFERENCES directory (id),  -- working directory at the start; '' if it could not be read
  setting_id INTEGER NOT NULL REFERENCES setting (id),  -- at the last reading, about once an hour
  first_tick_id INTEGER NOT NULL,
  first_ms INTEGER NOT NULL,               -- time of that tick
  last_ms INTEGER,                         -- time of the last tick with it; NULL while it is alive
  exited_tick_id INTEGER,                  -- the first tick without it; NULL: alive at the last tick of its run. Equals
                                           -- first_tick_id if only ticks that were not stored observed it: it has no samples
  exited_ms INTEGER,                       -- time of that tick
  exit_kind TEXT,                          -- exited, execed, unknown (it exited while nothing was recorded)
  UNIQUE (boot_id, pid, start_ticks, exec_count)
) STRICT;

-- Live processes (NULL) come first. A daily scan of all processes finds unused commands, cgroups and identities. An index for each
-- of these would cost one more written page for every new process.
CREATE INDEX process_exited ON process (exited_tick_id);

-- Fast-changing memory of a process. Ten columns are NULL if they equal a value derived from the others, and -1 if they are
-- unknown although the others would give a value. The view process_sample_full computes them:
--   pss_anon       rss_anon, if pss_file is known
--   private_clean  rss_file - shared_clean
--   private_dirty  rss_anon + rss_shmem - shared_dirty
--   vm_rss         rss_anon + rss_file + rss_shmem
--   rss            shared_clean + shared_dirty + private_clean + private_dirty if the source is exact; otherwise vm_rss
--   pss            pss_anon + pss_file + pss_shmem (the kernel rounds each, so their sum may differ from pss)
--   pss_dirty      pss_anon + pss_shmem
--   anonymous      rss_anon
--   referenced     rss
--   vm_hwm         vm_rss
CREATE TABLE process_sample (
  tick_id INTEGER NOT NULL,
  process_id INTEGER NOT NULL,
  source INTEGER NOT NULL,                 -- 0 exact (held from the next tick on), 1 held, 2 estimated, 3 approximate, 4 inaccessible;
                                           -- 5: absent from this tick on, until its next row
  read_age_ms INTEGER,                     -- age of the smaps_rollup reading that the values are from; NULL without one
  rss_kib INTEGER,
  pss_kib INTEGER,
  pss_dirty_kib INTEGER,
  pss_anon_kib INTEGER,
  pss_file_kib INTEGER,
  pss_shmem_kib INTEGER,
  shared_clean_kib INTEGER,
  shared_dirty_kib INTEGER,
  private_clean_kib INTEGER,
  private_dirty_kib INTEGER,
  referenced_kib INTEGER,
  anonymous_kib INTEGER,
  vm_hwm_kib INTEGER,
  vm_rss_kib INTEGER,
  rss_anon_kib INTEGER,
  rss_file_kib INTEGER,
  rss_shmem_kib INTEGER,
  PRIMARY KEY (tick_id, process_id)
) STRICT, WITHOUT ROWID;

-- Readings of smaps_rollup that found the same values as the valid row of process_sample. The source of the process is exact at
-- this tick, and held after it.
CREATE TABLE process_reading (
  tick_id INTEGER NOT NULL,
  process_id INTEGER NOT NULL,
  PRIMARY KEY (tick_id, process_id)
) STRICT, WITHOUT ROWID;

-- Slow-changing values of a process. The view process_detail joins both tables.
CREATE TABLE process_state (
  tick_id INTEGER NOT NULL,
  process_id INTEGER NOT NULL,
  state TEXT NOT NULL,                     -- R S D Z T t X I
  parent_pid INTEGER NOT NULL,
  threads INTEGER NOT NULL,
  ksm_kib INTEGER,
  anon_huge_pages_kib INTEGER,
  vm_peak_kib INTEGER,                     -- NULL: equals vm_size_kib; -1: unknown
  vm_size_kib INTEGER,
  vm_data_kib INTEGER,
  vm_stk_kib INTEGER,
  vm_exe_kib INTEGER,
  vm_lib_kib INTEGER,
  vm_pte_kib INTEGER,
  shared_swap_kib INTEGER,                 -- share of the swap of shared mappings, which SwapPss omits
  PRIMARY KEY (tick_id, process_id)
) STRICT, WITHOUT ROWID;

-- Values that are 0 for most processes. Without a row, the values of smaps_rollup are 0 if anon_huge_pages_kib is known, and those
-- of status and swap_kib are 0 if vm_size_kib is known; otherwise they are unknown. If the kernel lacks one of these values
-- (FilePmdMapped before Linux 5.4), every row of process_state has a row here.
CREATE TABLE process_rare (
  tick_id INTEGER NOT NULL,
  process_id INTEGER NOT NULL,
  lazy_free_kib INTEGER,                   -- of smaps_rollup
  shmem_pmd_mapped_kib INTEGER,
  file_pmd_mapped_kib INTEGER,
  shared_hugetlb_kib INTEGER,
  private_hugetlb_kib INTEGER,
  swap_pss_kib INTEGER,
  locked_kib INTEGER,
  swap_kib INTEGER,                        -- of smaps_rollup, or VmSwap if that is not read
  vm_lck_kib INTEGER,                      -- of status
  vm_pin_kib INTEGER,
  vm_swap_kib INTEGER,
  hugetlb_pages_kib INTEGER,
  PRIMARY KEY (tick_id, process_id)
) STRICT, WITHOUT ROWID;

-- Exits that the kernel reported, of processes that a tick observed and of processes with a large peak.
CREATE TABLE process_exit (
  tick_id INTEGER NOT NULL,                -- the first tick after the exit
  process_id INTEGER NOT NULL,
  exited_ms INTEGER NOT NULL,
  lived_ms INTEGER NOT NULL,               -- since the fork
  exit_code INTEGER NOT NULL,              -- as in wait(2): the signal in the low 7 bits, or the exit status times 256
  peak_kib INTEGER,                        -- peak of RSS; NULL: the process only used its parent's memory (vfork)
  anon_kib INTEGER,                        -- memory at exit; NULL: not reported (before Linux 6.16)
  file_kib INTEGER,
  shmem_kib INTEGER,
  swap_kib INTEGER,
  PRIMARY KEY (tick_id, process_id)
) STRICT, WITHOUT ROWID;

-- All other exits, summed over five minutes.
CREATE TABLE exit_sum (
  tick_id INTEGER NOT NULL,                -- the first tick of the five minutes
  comm TEXT NOT NULL,                      -- '': several names, if there were very many
  user TEXT NOT NULL,
  cgroup_id INTEGER NOT NULL REFERENCES cgroup (id),
  count INTEGER NOT NULL,
  first_ms INTEGER NOT NULL,               -- time of the first exit
  last_ms INTEGER NOT NULL,                -- time of the last exit
  lived_ms INTEGER NOT NULL,               -- sum of their lifetimes
  peak_kib INTEGER NOT NULL,               -- the highest peak of RSS; 0: unknown
  peak_ms INTEGER NOT NULL,                -- when the process with that peak exited
  PRIMARY KEY (tick_id, comm, user, cgroup_id)
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------------------------------------------------------------
-- The machine.

-- Fast-changing values of /proc/meminfo, /proc/vmstat and /proc/pressure/memory.
CREATE TABLE machine_sample (
  tick_id INTEGER PRIMARY KEY,
  mem_free_kib INTEGER,
  mem_available_kib INTEGER,
  per_cpu_free_kib INTEGER,                -- free pages on the lists of the CPUs, which mem_free_kib does not include
  buffers_kib INTEGER,
  cached_kib INTEGER,
  active_kib INTEGER,
  inactive_kib INTEGER,
  active_anon_kib INTEGER,
  inactive_anon_kib INTEGER,
  active_file_kib INTEGER,
  inactive_file_kib INTEGER,
  dirty_kib INTEGER,
  writeback_kib INTEGER,
  anon_pages_kib INTEGER,
  mapped_kib INTEGER,
  shmem_kib INTEGER,
  kernel_reclaimable_kib INTEGER,
  slab_kib INTEGER,
  slab_reclaimable_kib INTEGER,
  slab_unreclaimable_kib INTEGER,
  kernel_stack_kib INTEGER,
  page_tables_kib INTEGER,
  committed_as_kib INTEGER,
  vmalloc_used_kib INTEGER,
  percpu_kib INTEGER,
  anon_huge_pages_kib INTEGER,
  pgfault INTEGER,
  pgmajfault INTEGER,
  pgscan_kswapd INTEGER,
  pgscan_file INTEGER,
  pgsteal_kswapd INTEGER,
  pgsteal_file INTEGER,
  workingset_nodes INTEGER,
  workingset_refault_file INTEGER,
  workingset_activate_file INTEGER,
  thp_fault_alloc INTEGER,
  psi_some_avg10_bp INTEGER,
  psi_some_avg60_bp INTEGER,
  psi_some_avg300_bp INTEGER,
  psi_some_total_us INTEGER,
  psi_full_avg10_bp INTEGER,
  psi_full_avg60_bp INTEGER,
  psi_full_avg300_bp INTEGER,
  psi_full_total_us INTEGER
) STRICT;

-- Slow-changing values, and those that change only when memory is short.
CREATE TABLE machine_detail (
  tick_id INTEGER PRIMARY KEY,
  mem_total_kib INTEGER,
  swap_cached_kib INTEGER,
  unevictable_kib INTEGER,
  mlocked_kib INTEGER,
  swap_total_kib INTEGER,
  swap_free_kib INTEGER,
  zswap_kib INTEGER,
  zswapped_kib INTEGER,
  shadow_call_stack_kib INTEGER,
  sec_page_tables_kib INTEGER,
  nfs_unstable_kib INTEGER,
  bounce_kib INTEGER,
  writeback_tmp_kib INTEGER,
  commit_limit_kib INTEGER,
  vmalloc_total_kib INTEGER,
  vmalloc_chunk_kib INTEGER,
  hardware_corrupted_kib INTEGER,
  shmem_huge_pages_kib INTEGER,
  shmem_pmd_mapped_kib INTEGER,
  file_huge_pages_kib INTEGER,
  file_pmd_mapped_kib INTEGER,
  cma_total_kib INTEGER,
  cma_free_kib INTEGER,
  unaccepted_kib INTEGER,
  balloon_kib INTEGER,
  huge_pages_total_kib INTEGER,
  huge_pages_free_kib INTEGER,
  huge_pages_rsvd_kib INTEGER,
  huge_pages_surp_kib INTEGER,
  hugepage_size_kib INTEGER,
  hugetlb_kib INTEGER,
  direct_map_4k_kib INTEGER,
  direct_map_2m_kib INTEGER,
  direct_map_4m_kib INTEGER,
  direct_map_1g_kib INTEGER,
  pswpin INTEGER,
  pswpout INTEGER,
  swpin_zero INTEGER,
  swpout_zero INTEGER,
  oom_kill INTEGER,
  allocstall_dma INTEGER,
  allocstall_dma32 INTEGER,
  allocstall_normal INTEGER,
  allocstall_movable INTEGER,
  allocstall_device INTEGER,
  pgscan_direct INTEGER,
  pgscan_khugepaged INTEGER,
  pgscan_proactive INTEGER,
  pgscan_direct_throttle INTEGER,
  pgscan_anon INTEGER,
  pgsteal_direct INTEGER,
  pgsteal_khugepaged INTEGER,
  pgsteal_proactive INTEGER,
  pgsteal_anon INTEGER,
  workingset_refault_anon INTEGER,
  workingset_activate_anon INTEGER,
  workingset_restore_anon INTEGER,
  workingset_restore_file INTEGER,
  workingset_nodereclaim INTEGER,
  kswapd_low_wmark_hit_quickly INTEGER,
  kswapd_high_wmark_hit_quickly INTEGER,
  pageoutrun INTEGER,
  drop_pagecache INTEGER,
  drop_slab INTEGER,
  compact_migrate_scanned INTEGER,
  compact_free_scanned INTEGER,
  compact_isolated INTEGER,
  compact_stall INTEGER,
  compact_fail INTEGER,
  compact_success INTEGER,
  compact_daemon_wake INTEGER,
  thp_fault_fallback INTEGER,
  thp_collapse_alloc INTEGER,
  thp_collapse_alloc_failed INTEGER,
  thp_split_page INTEGER,
  thp_split_page_failed INTEGER,
  thp_split_pmd INTEGER,
  thp_swpout INTEGER,
  thp_swpout_fallback INTEGER,
  zswpin INTEGER,
  zswpout INTEGER,
  zswpwb INTEGER,
  nr_vmscan_write INTEGER,
  nr_vmscan_immediate_reclaim INTEGER,
  sysv_kib INTEGER,                        -- resident and swapped pages of System V segments
  tmpfs_kib INTEGER                        -- used space of the tmpfs mounts
) STRICT;

-- Keys of /proc/meminfo without a column.
CREATE TABLE meminfo_key (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE meminfo_other (
  tick_id INTEGER NOT NULL,
  key_id INTEGER NOT NULL REFERENCES meminfo_key (id),
  value INTEGER,                           -- KiB if the kernel prints a unit; NULL: no longer printed
  PRIMARY KEY (tick_id, key_id)
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------------------------------------------------------------
-- Categories and cgroups.

-- Sums over the processes of a category. processes = 0: no process from this tick on. The view category_sample joins both tables.
CREATE TABLE category_total (
  tick_id INTEGER NOT NULL,
  category_id INTEGER NOT NULL REFERENCES category (id),
  processes INTEGER NOT NULL,
  inexact INTEGER NOT NULL,                -- processes whose PSS is not exact
  rss_kib INTEGER NOT NULL,
  pss_kib INTEGER NOT NULL,
  uss_kib INTEGER NOT NULL,
  PRIMARY KEY (tick_id, category_id)
) STRICT, WITHOUT ROWID;

-- Swap and huge pages (hugetlb) of a category. Without a row, all of these values are 0.
CREATE TABLE category_swap (
  tick_id INTEGER NOT NULL,
  category_id INTEGER NOT NULL REFERENCES category (id),
  swap_kib INTEGER NOT NULL,
  swap_pss_kib INTEGER NOT NULL,
  shared_swap_kib INTEGER NOT NULL,
  hugetlb_kib INTEGER NOT NULL,
  PRIMARY KEY (tick_id, category_id)
) STRICT, WITHOUT ROWID;

-- Counters of the memory controller for each cgroup with a process in or below it. If current_kib is NULL, the cgroup is unknown
-- or deleted from this tick on.
CREATE TABLE cgroup_sample (
  tick_id INTEGER NOT NULL,
  cgroup_id INTEGER NOT NULL REFERENCES cgroup (id),
  current_kib INTEGER,                     -- memory.current: what counts against the limits
  file_kib INTEGER,                        -- page cache, reclaimed before a limit is hit
  anon_kib INTEGER,
  shmem_kib INTEGER,
  kernel_kib INTEGER,
  swap_kib INTEGER,                        -- memory.swap.current
  max_kib INTEGER,                         -- memory.max; NULL: no limit
  high_kib INTEGER,                        -- memory.high; NULL: none, or unknown
  swap_max_kib INTEGER,                    -- memory.swap.max; NULL: no limit, or unknown
  PRIMARY KEY (tick_id, cgroup_id)
) STRICT, WITHOUT ROWID;

-- Slow-changing cgroup counters. NULL: not reported, or no limit.
CREATE TABLE cgroup_detail (
  tick_id INTEGER NOT NULL,
  cgroup_id INTEGER NOT NULL REFERENCES cgroup (id),
  min_kib INTEGER,
  low_kib INTEGER,
  peak_kib INTEGER,                        -- memory.peak since the cgroup's creation; v1: memory.max_usage_in_bytes
  swap_peak_kib INTEGER,
  low_events INTEGER,                      -- of memory.events, which includes descendants, like the next four
  high_events INTEGER,
  max_events INTEGER,                      -- v1: memory.failcnt
  oom_events INTEGER,
  oom_kills INTEGER,
  own_oom_kills INTEGER,                   -- of memory.events.local, without descendants; v1 has only these
  psi_some_total_us INTEGER,               -- memory.pressure
  psi_full_total_us INTEGER,
  PRIMARY KEY (tick_id, cgroup_id)
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------------------------------------------------------------
-- Mappings, System V segments, tmpfs. Not every tick reads them; a keyframe repeats the last reading.

CREATE TABLE mapping (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,                      -- file, anonymous, heap, stack, sysv, memfd, tmpfs …
  label TEXT,                              -- path as the kernel prints it, with " (deleted)"; '' without a path; NULL: the sum
                                           -- of the mappings of this kind beyond the largest
  UNIQUE (kind, label)
) STRICT;

-- The outcome of the last attempt to read a process's smaps.
CREATE TABLE mapping_summary (
  tick_id INTEGER NOT NULL,
  process_id INTEGER NOT NULL,
  state INTEGER NOT NULL,                  -- 0 exact, 1 deferred by the budget, 2 inaccessible; 3: no longer kept, or exited
  read_ms INTEGER,                         -- time of the reading in mapping_sample; NULL: never read
  regions INTEGER NOT NULL,                -- number of regions in that reading
  cpu_us INTEGER NOT NULL,                 -- cost of that reading
  wall_us INTEGER NOT NULL,
  PRIMARY KEY (tick_id, process_id)
) STRICT, WITHOUT ROWID;

-- Sums over a process's mappings of one kind and label. See the view mapping_at.
CREATE TABLE mapping_sample (
  tick_id INTEGER NOT NULL,
  process_id INTEGER NOT NULL,
  mapping_id INTEGER NOT NULL REFERENCES mapping (id),
  regions INTEGER NOT NULL,                -- 0: no longer mapped
  size_kib INTEGER,
  rss_kib INTEGER,                         -- NULL: the sum of the four shared and private columns; -1: unknown
  pss_kib INTEGER,                         -- NULL: the sum of the two private columns; -1: unknown
  shared_clean_kib INTEGER,
  shared_dirty_kib INTEGER,
  private_clean_kib INTEGER,
  private_dirty_kib INTEGER,
  swap_kib INTEGER,
  swap_pss_kib INTEGER,
  shared_swap_kib INTEGER,                 -- Swap of the regions whose permissions end in 's'
  object_kib INTEGER,                      -- allocated size of the shared memory, swap included; NULL: unknown, or not shared
  PRIMARY KEY (tick_id, process_id, mapping_id)
) STRICT, WITHOUT ROWID;

-- System V shared memory segments.
CREATE TABLE sysv_segment (
  id INTEGER PRIMARY KEY,
  boot_id INTEGER NOT NULL REFERENCES boot (id),
  shmid INTEGER NOT NULL,
  key INTEGER,                             -- 0: IPC_PRIVATE
  creator_pid INTEGER NOT NULL,            -- 0: unknown
  creator_uid INTEGER,
  size_kib INTEGER,
  first_ms INTEGER NOT NULL,               -- time of the first tick with it
  UNIQUE (boot_id, shmid, creator_pid)
) STRICT;

CREATE TABLE sysv_sample (
  tick_id INTEGER NOT NULL,
  segment_id INTEGER NOT NULL REFERENCES sysv_segment (id),
  attachments INTEGER,
  uid INTEGER,                             -- of the owner
  last_pid INTEGER,                        -- process of the last shmat or shmdt
  removed INTEGER,                         -- 1: the last detach will delete it
  rss_kib INTEGER,                         -- NULL: the segment is deleted, or no longer one of the largest
  swap_kib INTEGER,
  detached_ms INTEGER,                     -- time of the last detach; NULL: none
  PRIMARY KEY (tick_id, segment_id)
) STRICT, WITHOUT ROWID;

-- tmpfs mounts visible to the recorder, each file system once.
CREATE TABLE tmpfs (
  id INTEGER PRIMARY KEY,
  mount_point TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE tmpfs_sample (
  tick_id INTEGER NOT NULL,
  tmpfs_id INTEGER NOT NULL REFERENCES tmpfs (id),
  state INTEGER NOT NULL,                  -- 0 walked, 1 walked in part (too large, or a directory is inaccessible),
                                           -- 2 unreadable, 3 no longer mounted, 4 not walked yet
  source TEXT,                             -- device as given to mount(8)
  limit_kib INTEGER,                       -- NULL: none, or unknown
  used_kib INTEGER,
  inodes INTEGER,                          -- in use
  walked_ms INTEGER,                       -- time of the walk that found the following values; NULL: never walked
  entries INTEGER,                         -- hard links count once
  directories INTEGER,                     -- entries by type; all others are regular files
  symlinks INTEGER,
  sockets INTEGER,
  fifos INTEGER,
  devices INTEGER,
  closed INTEGER,                          -- directories that could not be read
  allocated_kib INTEGER,
  logical_kib INTEGER,                     -- st_size of all entries
  PRIMARY KEY (tick_id, tmpfs_id)
) STRICT, WITHOUT ROWID;

-- The largest directories and files of a tmpfs.
CREATE TABLE tmpfs_entry (
  id INTEGER PRIMARY KEY,
  tmpfs_id INTEGER NOT NULL REFERENCES tmpfs (id),
  path TEXT NOT NULL,                      -- below the mount point; '' is the mount point itself
  directory INTEGER NOT NULL,              -- 1: a directory, with everything below it
  UNIQUE (tmpfs_id, path, directory)
) STRICT;

CREATE TABLE tmpfs_entry_sample (
  tick_id INTEGER NOT NULL,
  entry_id INTEGER NOT NULL REFERENCES tmpfs_entry (id),
  allocated_kib INTEGER,                   -- space of its blocks; NULL: deleted, or no longer one of the largest
  logical_kib INTEGER,                     -- st_size
  entries INTEGER,                         -- number of entries in a directory, with everything below it; 1 for a file
  uid INTEGER,                             -- of the owner
  changed_ms INTEGER,                      -- time of the last write; for a directory, of the last write below it
  PRIMARY KEY (tick_id, entry_id)
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------------------------------------------------------------
-- Extremes and high-water marks.

-- Metrics of processes, groups and the machine that have high-water marks or rollups. The numbers never change.
CREATE TABLE metric (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,                      -- as in --by of memoir; the machine and processes both have a `swap`
  column_name TEXT NOT NULL UNIQUE,
  has_marks INTEGER NOT NULL,
  lowest INTEGER NOT NULL                  -- the mark is the lowest value
) STRICT;

INSERT INTO metric (id, name, column_name, has_marks, lowest)
VALUES @metric_rows@;

-- Values between two ticks that are significantly beyond those of both ticks. Scans, exits, VmHWM and cgroup counters show
-- them.
CREATE TABLE extreme (
  tick_id INTEGER NOT NULL,                -- the later one of the two ticks
  subject INTEGER NOT NULL,                -- 0 machine, 1 category, 2 process, 4 cgroup; it may have exited since
  subject_id INTEGER NOT NULL,             -- category.id, process.id, cgroup.id; 0 for the machine
  metric INTEGER NOT NULL REFERENCES metric (id),
  low_kib INTEGER,                         -- NULL for a cgroup
  low_before_ms INTEGER,                   -- how long before the tick the lowest value was observed
  high_kib INTEGER,
  high_before_ms INTEGER,                  -- how long before the tick the highest value was observed
  high_after_ms INTEGER,                   -- how long before the tick the value was last lower; NULL: reached at an unknown time
                                           -- since the previous tick
  high_seen_by INTEGER,                    -- as in mark; NULL: a scan
  PRIMARY KEY (tick_id, subject, subject_id, metric)
) STRICT, WITHOUT ROWID;

-- High-water marks by UTC day and of all time. They are kept longer than the rows they come from. For some metrics (metric.lowest)
-- the mark is the lowest value. A high-water mark of 0 is not stored. A process that ran within one UTC day has no mark of all
-- time, because the mark of that day is the same.
CREATE TABLE mark (
  day INTEGER NOT NULL,                    -- days since the epoch, UTC; -1: of all time
  subject INTEGER NOT NULL,                -- 0 machine, 1 category, 2 process, 3 identity, 4 cgroup
  subject_id INTEGER NOT NULL,             -- category.id, process.id, identity.id, cgroup.id; 0 for the machine
  metric INTEGER NOT NULL REFERENCES metric (id),
  value_kib INTEGER NOT NULL,
  after_ms INTEGER NOT NULL,               -- time from the start of the day (all time: from the epoch) to the observation
  before_ms INTEGER NOT NULL,              -- length of the interval before that time in which it was reached
  seen_by INTEGER NOT NULL,                -- 0 a tick, 1 a scan between two ticks, 2 the kernel's report of the exit,
                                           -- 3 memory.peak or memory.swap.peak of the cgroup (v1: memory.max_usage_in_bytes)
  PRIMARY KEY (day, subject, metric, subject_id)
) STRICT, WITHOUT ROWID;

-- Marks of days that recent ticks raised, in the order of recording. Ticks only append to this table, so that each writes about
-- one page. Every quarter of an hour, and at the end of a run, the highest mark of each key moves to the table mark. The view
-- high_water has the marks of both tables.
CREATE TABLE raised_mark (
  id INTEGER PRIMARY KEY,
  day INTEGER NOT NULL,
  subject INTEGER NOT NULL,
  subject_id INTEGER NOT NULL,
  metric INTEGER NOT NULL REFERENCES metric (id),
  value_kib INTEGER NOT NULL,
  after_ms INTEGER NOT NULL,
  before_ms INTEGER NOT NULL,
  seen_by INTEGER NOT NULL
) STRICT;

-- ---------------------------------------------------------------------------------------------------------------------
-- Rollups and retention.

-- One row: the progress of the rollups. They include all ticks before tick_id, and the time up to tick_id. A step in progress
-- reaches up to target_tick_id, and has written the subjects before (next_subject, next_subject_id).
CREATE TABLE rollup_progress (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  tick_id INTEGER NOT NULL,                -- 0: nothing is rolled up yet
  target_tick_id INTEGER NOT NULL,         -- equals tick_id if no step is in progress
  next_subject INTEGER NOT NULL,
  next_subject_id INTEGER NOT NULL,
  attempts INTEGER NOT NULL                -- attempts at the next step that ended before anything was written
) STRICT;

INSERT INTO rollup_progress (id, tick_id, target_tick_id, next_subject, next_subject_id, attempts) VALUES (1, 0, 0, 0, 0, 0);

-- One row: how long each tier is kept (0: forever), how large the file may be with its -wal (0: unlimited), and the cutoffs so
-- far. *_ms is a duration by the recorder's own clock (stretch.recorded_ms). *_cut is a time by that clock: older rows are deleted
-- or being deleted. *_from_ms is the cutoff as a wall time: rows before it are no longer read.
CREATE TABLE retention (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  raw_ms INTEGER NOT NULL,
  five_minutes_ms INTEGER NOT NULL,
  hour_ms INTEGER NOT NULL,
  day_ms INTEGER NOT NULL,
  max_bytes INTEGER NOT NULL,
  five_minutes_cut INTEGER NOT NULL,
  hour_cut INTEGER NOT NULL,
  day_cut INTEGER NOT NULL,
  five_minutes_from_ms INTEGER NOT NULL,
  hour_from_ms INTEGER NOT NULL,
  day_from_ms INTEGER NOT NULL
) STRICT;

INSERT INTO retention (id, raw_ms, five_minutes_ms, hour_ms, day_ms, max_bytes, five_minutes_cut, hour_cut, day_cut,
  five_minutes_from_ms, hour_from_ms, day_from_ms)
VALUES (1, 604800000, 5184000000, 34560000000, 0, 2147483648, 0, 0, 0, 0, 0, 0);

-- The size of the store on each of the last days of recording (stretch.recorded_ms / 86400000).
CREATE TABLE store_size (
  recorded_day INTEGER PRIMARY KEY,
  used_bytes INTEGER NOT NULL              -- size of the pages in use
) STRICT;

-- Rollups at 5 minutes, 1 hour and 1 day. Each bucket has the min, the mean over time, the max and the last value of each metric.
-- Rows are ordered by block (the hour or the day), so that a block is written, read and deleted as a whole; within a block they
-- are ordered by subject.
--
-- A row covers `buckets` buckets from `slot` on. The buckets after the first were recorded completely, without any change.
-- *_kib is the last value of the bucket; NULL: unknown. The others are differences from it: *_low = last - min,
-- *_mean = mean - last, *_high = max - last. Those of rss, pss and uss are NULL if they equal those of anon. The views memory_*
-- compute plain values.
--
-- A process has rows of its own in a tier once it has run for 15 minutes, an hour or a day. The rows of its groups always
-- include it.

@for each tier@
CREATE TABLE rollup_@tier@ (
  @block@ INTEGER NOT NULL,                -- @block@s since the epoch, UTC
  subject INTEGER NOT NULL,                -- 1 category, 2 process, 3 identity, 4 cgroup
  subject_id INTEGER NOT NULL,
  slot INTEGER NOT NULL,                   -- the bucket within the block, from 0
  buckets INTEGER NOT NULL,
  covered_ms INTEGER,                      -- recorded time of the first bucket; NULL: all of it
  processes INTEGER NOT NULL,              -- highest number of members alive at one time
  anon_kib INTEGER, anon_low INTEGER, anon_mean INTEGER, anon_high INTEGER,
  rss_kib INTEGER, rss_low INTEGER, rss_mean INTEGER, rss_high INTEGER,
  pss_kib INTEGER, pss_low INTEGER, pss_mean INTEGER, pss_high INTEGER,
  uss_kib INTEGER, uss_low INTEGER, uss_mean INTEGER, uss_high INTEGER,
  pss_inexact_bp INTEGER,                  -- share of the mean of PSS that is not exact; NULL: PSS is unknown@peak_column@
  PRIMARY KEY (@block@, subject, subject_id, slot)
) STRICT, WITHOUT ROWID;

-- Swap and huge pages (hugetlb) for the row of rollup_@tier@ with the same key. Without a row here, swap and hugetlb are 0 if
-- anon_kib is known, and swap_pss is 0 if uss_kib is known; otherwise they are unknown.
CREATE TABLE swap_@tier@ (
  @block@ INTEGER NOT NULL,
  subject INTEGER NOT NULL,
  subject_id INTEGER NOT NULL,
  slot INTEGER NOT NULL,
  buckets INTEGER NOT NULL,
  swap_kib INTEGER, swap_low INTEGER, swap_mean INTEGER, swap_high INTEGER,
  swap_pss_kib INTEGER, swap_pss_low INTEGER, swap_pss_mean INTEGER, swap_pss_high INTEGER,
  hugetlb_kib INTEGER, hugetlb_low INTEGER, hugetlb_mean INTEGER, hugetlb_high INTEGER,
  PRIMARY KEY (@block@, subject, subject_id, slot)
) STRICT, WITHOUT ROWID;

CREATE TABLE machine_@tier@ (
  @block@ INTEGER NOT NULL,
  metric INTEGER NOT NULL REFERENCES metric (id),
  slot INTEGER NOT NULL,
  buckets INTEGER NOT NULL,
  covered_ms INTEGER,
  value INTEGER,                           -- the last value of the bucket
  low INTEGER,
  mean INTEGER,
  high INTEGER,
  low_after_ms INTEGER,                    -- when mem_available_kib was first lowest, from the start of the first bucket
  high_after_ms INTEGER,                   -- when used_kib or swap_used_kib was first highest
  PRIMARY KEY (@block@, metric, slot)
) STRICT, WITHOUT ROWID;

-- Sums of the counts of ticks. A tick counts events up to its time, so a tick exactly at the start of a bucket belongs to the
-- previous bucket.
CREATE TABLE activity_@tier@ (
  @block@ INTEGER NOT NULL,
  slot INTEGER NOT NULL,
  ticks INTEGER NOT NULL,
  reported_ticks INTEGER NOT NULL,         -- ticks with kernel events; without them, processes that ran between ticks are unknown
  lost_events INTEGER NOT NULL,
  started INTEGER NOT NULL,
  exited INTEGER NOT NULL,
  short_lived INTEGER NOT NULL,
  alive INTEGER,                           -- at the last tick
  oom_kills INTEGER,                       -- NULL: unknown
  PRIMARY KEY (@block@, slot)
) STRICT, WITHOUT ROWID;

@end@
