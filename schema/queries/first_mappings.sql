-- Mappings of deleted files, memfds and removed segments in summaries up to tick ?1: those at the first tick of each
-- such mapping, and those in each process's first summary. Each row has the first tick of the process and of its
-- summaries.
WITH first AS (
 SELECT process_id, MIN(tick_id) AS tick_id FROM mapping_summary WHERE read_ms IS NOT NULL AND tick_id <= ?1 GROUP BY process_id
),
deleted AS MATERIALIZED (SELECT id, kind, label FROM mapping WHERE substr(label, -10) = ' (deleted)'),
seen AS (
 SELECT MIN(tick_id) AS tick_id FROM mapping_sample
 WHERE tick_id <= ?1 AND regions > 0 AND mapping_id IN (SELECT id FROM deleted) GROUP BY mapping_id
)
SELECT s.tick_id, t.wall_ms, p.first_tick_id, first.tick_id, s.mapping_id, m.kind, m.label, s.regions, s.size_kib, s.rss_kib,
  s.pss_kib, s.shared_clean_kib, s.shared_dirty_kib, s.private_clean_kib, s.private_dirty_kib, s.swap_kib, s.swap_pss_kib,
  s.shared_swap_kib, s.object_kib
FROM mapping_sample AS s
JOIN first ON first.process_id = s.process_id
JOIN deleted AS m ON m.id = s.mapping_id
JOIN process AS p ON p.id = s.process_id
JOIN tick AS t ON t.id = s.tick_id
WHERE s.tick_id IN (SELECT tick_id FROM first UNION SELECT tick_id FROM seen) AND s.regions > 0
ORDER BY s.tick_id, s.process_id, s.mapping_id;
