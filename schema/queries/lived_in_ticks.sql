-- Like lived_between.sql, for a range that still has all of its ticks. It uses the index by exit, because most
-- processes had exited before the range, and ?3, the last process that was first observed up to tick ?2, because of the
-- others most started after it: the index has their ids, which are in the order of first_tick_id.
WHERE p.id IN (
    SELECT l.id FROM process AS l WHERE l.exited_tick_id IS NULL AND l.id <= ?3
    UNION ALL SELECT g.id FROM process AS g WHERE g.exited_tick_id >= ?1 AND g.id <= ?3
  )
  AND p.first_tick_id <= ?2 AND (p.exited_tick_id IS NULL OR p.exited_tick_id > ?1 OR p.first_tick_id >= ?1)
ORDER BY p.id;
