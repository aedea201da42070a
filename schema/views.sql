-- All views. A change here is a new version of the schema.
--
-- Every time is shown twice: X_ms in milliseconds since the epoch, and X_utc as text, 2026-11-20T03:14:00.000Z. The build replaces
-- utc(x) by strftime('%Y-%m-%dT%H:%M:%fZ', x / 1000.0, 'unixepoch'). Shares are percentages (_percent).

-- The recorder's own memory: total = ready + prepared, ready = data + fragmentation + idle.
CREATE VIEW recorder_memory_at AS
SELECT m.tick_id, t.wall_ms, utc(t.wall_ms) AS wall_utc, m.data_kib + m.fragmentation_kib + m.idle_kib + m.prepared_kib AS total_kib,
  m.data_kib + m.fragmentation_kib + m.idle_kib AS ready_kib, m.data_kib, m.fragmentation_kib, m.idle_kib, m.prepared_kib,
  m.sqlite_kib, m.rss_kib
FROM recorder_memory AS m
CROSS JOIN tick AS t ON t.id = m.tick_id;

-- Processes with their names. The times are kept longer than the ticks. CROSS JOIN keeps SQLite from starting at a table of
-- names.
CREATE VIEW process_named AS
SELECT p.id, b.boot_uuid, p.pid, p.start_ticks, p.exec_count, p.start_ms, utc(p.start_ms) AS start_utc, p.parent_pid, u.uid,
  u.name AS user, p.comm, c.exe, c.line AS command, g.path AS cgroup, w.path AS cwd, y.name AS category, p.first_tick_id,
  p.exited_tick_id, p.first_ms, utc(p.first_ms) AS first_utc,
  COALESCE(p.last_ms, (SELECT l.wall_ms FROM tick AS l ORDER BY l.id DESC LIMIT 1)) AS last_ms,
  utc(COALESCE(p.last_ms, (SELECT l.wall_ms FROM tick AS l ORDER BY l.id DESC LIMIT 1))) AS last_utc, p.exited_ms,
  utc(p.exited_ms) AS exited_utc, p.exit_kind, p.identity_id, i.unit, i.command AS identity, s.cwd AS cwd_now, s.oom_score_adj,
  s.limits, s.category_rule
FROM process AS p
CROSS JOIN cgroup AS g ON g.id = p.cgroup_id
CROSS JOIN category AS y ON y.id = p.category_id
CROSS JOIN user AS u ON u.id = p.user_id
CROSS JOIN command AS c ON c.id = p.command_id
CROSS JOIN directory AS w ON w.id = p.cwd_id
CROSS JOIN setting AS s ON s.id = p.setting_id
CROSS JOIN boot AS b ON b.id = p.boot_id
LEFT JOIN identity AS i ON i.id = p.identity_id;

-- Slow-changing values of a process: process_state and process_rare in one.
CREATE VIEW process_detail AS
SELECT s.tick_id, s.process_id, s.state, s.parent_pid, s.threads,
  @process_detail_columns@
FROM process_state AS s
LEFT JOIN process_rare AS r ON r.tick_id = s.tick_id AND r.process_id = s.process_id;

-- Sums over the processes of a category: category_total and category_swap in one.
CREATE VIEW category_sample AS
SELECT t.tick_id, t.category_id, t.processes, t.inexact, t.rss_kib, t.pss_kib, t.uss_kib, COALESCE(w.swap_kib, 0) AS swap_kib,
  COALESCE(w.swap_pss_kib, 0) AS swap_pss_kib, COALESCE(w.shared_swap_kib, 0) AS shared_swap_kib,
  COALESCE(w.hugetlb_kib, 0) AS hugetlb_kib
FROM category_total AS t
LEFT JOIN category_swap AS w ON w.tick_id = t.tick_id AND w.category_id = t.category_id;

-- The rows of process_sample and process_detail that are valid at a tick, for each process that is alive at it. The argument of
-- json_each() collects them for each tick by itself: SQLite would run a join with a GROUP BY over all ticks first, no matter
-- whether a query selects the tick by a subquery, a list or a range. Exited processes are dropped before the rows are grouped, so
-- that many short-lived ones cost little. CROSS JOIN makes SQLite start at the tick.
CREATE VIEW process_row_at AS
SELECT t.id AS tick_id, t.wall_ms, utc(t.wall_ms) AS wall_utc, h.value ->> 0 AS process_id, h.value ->> 1 AS sample_tick_id,
  h.value ->> 2 AS detail_tick_id, h.value ->> 3 AS reading_tick_id
