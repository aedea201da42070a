-- Of process ?3 the last row of either table from tick ?1, a keyframe, to tick ?2: looked for tick by tick from the last,
-- since the rows lie by ticks. MATERIALIZED keeps SQLite from looking twice.
WITH hot AS MATERIALIZED (
  SELECT s.process_id, s.tick_id
  FROM tick AS t
  CROSS JOIN process_sample AS s ON s.tick_id = t.id AND s.process_id = ?3
  WHERE t.id BETWEEN ?1 AND ?2
  ORDER BY t.id DESC LIMIT 1
), cold AS MATERIALIZED (
  SELECT d.process_id, d.tick_id
  FROM tick AS t
  CROSS JOIN process_state AS d ON d.tick_id = t.id AND d.process_id = ?3
  WHERE t.id BETWEEN ?1 AND ?2
  ORDER BY t.id DESC LIMIT 1
)
