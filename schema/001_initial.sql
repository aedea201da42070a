-- Memoir's store, schema 1. Sizes are KiB (…_kib), times milliseconds since the Unix epoch in UTC (…_ms), …_us microseconds.
-- NULL is "not known": the kernel does not print it, or the process did not let it be read. It is never 0.
--
-- Process, machine and category samples hold changes only: a row holds until the next one of the same subject. At each
-- keyframe (the first and last tick of a run, and hourly) every live subject has a row, so the state at tick T is: for each
-- subject that lives at T, its last row between the last keyframe at or before T, and T. The views at the end do that.

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

-- What moves when a process's memory moves. Seven columns are stored only where they are not what the others mostly make them,
-- and are NULL otherwise; the view process_sample_full fills them in:
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

-- Views. Times of people: datetime(wall_ms / 1000, 'unixepoch', 'localtime').

-- Processes with their names.
CREATE VIEW process_named AS
SELECT p.id, b.boot_uuid, p.pid, p.start_ticks, p.exec_count, p.start_ms, p.parent_pid, u.uid, u.name AS user, p.comm,
  c.exe, c.line AS command, g.path AS cgroup, p.cwd, y.name AS category, p.first_tick_id, p.gone_tick_id,
  (SELECT t.wall_ms FROM tick AS t WHERE t.id = p.first_tick_id) AS first_ms,
  (SELECT t.wall_ms FROM tick AS t WHERE t.id = COALESCE(MAX(p.gone_tick_id - 1, p.first_tick_id), (SELECT MAX(l.id) FROM tick AS l))) AS last_ms,
  (SELECT t.wall_ms FROM tick AS t WHERE t.id = p.gone_tick_id) AS gone_ms,
  p.end_kind
FROM process AS p
JOIN boot AS b ON b.id = p.boot_id
JOIN user AS u ON u.id = p.user_id
JOIN command AS c ON c.id = p.command_id
JOIN category AS y ON y.id = p.category_id
JOIN cgroup AS g ON g.id = p.cgroup_id;

-- The row of process_sample, and that of process_detail, which holds at a tick.
CREATE VIEW process_sample_at AS
SELECT t.id AS tick_id, s.process_id, MAX(s.tick_id) AS sample_tick_id
FROM tick AS t
JOIN process_sample AS s ON s.tick_id BETWEEN t.keyframe_id AND t.id
GROUP BY t.id, s.process_id;

CREATE VIEW process_detail_at AS
SELECT t.id AS tick_id, d.process_id, MAX(d.tick_id) AS detail_tick_id
FROM tick AS t
JOIN process_detail AS d ON d.tick_id BETWEEN t.keyframe_id AND t.id
GROUP BY t.id, d.process_id;

-- process_sample with the columns filled in that it leaves out.
CREATE VIEW process_sample_full AS
SELECT tick_id, process_id, source, rss_kib,
  NULLIF(COALESCE(pss_kib, pss_anon_kib + pss_file_kib + pss_shmem_kib), -1) AS pss_kib,
  NULLIF(COALESCE(pss_dirty_kib, pss_anon_kib + pss_shmem_kib), -1) AS pss_dirty_kib,
  NULLIF(COALESCE(referenced_kib, rss_kib), -1) AS referenced_kib,
  NULLIF(COALESCE(anonymous_kib, rss_anon_kib), -1) AS anonymous_kib,
  NULLIF(COALESCE(vm_hwm_kib, vm_rss_kib), -1) AS vm_hwm_kib,
  vm_rss_kib,
  pss_anon_kib, pss_file_kib, pss_shmem_kib, shared_clean_kib, shared_dirty_kib, private_clean_kib, private_dirty_kib,
  rss_anon_kib, rss_file_kib, rss_shmem_kib