FROM tick AS t
CROSS JOIN json_each((
  SELECT json_group_array(json_array(process_id, sample_tick_id, detail_tick_id, reading_tick_id))
  FROM (
    SELECT process_id, MAX(sample_tick_id) AS sample_tick_id, MAX(detail_tick_id) AS detail_tick_id,
      MAX(reading_tick_id) AS reading_tick_id
    FROM (
      SELECT process_id, tick_id AS sample_tick_id, NULL AS detail_tick_id, NULL AS reading_tick_id
      FROM process_sample
      WHERE tick_id BETWEEN t.keyframe_id AND t.id
      UNION ALL
      SELECT process_id, NULL, tick_id, NULL FROM process_state WHERE tick_id BETWEEN t.keyframe_id AND t.id
      UNION ALL
      SELECT process_id, NULL, NULL, tick_id FROM process_reading WHERE tick_id BETWEEN t.keyframe_id AND t.id
    )
    CROSS JOIN process AS p ON p.id = process_id
    WHERE p.exited_tick_id IS NULL OR p.exited_tick_id > t.id
    GROUP BY process_id
  )
)) AS h;

-- Like process_row_at, with one view for each of the two tables.
CREATE VIEW process_sample_at AS
SELECT tick_id, process_id, sample_tick_id FROM process_row_at WHERE sample_tick_id IS NOT NULL;

CREATE VIEW process_detail_at AS
SELECT tick_id, process_id, detail_tick_id FROM process_row_at WHERE detail_tick_id IS NOT NULL;

-- process_sample with its derived columns.
CREATE VIEW process_sample_full AS
@process_sample_full@;

-- Every process at every tick. read_ms is the time of the smaps_rollup reading that the values are from; NULL without one. Always
-- select the ticks, because otherwise SQLite reads the full history:
--   SELECT pid, comm, pss_kib FROM process_at
--   WHERE tick_id = (SELECT id FROM tick WHERE wall_ms <= unixepoch('2026-11-20 03:14', 'utc') * 1000 ORDER BY wall_ms DESC, id DESC LIMIT 1)
--   ORDER BY pss_kib DESC LIMIT 20;
CREATE VIEW process_at AS
SELECT h.tick_id, h.wall_ms, h.wall_utc, p.id AS process_id, p.boot_uuid, p.pid, p.start_ticks, p.exec_count, p.start_ms,
  p.start_utc, d.parent_pid, p.uid, p.user, p.comm, p.exe, p.command, p.cgroup, p.unit, p.identity, p.cwd, p.category, d.state,
  d.threads,
  CASE s.source WHEN 2 THEN 'estimated' WHEN 3 THEN 'approximate' WHEN 4 THEN 'inaccessible'
    ELSE IIF(h.reading_tick_id = h.tick_id OR (s.source = 0 AND s.tick_id = h.tick_id), 'exact', 'held') END AS source,
  @read_ms@ AS read_ms, utc(@read_ms@) AS read_utc, @uss@, @high_water@ AS high_water_kib,
  @process_columns@
FROM process_row_at AS h
CROSS JOIN process_named AS p ON p.id = h.process_id
CROSS JOIN process_sample_full AS s ON s.tick_id = h.sample_tick_id AND s.process_id = h.process_id
CROSS JOIN process_detail AS d ON d.tick_id = h.detail_tick_id AND d.process_id = h.process_id
CROSS JOIN tick AS t ON t.id = h.tick_id
CROSS JOIN tick AS k ON k.id = MAX(h.sample_tick_id, IFNULL(h.reading_tick_id, 0))
WHERE s.source <> 5;

-- Every process at the last tick.
CREATE VIEW latest AS
SELECT tick_id, wall_ms, wall_utc, process_id, pid, user, comm, command, cgroup, unit, identity, category, state, threads, source,
  read_ms, read_utc, rss_kib, pss_kib, uss_kib, swap_kib, swap_pss_kib, high_water_kib
