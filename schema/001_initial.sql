-- Memoir's store, schema 1. Sizes are KiB (…_kib), times milliseconds since the Unix epoch in UTC (…_ms), …_us microseconds.
-- NULL is "not known": the kernel does not print it, or the process did not let it be read. It is never 0.
--
-- Process, machine and category samples hold changes only: a row holds until the next one of the same subject. At each
-- keyframe (the first and last tick of a run, and hourly) every live subject has a row, so the state at tick T is: for each
-- subject that lives at T, its last row between the last keyframe at or before T, and T. The views do that (views.sql).

-- One boot of one kernel.
CREATE TABLE boot (
  id INTEGER PRIMARY KEY,
  boot_uuid TEXT NOT NULL UNIQUE,          -- /proc/sys/kernel/random/boot_id
  started_ms INTEGER NOT NULL,             -- btime
  host TEXT NOT NULL,
  kernel TEXT NOT NULL
) STRICT;

-- One run of the recorder with one configuration.
CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  boot_id INTEGER NOT NULL REFERENCES boot (id),
  started_ms INTEGER NOT NULL,
  ended_ms INTEGER,                        -- NULL: it is running, or died and no other run has begun since
  end_reason TEXT,                         -- stopped, duration, once, reload, unclean (it died)
  pid INTEGER NOT NULL,
  version TEXT NOT NULL,
  interval_ms INTEGER NOT NULL,
  first_tick_id INTEGER NOT NULL           -- its ticks are those from here to the next run's
) STRICT;

-- One pass over the machine. Its number goes up in the order of recording, whatever the wall clock does.
CREATE TABLE tick (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES run (id),
  wall_ms INTEGER NOT NULL,                -- before the first read
  boot_ms INTEGER NOT NULL,                -- the same moment on the boot clock, which never steps
  keyframe_id INTEGER NOT NULL,            -- the last keyframe at or before this tick: itself, or an earlier one of its run
  skipped INTEGER NOT NULL,                -- slots passed over before this tick, because the one before overran
  duration_ms INTEGER NOT NULL,            -- from the first read to the last
  seen INTEGER NOT NULL,
  kernel_threads INTEGER NOT NULL,
  born INTEGER NOT NULL,
  exited INTEGER NOT NULL,
  execed INTEGER NOT NULL,
  denied INTEGER NOT NULL,
  vanished INTEGER NOT NULL,
  blocked INTEGER NOT NULL,
  zombies INTEGER NOT NULL,
  malformed INTEGER NOT NULL,
  cpu_us INTEGER NOT NULL,                 -- of the whole pass, and by kind of file below
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
  machine_wall_us INTEGER NOT NULL
) STRICT;

CREATE INDEX tick_wall ON tick (wall_ms);

-- Names that repeat, each stored once.
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