FROM (
  SELECT tick_id, process_id, source,
    NULLIF(COALESCE(rss_kib, CASE source
      WHEN 0 THEN shared_clean_kib + shared_dirty_kib + private_clean_kib + private_dirty_kib
      ELSE NULLIF(COALESCE(vm_rss_kib, rss_anon_kib + rss_file_kib + rss_shmem_kib), -1) END), -1) AS rss_kib,
    NULLIF(COALESCE(vm_rss_kib, rss_anon_kib + rss_file_kib + rss_shmem_kib), -1) AS vm_rss_kib,
    pss_kib, pss_dirty_kib, referenced_kib, anonymous_kib, vm_hwm_kib,
    pss_anon_kib, pss_file_kib, pss_shmem_kib, shared_clean_kib, shared_dirty_kib, private_clean_kib,
    private_dirty_kib, rss_anon_kib, rss_file_kib, rss_shmem_kib
  FROM process_sample
);

-- Every process at every tick. Ask for one tick_id, else it is the whole history:
--   SELECT pid, comm, pss_kib FROM process_at
--   WHERE tick_id = (SELECT id FROM tick WHERE wall_ms <= unixepoch('2026-11-20 03:14', 'utc') * 1000 ORDER BY wall_ms DESC, id DESC LIMIT 1)
--   ORDER BY pss_kib DESC LIMIT 20;
CREATE VIEW process_at AS
SELECT t.id AS tick_id, t.wall_ms, p.id AS process_id, p.boot_uuid, p.pid, p.start_ticks, p.exec_count, p.start_ms,
  d.parent_pid, p.uid, p.user, p.comm, p.exe, p.command, p.cgroup, p.cwd, p.category, d.state, d.threads,
  CASE s.source WHEN 0 THEN 'exact' WHEN 2 THEN 'estimated' WHEN 3 THEN 'approximate' ELSE 'inaccessible' END AS source,
  s.private_clean_kib + s.private_dirty_kib AS uss_kib,
  s.rss_kib, s.pss_kib, s.pss_dirty_kib, s.pss_anon_kib, s.pss_file_kib, s.pss_shmem_kib, s.shared_clean_kib,
  s.shared_dirty_kib, s.private_clean_kib, s.private_dirty_kib, s.referenced_kib, s.anonymous_kib, s.vm_hwm_kib,
  s.vm_rss_kib, s.rss_anon_kib, s.rss_file_kib, s.rss_shmem_kib, d.ksm_kib, d.lazy_free_kib, d.anon_huge_pages_kib,
  d.shmem_pmd_mapped_kib, d.file_pmd_mapped_kib, d.shared_hugetlb_kib, d.private_hugetlb_kib, d.swap_kib,
  d.swap_pss_kib, d.locked_kib, d.vm_peak_kib, d.vm_size_kib, d.vm_lck_kib, d.vm_pin_kib, d.vm_data_kib, d.vm_stk_kib,
  d.vm_exe_kib, d.vm_lib_kib, d.vm_pte_kib, d.vm_swap_kib, d.hugetlb_pages_kib
FROM tick AS t
JOIN process_sample_at AS h ON h.tick_id = t.id
JOIN process_detail_at AS c ON c.tick_id = t.id AND c.process_id = h.process_id
JOIN process_sample_full AS s ON s.tick_id = h.sample_tick_id AND s.process_id = h.process_id
JOIN process_detail AS d ON d.tick_id = c.detail_tick_id AND d.process_id = c.process_id
JOIN process_named AS p ON p.id = h.process_id
WHERE s.source <> 5 AND (p.gone_tick_id IS NULL OR p.gone_tick_id > t.id);

-- Every process at the last tick.
CREATE VIEW latest AS
SELECT t.id AS tick_id, t.wall_ms, p.id AS process_id, p.pid, p.user, p.comm, p.command, p.cgroup, p.category, d.state, d.threads,
  s.rss_kib, s.pss_kib, s.private_clean_kib + s.private_dirty_kib AS uss_kib, d.swap_kib, d.swap_pss_kib,
  MAX(s.vm_hwm_kib, s.vm_rss_kib, s.rss_kib) AS high_water_kib