FROM process_at
WHERE tick_id = (SELECT id FROM tick ORDER BY id DESC LIMIT 1);

-- Every category at every tick.
CREATE VIEW category_at AS
SELECT t.id AS tick_id, t.wall_ms, utc(t.wall_ms) AS wall_utc, c.name AS category, s.processes, s.inexact, s.rss_kib, s.pss_kib, s.uss_kib, s.swap_kib, s.swap_pss_kib,
  s.shared_swap_kib, s.hugetlb_kib
FROM tick AS t
CROSS JOIN json_each((
  SELECT json_group_object(category_id, tick_id)
  FROM (SELECT category_id, MAX(tick_id) AS tick_id FROM category_total WHERE tick_id BETWEEN t.keyframe_id AND t.id GROUP BY category_id)
)) AS h
CROSS JOIN category_sample AS s ON s.tick_id = h.value AND s.category_id = CAST(h.key AS INTEGER)
JOIN category AS c ON c.id = s.category_id
WHERE s.processes > 0;

-- Every cgroup with a process in or below it, at every tick.
CREATE VIEW cgroup_at AS
SELECT t.id AS tick_id, t.wall_ms, utc(t.wall_ms) AS wall_utc, g.path AS cgroup, s.current_kib, s.file_kib, s.swap_kib, s.max_kib, s.high_kib, s.swap_max_kib,
  s.anon_kib, s.shmem_kib, s.kernel_kib, c.runtime AS container_runtime, c.key AS container_key, c.name AS container_name,
  c.image AS container_image, c.pod
FROM tick AS t
CROSS JOIN json_each((
  SELECT json_group_object(cgroup_id, tick_id)
  FROM (SELECT cgroup_id, MAX(tick_id) AS tick_id FROM cgroup_sample WHERE tick_id BETWEEN t.keyframe_id AND t.id GROUP BY cgroup_id)
)) AS h
CROSS JOIN cgroup_sample AS s ON s.tick_id = h.value AND s.cgroup_id = CAST(h.key AS INTEGER)
JOIN cgroup AS g ON g.id = s.cgroup_id
LEFT JOIN container AS c ON c.id = g.container_id
WHERE s.current_kib IS NOT NULL;

-- Every systemd unit and every container at every tick, by the kernel's counters of its cgroup, which include the cgroups below it.
-- limit_kib is memory.max, otherwise memory.high; NULL: it has no limit of its own, but a limit of a cgroup above it may apply.
CREATE VIEW service_at AS
SELECT a.tick_id, a.wall_ms, a.wall_utc, IIF(c.id IS NULL, 'unit', 'container') AS kind,
  IIF(c.id IS NULL, a.component, c.runtime || ':' || IIF(c.runtime IN ('lxc', 'nspawn'), c.key, SUBSTR(c.key, 1, 12))) AS service,
  c.name AS container_name, c.image AS container_image, c.pod, a.cgroup, a.current_kib AS usage_kib, a.anon_kib,
  COALESCE(a.max_kib, a.high_kib) AS limit_kib,
  ROUND(100.0 * a.current_kib / NULLIF(COALESCE(a.max_kib, a.high_kib), 0), 1) AS limit_percent
FROM (
  SELECT tick_id, wall_ms, wall_utc, cgroup, SUBSTR(cgroup, 1 + LENGTH(RTRIM(cgroup, REPLACE(cgroup, '/', '')))) AS component,
    current_kib, anon_kib, max_kib, high_kib
  FROM cgroup_at
) AS a
-- The container with its key in the last component of the path. It is known from a process in the cgroup or below it.
LEFT JOIN container AS c ON c.id = (
  SELECT MAX(k.container_id)
  FROM cgroup AS k
  CROSS JOIN container AS n ON n.id = k.container_id
  WHERE k.path BETWEEN a.cgroup AND a.cgroup || '0' AND (k.path = a.cgroup OR SUBSTR(k.path, 1 + LENGTH(a.cgroup), 1) = '/')
    AND INSTR(REPLACE(a.component, '\x2d', '-'), n.key) > 0
)
WHERE c.id IS NOT NULL OR a.component GLOB '?*.service' OR a.component GLOB '?*.scope' OR a.component GLOB '?*.socket'
  OR a.component GLOB '?*.mount' OR a.component GLOB '?*.swap';

