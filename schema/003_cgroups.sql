-- Schema 3: what cgroups may hold and hold, the parts of shmem that belong to no process, and less written at each birth.

-- System V segments and what the tmpfs mounts hold, with what of them was swapped out.
ALTER TABLE machine_detail ADD COLUMN sysv_kib INTEGER;
ALTER TABLE machine_detail ADD COLUMN tmpfs_kib INTEGER;

-- Cgroups that a process is in or below, by the rule of changes and keyframes. current_kib NULL: from this tick on it
-- is not known any more, or gone.
CREATE TABLE cgroup_sample (
  tick_id INTEGER NOT NULL,
  cgroup_id INTEGER NOT NULL REFERENCES cgroup (id),
  current_kib INTEGER,                     -- memory.current: what counts against the limits
  file_kib INTEGER,                        -- of that, page cache, which is given up before a limit is hit
  swap_kib INTEGER,                        -- memory.swap.current
  max_kib INTEGER,                         -- memory.max; NULL: no limit
  high_kib INTEGER,                        -- memory.high; NULL: none, or not known
  swap_max_kib INTEGER,                    -- memory.swap.max; NULL: no limit, or not known
  PRIMARY KEY (tick_id, cgroup_id)
) STRICT, WITHOUT ROWID;

-- Every such cgroup at every tick; ask for one tick_id.
CREATE VIEW cgroup_at AS
SELECT tick_id, wall_ms, cgroup, current_kib, file_kib, swap_kib, max_kib, high_kib, swap_max_kib
FROM (
  SELECT t.id AS tick_id, t.wall_ms, g.path AS cgroup, s.current_kib, s.file_kib, s.swap_kib, s.max_kib, s.high_kib, s.swap_max_kib,
    MAX(s.tick_id) AS sample_tick_id
  FROM tick AS t
  JOIN cgroup_sample AS s ON s.tick_id BETWEEN t.keyframe_id AND t.id
  JOIN cgroup AS g ON g.id = s.cgroup_id
  GROUP BY t.id, s.cgroup_id
)
WHERE current_kib IS NOT NULL;

-- The machine at every tick.
DROP VIEW machine_at;
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
  d.nr_vmscan_write, d.nr_vmscan_immediate_reclaim, d.sysv_kib, d.tmpfs_kib
FROM tick AS t
JOIN machine_sample AS s ON s.tick_id = (SELECT MAX(l.tick_id) FROM machine_sample AS l WHERE l.tick_id <= t.id)
JOIN machine_detail AS d ON d.tick_id = (SELECT MAX(l.tick_id) FROM machine_detail AS l WHERE l.tick_id <= t.id);

-- Who still names a command, a cgroup or an identity is found by a look through all processes once a day: an index by
-- each of them was written to at each birth, a page of its own each time.
DROP INDEX process_identity;
DROP INDEX process_command;
DROP INDEX process_cgroup;

-- Marks of one metric lie together: the highest of all processes are found without the other metrics' rows.
CREATE TABLE high_water_before AS SELECT * FROM high_water;
DROP TABLE high_water;
CREATE TABLE high_water (
  day_ms INTEGER NOT NULL,                 -- start of the UTC day; -1: of all time
  subject INTEGER NOT NULL,                -- 0 machine, 1 category, 2 process, 3 identity, 4 cgroup
  subject_id INTEGER NOT NULL,             -- category.id, process.id, identity.id, cgroup.id; 0 for the machine
  metric INTEGER NOT NULL REFERENCES high_water_metric (id),
  value_kib INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,                  -- the tick that had it
  before_ms INTEGER NOT NULL,              -- the tick before: it was reached in between
  PRIMARY KEY (day_ms, subject, metric, subject_id)
) STRICT, WITHOUT ROWID;
INSERT INTO high_water (day_ms, subject, subject_id, metric, value_kib, at_ms, before_ms)
SELECT day_ms, subject, subject_id, metric, value_kib, at_ms, before_ms
FROM high_water_before
ORDER BY day_ms, subject, metric, subject_id;
DROP TABLE high_water_before;

-- From now on a process that lived in one UTC day only has no marks of all time (day_ms = -1) in high_water: those of its
-- day are the same. And it has rows of its own in rollup_5min from an age of 15 minutes, as it has in rollup_hour from
-- an hour, and in rollup_day from a day.
