-- Those of lived_between.sql where all of the range still has its ticks: found by the index of who is gone, since most of
-- those that ever lived were gone before.
WHERE p.id IN (
    SELECT l.id FROM process AS l WHERE l.gone_tick_id IS NULL
    UNION ALL SELECT g.id FROM process AS g WHERE g.gone_tick_id >= ?1
  )
  AND p.first_tick_id <= ?2 AND (p.gone_tick_id IS NULL OR p.gone_tick_id > ?1 OR p.first_tick_id >= ?1)
ORDER BY p.id;