-- Slow-changing cgroup counters at every tick, including cgroups that were deleted since the tick's keyframe.
CREATE VIEW cgroup_detail_at AS
SELECT t.id AS tick_id, t.wall_ms, utc(t.wall_ms) AS wall_utc, g.path AS cgroup, d.min_kib, d.low_kib, d.peak_kib, d.swap_peak_kib, d.low_events,
  d.high_events, d.max_events, d.oom_events, d.oom_kills, d.own_oom_kills, d.psi_some_total_us, d.psi_full_total_us
FROM tick AS t
CROSS JOIN json_each((
  SELECT json_group_object(cgroup_id, tick_id)
  FROM (SELECT cgroup_id, MAX(tick_id) AS tick_id FROM cgroup_detail WHERE tick_id BETWEEN t.keyframe_id AND t.id GROUP BY cgroup_id)
)) AS h
CROSS JOIN cgroup_detail AS d ON d.tick_id = h.value AND d.cgroup_id = CAST(h.key AS INTEGER)
JOIN cgroup AS g ON g.id = d.cgroup_id;

-- Every System V segment at every tick.
CREATE VIEW segment_at AS
SELECT t.id AS tick_id, t.wall_ms, utc(t.wall_ms) AS wall_utc, g.shmid, g.key, g.creator_pid, g.creator_uid, g.size_kib,
  g.first_ms, utc(g.first_ms) AS first_utc, s.uid, s.attachments, s.last_pid, s.removed, s.rss_kib, s.swap_kib, s.detached_ms,
  utc(s.detached_ms) AS detached_utc
FROM tick AS t
CROSS JOIN json_each((
  SELECT json_group_object(segment_id, tick_id)
  FROM (SELECT segment_id, MAX(tick_id) AS tick_id FROM sysv_sample WHERE tick_id BETWEEN t.keyframe_id AND t.id GROUP BY segment_id)
)) AS h
CROSS JOIN sysv_sample AS s ON s.tick_id = h.value AND s.segment_id = CAST(h.key AS INTEGER)
JOIN sysv_segment AS g ON g.id = s.segment_id
WHERE s.rss_kib IS NOT NULL;

-- Every tmpfs mount at every tick.
CREATE VIEW tmpfs_at AS
SELECT t.id AS tick_id, t.wall_ms, utc(t.wall_ms) AS wall_utc, m.mount_point, s.source,
  CASE s.state WHEN 0 THEN 'whole' WHEN 1 THEN 'cut' WHEN 2 THEN 'not read' WHEN 4 THEN 'not yet' END AS state,
  s.limit_kib, s.used_kib, s.inodes, s.walked_ms, utc(s.walked_ms) AS walked_utc, s.entries, s.directories, s.symlinks, s.sockets, s.fifos,
  s.devices, s.closed, s.allocated_kib, s.logical_kib
FROM tick AS t
CROSS JOIN json_each((
  SELECT json_group_object(tmpfs_id, tick_id)
  FROM (SELECT tmpfs_id, MAX(tick_id) AS tick_id FROM tmpfs_sample WHERE tick_id BETWEEN t.keyframe_id AND t.id GROUP BY tmpfs_id)
)) AS h
CROSS JOIN tmpfs_sample AS s ON s.tick_id = h.value AND s.tmpfs_id = CAST(h.key AS INTEGER)
JOIN tmpfs AS m ON m.id = s.tmpfs_id
WHERE s.state <> 3;

-- The largest entries of the tmpfs mounts, at every tick.
CREATE VIEW tmpfs_entry_at AS
SELECT t.id AS tick_id, t.wall_ms, utc(t.wall_ms) AS wall_utc, m.mount_point, e.path, e.directory, s.allocated_kib, s.logical_kib,
  s.entries, s.uid, s.changed_ms, utc(s.changed_ms) AS changed_utc
