-- The last row of each process in each table from tick ?1, a keyframe, to tick ?2.
WITH hot AS (
  SELECT process_id, MAX(tick_id) AS tick_id FROM process_sample WHERE tick_id BETWEEN ?1 AND ?2 GROUP BY process_id
), reading AS (
  SELECT process_id, MAX(tick_id) AS tick_id FROM process_reading WHERE tick_id BETWEEN ?1 AND ?2 GROUP BY process_id
), cold AS (
  SELECT process_id, MAX(tick_id) AS tick_id FROM process_state WHERE tick_id BETWEEN ?1 AND ?2 GROUP BY process_id
)