FROM (SELECT id, wall_ms FROM tick ORDER BY id DESC LIMIT 1) AS t
JOIN (
  SELECT process_id, MAX(tick_id) AS tick_id FROM process_sample
  WHERE tick_id >= (SELECT keyframe_id FROM tick ORDER BY id DESC LIMIT 1) GROUP BY process_id
) AS h
JOIN (
  SELECT process_id, MAX(tick_id) AS tick_id FROM process_detail
  WHERE tick_id >= (SELECT keyframe_id FROM tick ORDER BY id DESC LIMIT 1) GROUP BY process_id
) AS c ON c.process_id = h.process_id
JOIN process_sample_full AS s ON s.tick_id = h.tick_id AND s.process_id = h.process_id
JOIN process_detail AS d ON d.tick_id = c.tick_id AND d.process_id = c.process_id
JOIN process_named AS p ON p.id = h.process_id
WHERE s.source <> 5 AND p.gone_tick_id IS NULL;

-- Every category at every tick; ask for one tick_id.
CREATE VIEW category_at AS
SELECT tick_id, wall_ms, category, processes, inexact, rss_kib, pss_kib, uss_kib, swap_kib, swap_pss_kib
FROM (
  SELECT t.id AS tick_id, t.wall_ms, c.name AS category, s.processes, s.inexact, s.rss_kib, s.pss_kib, s.uss_kib, s.swap_kib,
    s.swap_pss_kib, MAX(s.tick_id) AS sample_tick_id
  FROM tick AS t
  JOIN category_sample AS s ON s.tick_id BETWEEN t.keyframe_id AND t.id
  JOIN category AS c ON c.id = s.category_id
  GROUP BY t.id, s.category_id
)
WHERE processes > 0;

-- The machine at every tick.
CREATE VIEW machine_at AS
SELECT t.id AS tick_id, t.wall_ms, d.mem_total_kib - s.mem_available_kib AS used_kib,
  d.swap_total_kib - d.swap_free_kib AS swap_used_kib,
  s.mem_free_kib, s.mem_available_kib, s.buffers_kib, s.cached_kib, s.active_kib, s.inactive_kib, s.active_anon_kib,
  s.inactive_anon_kib, s.active_file_kib, s.inactive_file_kib, s.dirty_kib, s.writeback_kib, s.anon_pages_kib,
  s.mapped_kib, s.shmem_kib, s.kernel_reclaimable_kib, s.slab_kib, s.slab_reclaimable_kib, s.slab_unreclaimable_kib,
  s.kernel_stack_kib, s.page_tables_kib, s.committed_as_kib, s.vmalloc_used_kib, s.percpu_kib, s.anon_huge_pages_kib,
  s.pgfault, s.pgmajfault, s.pgscan_kswapd, s.pgscan_file, s.pgsteal_kswapd, s.pgsteal_file, s.workingset_nodes,
  s.workingset_refault_file, s.workingset_activate_file, s.thp_fault_alloc, s.psi_some_avg10_bp, s.psi_some_avg60_bp,
  s.psi_some_avg300_bp, s.psi_some_total_us, s.psi_full_avg10_bp, s.psi_full_avg60_bp, s.psi_full_avg300_bp,
  s.psi_full_total_us,
  d.mem_total_kib, d.swap_cached_kib, d.unevictable_kib, d.mlocked_kib, d.swap_total_kib, d.swap_free_kib,
  d.zswap_kib, d.zswapped_kib, d.shadow_call_stack_kib, d.sec_page_tables_kib, d.nfs_unstable_kib, d.bounce_kib,
  d.writeback_tmp_kib, d.commit_limit_kib, d.vmalloc_total_kib, d.vmalloc_chunk_kib, d.hardware_corrupted_kib,
  d.shmem_huge_pages_kib, d.shmem_pmd_mapped_kib, d.file_huge_pages_kib, d.file_pmd_mapped_kib, d.cma_total_kib,
  d.cma_free_kib, d.unaccepted_kib, d.balloon_kib, d.huge_pages_total_kib, d.huge_pages_free_kib,
  d.huge_pages_rsvd_kib, d.huge_pages_surp_kib, d.hugepage_size_kib, d.hugetlb_kib, d.direct_map_4k_kib,
  d.direct_map_2m_kib, d.direct_map_4m_kib, d.direct_map_1g_kib, d.pswpin, d.pswpout, d.swpin_zero, d.swpout_zero,
  d.oom_kill, d.allocstall_dma, d.allocstall_dma32, d.allocstall_normal, d.allocstall_movable, d.allocstall_device,
  d.pgscan_direct, d.pgscan_khugepaged, d.pgscan_proactive, d.pgscan_direct_throttle, d.pgscan_anon, d.pgsteal_direct,
  d.pgsteal_khugepaged, d.pgsteal_proactive, d.pgsteal_anon, d.workingset_refault_anon, d.workingset_activate_anon,
  d.workingset_restore_anon, d.workingset_restore_file, d.workingset_nodereclaim, d.kswapd_low_wmark_hit_quickly,
  d.kswapd_high_wmark_hit_quickly, d.pageoutrun, d.drop_pagecache, d.drop_slab, d.compact_migrate_scanned,
  d.compact_free_scanned, d.compact_isolated, d.compact_stall, d.compact_fail, d.compact_success,
  d.compact_daemon_wake, d.thp_fault_fallback, d.thp_collapse_alloc, d.thp_collapse_alloc_failed, d.thp_split_page,
  d.thp_split_page_failed, d.thp_split_pmd, d.thp_swpout, d.thp_swpout_fallback, d.zswpin, d.zswpout, d.zswpwb,
  d.nr_vmscan_write, d.nr_vmscan_immediate_reclaim