FROM tick AS t
CROSS JOIN json_each((
  SELECT json_group_object(entry_id, tick_id)
  FROM (
    SELECT entry_id, MAX(tick_id) AS tick_id FROM tmpfs_entry_sample WHERE tick_id BETWEEN t.keyframe_id AND t.id GROUP BY entry_id
  )
)) AS h
CROSS JOIN tmpfs_entry_sample AS s ON s.tick_id = h.value AND s.entry_id = CAST(h.key AS INTEGER)
JOIN tmpfs_entry AS e ON e.id = s.entry_id
JOIN tmpfs AS m ON m.id = e.tmpfs_id
WHERE s.allocated_kib IS NOT NULL;

-- The machine at every tick.
CREATE VIEW machine_at AS
SELECT t.id AS tick_id, t.wall_ms, utc(t.wall_ms) AS wall_utc, @used@ AS used_kib, @swap_used@ AS swap_used_kib,
  @machine_columns@
FROM tick AS t
JOIN machine_sample AS s ON s.tick_id = (SELECT MAX(l.tick_id) FROM machine_sample AS l WHERE l.tick_id <= t.id)
JOIN machine_detail AS d ON d.tick_id = (SELECT MAX(l.tick_id) FROM machine_detail AS l WHERE l.tick_id <= t.id);

-- High-water marks with plain times, each once: the mark in the table mark, or a higher one that is still in raised_mark. A
-- process that ran within one UTC day has its mark of all time here as well. The days, subject kinds and metrics are joined first,
-- so that a query that selects some of them reads only rows of these.
CREATE VIEW high_water AS
WITH RECURSIVE
  mark_day (day) AS (
    SELECT MIN(day) FROM mark
    UNION ALL
    SELECT (SELECT MIN(h.day) FROM mark AS h WHERE h.day > d.day) FROM mark_day AS d WHERE d.day IS NOT NULL
  ),
  mark_subject (id) AS (VALUES (0), (1), (2), (3), (4)),
  raised (day, subject, subject_id, metric, level, value_kib, at_ms, before_ms, seen_by) AS MATERIALIZED (
    SELECT IIF(a.all_time, -1, r.day) AS mark_day, r.subject, r.subject_id, r.metric, MAX(IIF(m.lowest, -r.value_kib, r.value_kib)),
      r.value_kib, r.day * 86400000 + r.after_ms, r.before_ms, r.seen_by
    FROM raised_mark AS r
    JOIN metric AS m ON m.id = r.metric
    CROSS JOIN (SELECT 0 AS all_time UNION ALL SELECT 1) AS a
    GROUP BY mark_day, r.subject, r.metric, r.subject_id
  ),
  stored (day, subject, subject_id, metric, level, value_kib, at_ms, before_ms, seen_by) AS (
    SELECT d.day, s.id, h.subject_id, m.id, IIF(m.lowest, -h.value_kib, h.value_kib), h.value_kib,
      MAX(d.day, 0) * 86400000 + h.after_ms, h.before_ms, h.seen_by
    FROM mark_day AS d
    CROSS JOIN mark_subject AS s
    CROSS JOIN metric AS m ON m.has_marks
    CROSS JOIN mark AS h ON h.day = d.day AND h.subject = s.id AND h.metric = m.id
    UNION ALL
    SELECT -1, 2, h.subject_id, m.id, h.value_kib, h.value_kib, d.day * 86400000 + h.after_ms, h.before_ms, h.seen_by
    FROM mark_day AS d
    CROSS JOIN metric AS m ON m.has_marks
    CROSS JOIN mark AS h ON h.day = d.day AND h.subject = 2 AND h.metric = m.id
    WHERE d.day >= 0 AND NOT EXISTS (
      SELECT 1 FROM mark AS a WHERE a.day = -1 AND a.subject = 2 AND a.metric = h.metric AND a.subject_id = h.subject_id)
  ),
  marks (day, subject, subject_id, metric, value_kib, at_ms, before_ms, seen_by) AS (
    SELECT h.day, h.subject, h.subject_id, h.metric, COALESCE(r.value_kib, h.value_kib), COALESCE(r.at_ms, h.at_ms),
      COALESCE(r.before_ms, h.before_ms), COALESCE(r.seen_by, h.seen_by)
    FROM stored AS h
    LEFT JOIN raised AS r ON r.day = h.day AND r.subject = h.subject AND r.metric = h.metric AND r.subject_id = h.subject_id
      AND (r.level > h.level OR (r.level = h.level AND r.at_ms < h.at_ms))
    UNION ALL
    SELECT r.day, r.subject, r.subject_id, r.metric, r.value_kib, r.at_ms, r.before_ms, r.seen_by
    FROM raised AS r
    WHERE NOT EXISTS (
      SELECT 1 FROM mark AS h WHERE h.day = r.day AND h.subject = r.subject AND h.metric = r.metric AND h.subject_id = r.subject_id)
    AND NOT (r.day = -1 AND r.subject = 2 AND EXISTS (
      SELECT 1 FROM mark_day AS d
      CROSS JOIN mark AS h ON h.day = d.day AND h.subject = 2 AND h.metric = r.metric AND h.subject_id = r.subject_id))
  )
