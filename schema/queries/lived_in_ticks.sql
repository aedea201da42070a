-- Like lived_between.sql, for a range that still has all of its ticks. It uses the index by exit, because most
-- processes had exited before the range.
WHERE p.id IN (
    SELECT l.id FROM process AS l WHERE l.exited_tick_id IS NULL
    UNION ALL SELECT g.id FROM process AS g WHERE g.exited_tick_id >= ?1
  )
  AND p.first_tick_id <= ?2 AND (p.exited_tick_id IS NULL OR p.exited_tick_id > ?1 OR p.first_tick_id >= ?1)
ORDER BY p.id;