FROM tick AS t
JOIN machine_sample AS s ON s.tick_id = (SELECT MAX(l.tick_id) FROM machine_sample AS l WHERE l.tick_id <= t.id)
JOIN machine_detail AS d ON d.tick_id = (SELECT MAX(l.tick_id) FROM machine_detail AS l WHERE l.tick_id <= t.id);

-- High-water marks with their names. Those of the ticks after high_water_mark.tick_id are not in them yet.
CREATE VIEW high_water_named AS
SELECT CASE h.day_ms WHEN -1 THEN 'all time' ELSE date(h.day_ms / 1000, 'unixepoch') END AS day,
  CASE h.subject WHEN 0 THEN 'machine' WHEN 1 THEN 'category' ELSE 'process' END AS subject,
  CASE h.subject WHEN 0 THEN b.host WHEN 1 THEN c.name ELSE p.comm || '[' || p.pid || ']' END AS name,
  m.name AS metric, h.value_kib, h.at_ms, h.before_ms, h.subject_id
FROM high_water AS h
JOIN high_water_metric AS m ON m.id = h.metric
LEFT JOIN boot AS b ON h.subject = 0 AND b.id = (SELECT MAX(id) FROM boot)
LEFT JOIN category AS c ON h.subject = 1 AND c.id = h.subject_id
LEFT JOIN process AS p ON h.subject = 2 AND p.id = h.subject_id;

-- Runs, and what each of them recorded.
CREATE VIEW run_named AS
SELECT r.id, r.boot_uuid, r.boot_started_ms, r.host, r.kernel, r.pid, r.version, r.interval_ms, r.started_ms, r.ended_ms,
  r.end_reason, f.wall_ms AS first_tick_ms, l.wall_ms AS last_tick_ms, COALESCE(l.id - f.id + 1, 0) AS ticks
FROM (
  SELECT r.*, b.boot_uuid, b.started_ms AS boot_started_ms, b.host, b.kernel,
    COALESCE((SELECT n.first_tick_id FROM run AS n WHERE n.id > r.id ORDER BY n.id LIMIT 1) - 1,
      (SELECT MAX(t.id) FROM tick AS t)) AS last_tick_id
  FROM run AS r
  JOIN boot AS b ON b.id = r.boot_id
) AS r
LEFT JOIN tick AS f ON f.id = r.first_tick_id AND f.run_id = r.id
LEFT JOIN tick AS l ON l.id = r.last_tick_id AND l.run_id = r.id;