SELECT CASE day WHEN -1 THEN -1 ELSE day * 86400000 END AS day_ms, CASE WHEN day >= 0 THEN utc(day * 86400000) END AS day_utc,
  subject, subject_id, metric, value_kib, at_ms, utc(at_ms) AS at_utc, at_ms - before_ms AS before_ms,
  utc(at_ms - before_ms) AS before_utc, seen_by
FROM marks;

-- High-water marks with names.
CREATE VIEW high_water_named AS
SELECT CASE h.day_ms WHEN -1 THEN 'all time' ELSE date(h.day_ms / 1000, 'unixepoch') END AS day,
  CASE h.subject
    WHEN 0 THEN 'machine' WHEN 1 THEN 'category' WHEN 2 THEN 'process' WHEN 3 THEN 'identity' WHEN 4 THEN 'cgroup'
  END AS subject,
  CASE h.subject
    WHEN 0 THEN (SELECT b.host FROM boot AS b ORDER BY b.id DESC LIMIT 1)
    WHEN 1 THEN (SELECT c.name FROM category AS c WHERE c.id = h.subject_id)
    WHEN 2 THEN (SELECT p.comm || '[' || p.pid || ']' FROM process AS p WHERE p.id = h.subject_id)
    WHEN 3 THEN (SELECT i.unit || ' ' || i.command FROM identity AS i WHERE i.id = h.subject_id)
    WHEN 4 THEN (SELECT g.path FROM cgroup AS g WHERE g.id = h.subject_id)
  END AS name,
  m.name AS metric, h.value_kib, h.at_ms, h.at_utc, h.before_ms, h.before_utc,
  CASE h.seen_by WHEN 0 THEN 'sample' WHEN 1 THEN 'scan' WHEN 2 THEN 'exit' WHEN 3 THEN 'memory.peak' END AS seen_by, h.subject_id
FROM high_water AS h
JOIN metric AS m ON m.id = h.metric;

-- Values between two ticks that are beyond those of both, with names.
CREATE VIEW extreme_named AS
SELECT e.tick_id, t.wall_ms, utc(t.wall_ms) AS wall_utc,
  CASE e.subject WHEN 0 THEN 'machine' WHEN 1 THEN 'category' WHEN 2 THEN 'process' WHEN 4 THEN 'cgroup' END AS subject,
  CASE e.subject
    WHEN 0 THEN b.host
    WHEN 1 THEN (SELECT c.name FROM category AS c WHERE c.id = e.subject_id)
    WHEN 2 THEN (SELECT p.comm || '[' || p.pid || ']' FROM process AS p WHERE p.id = e.subject_id)
    WHEN 4 THEN (SELECT g.path FROM cgroup AS g WHERE g.id = e.subject_id)
  END AS name,
  m.name AS metric, e.low_kib, t.wall_ms - e.low_before_ms AS low_ms, utc(t.wall_ms - e.low_before_ms) AS low_utc, e.high_kib,
  t.wall_ms - e.high_before_ms AS high_ms, utc(t.wall_ms - e.high_before_ms) AS high_utc,
  t.wall_ms - e.high_after_ms AS high_after_ms, utc(t.wall_ms - e.high_after_ms) AS high_after_utc, e.subject_id
FROM extreme AS e
JOIN tick AS t ON t.id = e.tick_id
JOIN run AS r ON r.id = t.run_id
JOIN boot AS b ON b.id = r.boot_id
JOIN metric AS m ON m.id = e.metric;