CREATE TABLE cgroup (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE command (
  id INTEGER PRIMARY KEY,
  exe TEXT NOT NULL,                       -- '' where it could not be read
  line TEXT NOT NULL,                      -- arguments, redacted, joined by a space
  UNIQUE (exe, line)
) STRICT;

-- One life of one program image. An exec begins a new one.
CREATE TABLE process (
  id INTEGER PRIMARY KEY,
  boot_id INTEGER NOT NULL REFERENCES boot (id),
  pid INTEGER NOT NULL,
  start_ticks INTEGER NOT NULL,            -- clock ticks after boot, field 22 of /proc/PID/stat
  exec_count INTEGER NOT NULL,             -- execs seen since the first sight of this pid and start
  start_ms INTEGER NOT NULL,
  parent_pid INTEGER NOT NULL,             -- at first sight
  comm TEXT NOT NULL,
  user_id INTEGER NOT NULL REFERENCES user (id),
  command_id INTEGER NOT NULL REFERENCES command (id),
  category_id INTEGER NOT NULL REFERENCES category (id),
  cgroup_id INTEGER NOT NULL REFERENCES cgroup (id),
  cwd TEXT NOT NULL,                       -- at birth; '' where it could not be read
  first_tick_id INTEGER NOT NULL,
  gone_tick_id INTEGER,                    -- the first tick without it; NULL: alive at the last tick of its run; first_tick_id:
                                           -- only ticks saw it that could not be stored, so there is no sample of it
  end_kind TEXT,                           -- exited, execed, unknown (it ended while nothing was recorded)
  UNIQUE (boot_id, pid, start_ticks, exec_count)
) STRICT;

-- What moves when a process's memory moves. Seven columns (ten since schema 8) are stored only where they are not what the
-- others mostly make them, and are NULL otherwise; the view process_sample_full fills them in:
--   vm_rss      rss_anon + rss_file + rss_shmem
--   rss         with source exact shared_clean + shared_dirty + private_clean + private_dirty, else vm_rss
--   pss         pss_anon + pss_file + pss_shmem (each is rounded on its own)
--   pss_dirty   pss_anon + pss_shmem
--   anonymous   rss_anon
--   referenced  rss
--   vm_hwm      vm_rss
-- -1 says that such a value is not known although the others would make one.
CREATE TABLE process_sample (
  tick_id INTEGER NOT NULL,
  process_id INTEGER NOT NULL,
  source INTEGER NOT NULL,                 -- 0 exact, 2 estimated, 3 approximate, 4 inaccessible; 5: it was
                                           -- not there for a while from this tick on, and came back
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

-- What seldom moves, or only when memory is short, by the same rule of changes and keyframes.
CREATE TABLE process_detail (
  tick_id INTEGER NOT NULL,
  process_id INTEGER NOT NULL,
  state TEXT NOT NULL,                     -- R S D Z T t X I
  parent_pid INTEGER NOT NULL,
  threads INTEGER NOT NULL,
  ksm_kib INTEGER,
  lazy_free_kib INTEGER,
  anon_huge_pages_kib INTEGER,
  shmem_pmd_mapped_kib INTEGER,
  file_pmd_mapped_kib INTEGER,
  shared_hugetlb_kib INTEGER,
  private_hugetlb_kib INTEGER,
  swap_kib INTEGER,
  swap_pss_kib INTEGER,
  locked_kib INTEGER,
  vm_peak_kib INTEGER,
  vm_size_kib INTEGER,
  vm_lck_kib INTEGER,
  vm_pin_kib INTEGER,
  vm_data_kib INTEGER,
  vm_stk_kib INTEGER,
  vm_exe_kib INTEGER,
  vm_lib_kib INTEGER,
  vm_pte_kib INTEGER,
  vm_swap_kib INTEGER,
  hugetlb_pages_kib INTEGER,
  PRIMARY KEY (tick_id, process_id)
) STRICT, WITHOUT ROWID;

-- What moves in /proc/meminfo, /proc/vmstat and /proc/pressure/memory on a machine that works,
CREATE TABLE machine_sample (
  tick_id INTEGER PRIMARY KEY,
  mem_free_kib INTEGER,
  mem_available_kib INTEGER,
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

-- and what seldom moves, or only when memory is short.
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
  nr_vmscan_immediate_reclaim INTEGER
) STRICT;

-- Keys of /proc/meminfo that have no column.
CREATE TABLE meminfo_key (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE meminfo_other (
  tick_id INTEGER NOT NULL,
  key_id INTEGER NOT NULL REFERENCES meminfo_key (id),
  value INTEGER,                           -- KiB where the kernel gives a unit; NULL: not printed any more
  PRIMARY KEY (tick_id, key_id)
) STRICT, WITHOUT ROWID;

-- Totals over the processes of a category. processes = 0 ends it.
CREATE TABLE category_sample (
  tick_id INTEGER NOT NULL,
  category_id INTEGER NOT NULL REFERENCES category (id),
  processes INTEGER NOT NULL,
  inexact INTEGER NOT NULL,                -- processes whose values are not exact
  rss_kib INTEGER NOT NULL,
  pss_kib INTEGER NOT NULL,
  uss_kib INTEGER NOT NULL,
  swap_kib INTEGER NOT NULL,
  swap_pss_kib INTEGER NOT NULL,
  PRIMARY KEY (tick_id, category_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE high_water_metric (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

INSERT INTO high_water_metric (id, name)
VALUES (0, 'used'), (1, 'available'), (2, 'swap'), (3, 'pss'), (4, 'rss'), (5, 'uss'), (6, 'hwm');

-- High-water marks per UTC day and of all time; they outlive the rows they come from. They are written every few minutes, when
-- their process ends, and at the end of a run. Of `available` the lowest counts. A mark of 0 is not stored.
CREATE TABLE high_water (
  day_ms INTEGER NOT NULL,                 -- start of the UTC day; -1: of all time
  subject INTEGER NOT NULL,                -- 0 machine, 1 category, 2 process
  subject_id INTEGER NOT NULL,             -- category.id, process.id; 0 for the machine
  metric INTEGER NOT NULL REFERENCES high_water_metric (id),
  value_kib INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,                  -- the tick that had it
  before_ms INTEGER NOT NULL,              -- the tick before: it was reached in between
  PRIMARY KEY (day_ms, subject, subject_id, metric)
) STRICT, WITHOUT ROWID;

-- One row: high_water holds what the ticks up to this one had; the rows after it are still to be counted in.
CREATE TABLE high_water_mark (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  tick_id INTEGER NOT NULL
) STRICT;

INSERT INTO high_water_mark (id, tick_id) VALUES (1, 0);

CREATE TABLE event (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES run (id),
  wall_ms INTEGER NOT NULL,
  boot_ms INTEGER NOT NULL,
  kind TEXT NOT NULL,                      -- unclean, gap, clock-step, reload, lost, degraded
  text TEXT NOT NULL
) STRICT;
