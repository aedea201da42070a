-- Valid mapping summaries at tick ?2 with keyframe ?1, of process ?3 or, if that is NULL, of all processes.
WITH last AS (
  SELECT process_id, MAX(tick_id) AS tick_id FROM mapping_summary
  WHERE tick_id BETWEEN ?1 AND ?2 AND (?3 IS NULL OR process_id = ?3) GROUP BY process_id
)
SELECT l.process_id, p.pid, p.start_ticks, p.exec_count, l.state, l.read_ms, l.regions, l.cpu_us, l.wall_us
FROM last
JOIN mapping_summary AS l ON l.tick_id = last.tick_id AND l.process_id = last.process_id
JOIN process AS p ON p.id = last.process_id
WHERE l.state <> 3
ORDER BY l.process_id;