-- Exits of single processes; the others are in exit_sum_named.
CREATE VIEW process_exit_named AS
SELECT e.tick_id, e.exited_ms, utc(e.exited_ms) AS exited_utc, e.lived_ms, p.pid, p.comm, c.line AS command, u.name AS user, g.path AS cgroup,
  CASE WHEN e.exit_code & 127 = 0 THEN e.exit_code / 256 END AS status,
  CASE WHEN e.exit_code & 127 <> 0 THEN e.exit_code & 127 END AS signal,
  e.peak_kib, e.anon_kib, e.file_kib, e.shmem_kib, e.swap_kib, e.process_id
FROM process_exit AS e
JOIN process AS p ON p.id = e.process_id
JOIN command AS c ON c.id = p.command_id
JOIN user AS u ON u.id = p.user_id
JOIN cgroup AS g ON g.id = p.cgroup_id;

CREATE VIEW exit_sum_named AS
SELECT e.tick_id, e.first_ms, utc(e.first_ms) AS first_utc, e.last_ms, utc(e.last_ms) AS last_utc, e.comm, e.user,
  g.path AS cgroup, e.count, e.lived_ms / e.count AS mean_lived_ms, e.peak_kib, e.peak_ms, utc(e.peak_ms) AS peak_utc
FROM exit_sum AS e
JOIN cgroup AS g ON g.id = e.cgroup_id;

-- Runs with the time of their first and last tick, which are known even after those ticks are deleted.
CREATE VIEW run_named AS
SELECT n.id, n.boot_uuid, n.boot_started_ms, utc(n.boot_started_ms) AS boot_started_utc, n.host, n.kernel, n.pid, n.version,
  n.interval_ms, n.started_ms, utc(n.started_ms) AS started_utc, n.stopped_ms, utc(n.stopped_ms) AS stopped_utc, n.stop_reason, n.census,
  n.first_tick_ms, utc(n.first_tick_ms) AS first_tick_utc, n.last_tick_ms, utc(n.last_tick_ms) AS last_tick_utc, n.ticks
FROM (
  SELECT r.id, b.boot_uuid, b.started_ms AS boot_started_ms, b.host, b.kernel, r.pid, r.version, r.interval_ms, r.started_ms,
    r.stopped_ms, r.stop_reason, r.census,
    COALESCE((SELECT s.from_ms FROM stretch AS s WHERE s.first_tick_id = r.first_tick_id AND s.run_id = r.id),
      (SELECT t.wall_ms FROM tick AS t WHERE t.id = r.first_tick_id AND t.run_id = r.id)) AS first_tick_ms,
    COALESCE((SELECT t.wall_ms FROM tick AS t WHERE t.id = r.last_tick_id AND t.run_id = r.id),
      (SELECT s.to_ms FROM stretch AS s WHERE s.last_tick_id = r.last_tick_id AND s.run_id = r.id)) AS last_tick_ms,
    r.last_tick_id - r.first_tick_id + 1 AS ticks
  FROM (
    SELECT q.*, COALESCE((SELECT n.first_tick_id FROM run AS n WHERE n.id > q.id ORDER BY n.id LIMIT 1) - 1,
      (SELECT MAX(t.id) FROM tick AS t), 0) AS last_tick_id
    FROM run AS q
  ) AS r
  JOIN boot AS b ON b.id = r.boot_id
) AS n;

-- The rollups with names, times and plain values.
@for each tier@
CREATE VIEW memory_@tier@ AS
SELECT @from@ AS from_ms, utc(@from@) AS from_utc, r.buckets * @width@ AS width_ms, r.buckets,
  COALESCE(r.covered_ms, @width@) AS covered_ms,
  CASE r.subject WHEN 1 THEN 'category' WHEN 2 THEN 'process' WHEN 3 THEN 'identity' WHEN 4 THEN 'cgroup' END AS subject,
  r.subject_id,
  CASE r.subject
    WHEN 1 THEN (SELECT c.name FROM category AS c WHERE c.id = r.subject_id)
    WHEN 2 THEN (SELECT p.comm || '[' || p.pid || ']' FROM process AS p WHERE p.id = r.subject_id)
    WHEN 3 THEN (SELECT i.unit || ' ' || i.command FROM identity AS i WHERE i.id = r.subject_id)
    WHEN 4 THEN (SELECT g.path FROM cgroup AS g WHERE g.id = r.subject_id)
  END AS name,
  r.processes,
  @memory_columns@,
  r.pss_inexact_bp / 100.0 AS pss_inexact_percent@pss_max_at@
