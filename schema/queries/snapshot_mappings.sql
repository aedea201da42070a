-- Rows of the valid mapping summaries at tick ?2 with keyframe ?1, of process ?3 or, if that is NULL, of all
-- processes. The fourth column distinguishes a NULL label from ''.
WITH last AS (
  SELECT process_id, mapping_id, MAX(tick_id) AS tick_id FROM mapping_sample
  WHERE tick_id BETWEEN ?1 AND ?2 AND (?3 IS NULL OR process_id = ?3) GROUP BY process_id, mapping_id
)
SELECT s.process_id, m.kind, m.label, m.label IS NOT NULL, s.regions, s.size_kib, s.rss_kib, s.pss_kib, s.shared_clean_kib,
  s.shared_dirty_kib, s.private_clean_kib, s.private_dirty_kib, s.swap_kib, s.swap_pss_kib, s.shared_swap_kib,
  s.object_kib
FROM last
JOIN mapping_sample AS s ON s.tick_id = last.tick_id AND s.process_id = last.process_id AND s.mapping_id = last.mapping_id
JOIN mapping AS m ON m.id = last.mapping_id
WHERE s.regions > 0
ORDER BY s.process_id;
