-- Schema 4: the views of a tick answer from the rows since its keyframe, however the tick is named.

-- Which rows of process_sample and process_detail hold at a tick. They are gathered for each tick by itself, within the
-- argument of json_each(): a join with a GROUP BY would be made for the whole history first, wherever the tick is named by a
-- subquery, a list or a range. CROSS JOIN keeps SQLite from starting anywhere but at the tick.
DROP VIEW process_sample_at;
DROP VIEW process_detail_at;
CREATE VIEW process_row_at AS
SELECT t.id AS tick_id, t.wall_ms, h.value ->> 0 AS process_id, h.value ->> 1 AS sample_tick_id, h.value ->> 2 AS detail_tick_id
FROM tick AS t
CROSS JOIN json_each((
  SELECT json_group_array(json_array(process_id, sample_tick_id, detail_tick_id))
  FROM (
    SELECT process_id, MAX(sample_tick_id) AS sample_tick_id, MAX(detail_tick_id) AS detail_tick_id
    FROM (
      SELECT process_id, tick_id AS sample_tick_id, NULL AS detail_tick_id
      FROM process_sample
      WHERE tick_id BETWEEN t.keyframe_id AND t.id
      UNION ALL
      SELECT process_id, NULL, tick_id FROM process_detail WHERE tick_id BETWEEN t.keyframe_id AND t.id
    )
    GROUP BY process_id
  )
)) AS h;

CREATE VIEW process_sample_at AS
SELECT tick_id, process_id, sample_tick_id FROM process_row_at WHERE sample_tick_id IS NOT NULL;

CREATE VIEW process_detail_at AS
SELECT tick_id, process_id, detail_tick_id FROM process_row_at WHERE detail_tick_id IS NOT NULL;

-- Every process at every tick. Ask for the ticks that you mean, else it is the whole history:
--   SELECT pid, comm, pss_kib FROM process_at
--   WHERE tick_id = (SELECT id FROM tick WHERE wall_ms <= unixepoch('2026-11-20 03:14', 'utc') * 1000 ORDER BY wall_ms DESC, id DESC LIMIT 1)
--   ORDER BY pss_kib DESC LIMIT 20;
DROP VIEW process_at;
CREATE VIEW process_at AS
SELECT h.tick_id, h.wall_ms, p.id AS process_id, p.boot_uuid, p.pid, p.start_ticks, p.exec_count, p.start_ms,
  d.parent_pid, p.uid, p.user, p.comm, p.exe, p.command, p.cgroup, p.cwd, p.category, d.state, d.threads,
  CASE s.source WHEN 0 THEN 'exact' WHEN 2 THEN 'estimated' WHEN 3 THEN 'approximate' ELSE 'inaccessible' END AS source,
  s.private_clean_kib + s.private_dirty_kib AS uss_kib,
  s.rss_kib, s.pss_kib, s.pss_dirty_kib, s.pss_anon_kib, s.pss_file_kib, s.pss_shmem_kib, s.shared_clean_kib,
  s.shared_dirty_kib, s.private_clean_kib, s.private_dirty_kib, s.referenced_kib, s.anonymous_kib, s.vm_hwm_kib,
  s.vm_rss_kib, s.rss_anon_kib, s.rss_file_kib, s.rss_shmem_kib, d.ksm_kib, d.lazy_free_kib, d.anon_huge_pages_kib,
  d.shmem_pmd_mapped_kib, d.file_pmd_mapped_kib, d.shared_hugetlb_kib, d.private_hugetlb_kib, d.swap_kib,
  d.swap_pss_kib, d.locked_kib, d.vm_peak_kib, d.vm_size_kib, d.vm_lck_kib, d.vm_pin_kib, d.vm_data_kib, d.vm_stk_kib,
  d.vm_exe_kib, d.vm_lib_kib, d.vm_pte_kib, d.vm_swap_kib, d.hugetlb_pages_kib
FROM process_row_at AS h
CROSS JOIN process_sample_full AS s ON s.tick_id = h.sample_tick_id AND s.process_id = h.process_id
CROSS JOIN process_detail AS d ON d.tick_id = h.detail_tick_id AND d.process_id = h.process_id
CROSS JOIN process_named AS p ON p.id = h.process_id
WHERE s.source <> 5 AND (p.gone_tick_id IS NULL OR p.gone_tick_id > h.tick_id);