FROM rollup_@tier@ AS r
LEFT JOIN swap_@tier@ AS w USING (@block@, subject, subject_id, slot);

CREATE VIEW machine_metric_@tier@ AS
SELECT from_ms, utc(from_ms) AS from_utc, width_ms, buckets, covered_ms, IIF(is_share, REPLACE(name, '_bp', '_percent'), name) AS metric,
  IIF(is_share, value / 100.0, value) AS value, IIF(is_share, (value - low) / 100.0, value - low) AS min,
  IIF(is_share, (value + mean) / 100.0, value + mean) AS mean, IIF(is_share, (value + high) / 100.0, value + high) AS max,
  from_ms + low_after_ms AS min_at_ms, utc(from_ms + low_after_ms) AS min_at_utc, from_ms + high_after_ms AS max_at_ms,
  utc(from_ms + high_after_ms) AS max_at_utc
FROM (
  SELECT @from@ AS from_ms, r.buckets * @width@ AS width_ms, r.buckets, COALESCE(r.covered_ms, @width@) AS covered_ms,
    m.column_name AS name, m.column_name GLOB '*_bp' AS is_share, r.value, r.low, r.mean, r.high, r.low_after_ms, r.high_after_ms
  FROM machine_@tier@ AS r
  JOIN metric AS m ON m.id = r.metric
);

@end@
-- The last attempt to read each process's smaps, at every tick. Always select the ticks, as for process_at.
CREATE VIEW mapping_summary_at AS
SELECT t.id AS tick_id, t.wall_ms, utc(t.wall_ms) AS wall_utc, t.keyframe_id, p.id AS process_id, p.pid, p.comm,
  CASE l.state WHEN 0 THEN 'exact' WHEN 1 THEN 'deferred' WHEN 2 THEN 'inaccessible' END AS state, l.read_ms,
  utc(l.read_ms) AS read_utc, l.regions, l.cpu_us, l.wall_us
FROM tick AS t
CROSS JOIN json_each((
  SELECT json_group_object(process_id, tick_id)
  FROM (SELECT process_id, MAX(tick_id) AS tick_id FROM mapping_summary WHERE tick_id BETWEEN t.keyframe_id AND t.id GROUP BY process_id)
)) AS h
CROSS JOIN mapping_summary AS l ON l.tick_id = h.value AND l.process_id = CAST(h.key AS INTEGER)
CROSS JOIN process AS p ON p.id = l.process_id
WHERE l.state <> 3;

-- The mappings of processes at every tick. A row with a NULL label is the sum of the mappings of its kind beyond the largest.
CREATE VIEW mapping_at AS
SELECT a.tick_id, a.wall_ms, a.wall_utc, a.process_id, a.pid, a.comm, m.kind, m.label, s.regions, s.size_kib,
  @mapping_rss@,
  @mapping_pss@,
  @mapping_uss@ AS uss_kib,
  s.shared_clean_kib, s.shared_dirty_kib, s.private_clean_kib, s.private_dirty_kib, s.swap_kib, s.swap_pss_kib, s.shared_swap_kib,
  s.object_kib
FROM mapping_summary_at AS a
CROSS JOIN json_each((
  SELECT json_group_object(mapping_id, tick_id)
  FROM (
    SELECT mapping_id, MAX(tick_id) AS tick_id FROM mapping_sample
    WHERE tick_id BETWEEN a.keyframe_id AND a.tick_id AND process_id = a.process_id GROUP BY mapping_id
  )
)) AS h
CROSS JOIN mapping_sample AS s
  ON s.tick_id = h.value AND s.process_id = a.process_id AND s.mapping_id = CAST(h.key AS INTEGER)
CROSS JOIN mapping AS m ON m.id = s.mapping_id
WHERE s.regions > 0 AND a.read_ms IS NOT NULL;
