-- The last row of process ?3 in each table from tick ?1, a keyframe, to tick ?2. The ticks are searched one by one
-- from the last, because rows are ordered by tick. MATERIALIZED keeps SQLite from searching twice.
WITH hot AS MATERIALIZED (
  SELECT s.process_id, s.tick_id
  FROM tick AS t
  CROSS JOIN process_sample AS s ON s.tick_id = t.id AND s.process_id = ?3
  WHERE t.id BETWEEN ?1 AND ?2
  ORDER BY t.id DESC LIMIT 1
), reading AS MATERIALIZED (
  SELECT r.process_id, r.tick_id
  FROM tick AS t
  CROSS JOIN process_reading AS r ON r.tick_id = t.id AND r.process_id = ?3
  WHERE t.id BETWEEN ?1 AND ?2
  ORDER BY t.id DESC LIMIT 1
), cold AS MATERIALIZED (
  SELECT d.process_id, d.tick_id
  FROM tick AS t
  CROSS JOIN process_state AS d ON d.tick_id = t.id AND d.process_id = ?3
  WHERE t.id BETWEEN ?1 AND ?2
  ORDER BY t.id DESC LIMIT 1
)