-- Every category at every tick.
DROP VIEW category_at;
CREATE VIEW category_at AS
SELECT t.id AS tick_id, t.wall_ms, c.name AS category, s.processes, s.inexact, s.rss_kib, s.pss_kib, s.uss_kib, s.swap_kib, s.swap_pss_kib
FROM tick AS t
CROSS JOIN json_each((
  SELECT json_group_object(category_id, tick_id)
  FROM (SELECT category_id, MAX(tick_id) AS tick_id FROM category_sample WHERE tick_id BETWEEN t.keyframe_id AND t.id GROUP BY category_id)
)) AS h
CROSS JOIN category_sample AS s ON s.tick_id = h.value AND s.category_id = CAST(h.key AS INTEGER)
JOIN category AS c ON c.id = s.category_id
WHERE s.processes > 0;

-- Every cgroup that a process is in or below, at every tick.
DROP VIEW cgroup_at;
CREATE VIEW cgroup_at AS
SELECT t.id AS tick_id, t.wall_ms, g.path AS cgroup, s.current_kib, s.file_kib, s.swap_kib, s.max_kib, s.high_kib, s.swap_max_kib
FROM tick AS t
CROSS JOIN json_each((
  SELECT json_group_object(cgroup_id, tick_id)
  FROM (SELECT cgroup_id, MAX(tick_id) AS tick_id FROM cgroup_sample WHERE tick_id BETWEEN t.keyframe_id AND t.id GROUP BY cgroup_id)
)) AS h
CROSS JOIN cgroup_sample AS s ON s.tick_id = h.value AND s.cgroup_id = CAST(h.key AS INTEGER)
JOIN cgroup AS g ON g.id = s.cgroup_id
WHERE s.current_kib IS NOT NULL;

-- High-water marks with their names. Of a process that lived in one UTC day only, the marks of all time are those of its day
-- (see schema 3): for those that have no others. What may be asked for is joined from the outside in, so that only the rows that
-- are meant are read. Those of the ticks after high_water_mark.tick_id are not in them yet.
DROP VIEW high_water_named;
CREATE VIEW high_water_named AS
WITH RECURSIVE
  mark_day (day_ms) AS (
    SELECT MIN(day_ms) FROM high_water
    UNION ALL
    SELECT (SELECT MIN(h.day_ms) FROM high_water AS h WHERE h.day_ms > d.day_ms) FROM mark_day AS d WHERE d.day_ms IS NOT NULL
  ),
  mark_subject (id, name) AS (VALUES (0, 'machine'), (1, 'category'), (2, 'process'), (3, 'identity'), (4, 'cgroup')),
  mark (day, subject, metric, value_kib, at_ms, before_ms, kind, subject_id) AS (
    SELECT CASE d.day_ms WHEN -1 THEN 'all time' ELSE date(d.day_ms / 1000, 'unixepoch') END, s.name, m.name, h.value_kib,
      h.at_ms, h.before_ms, h.subject, h.subject_id
    FROM mark_day AS d
    CROSS JOIN mark_subject AS s
    CROSS JOIN high_water_metric AS m
    CROSS JOIN high_water AS h ON h.day_ms = d.day_ms AND h.subject = s.id AND h.metric = m.id
    UNION ALL
    SELECT 'all time', 'process', m.name, h.value_kib, h.at_ms, h.before_ms, 2, h.subject_id
    FROM mark_day AS d
    CROSS JOIN high_water_metric AS m
    CROSS JOIN high_water AS h ON h.day_ms = d.day_ms AND h.subject = 2 AND h.metric = m.id
    WHERE d.day_ms >= 0 AND NOT EXISTS (
      SELECT 1 FROM high_water AS a WHERE a.day_ms = -1 AND a.subject = 2 AND a.metric = h.metric AND a.subject_id = h.subject_id)
  )
SELECT h.day, h.subject,
  CASE h.kind
    WHEN 0 THEN (SELECT b.host FROM boot AS b ORDER BY b.id DESC LIMIT 1)
    WHEN 1 THEN (SELECT c.name FROM category AS c WHERE c.id = h.subject_id)
    WHEN 2 THEN (SELECT p.comm || '[' || p.pid || ']' FROM process AS p WHERE p.id = h.subject_id)
    WHEN 3 THEN (SELECT i.unit || ' ' || i.command FROM identity AS i WHERE i.id = h.subject_id)
    ELSE (SELECT g.path FROM cgroup AS g WHERE g.id = h.subject_id)
  END AS name,
  h.metric, h.value_kib, h.at_ms, h.before_ms, h.subject_id
FROM mark AS h;
