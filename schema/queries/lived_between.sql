-- Condition on `process`, or a view of it, as p. It includes processes that ran in one of the ticks from ?1 to ?2, or
-- before one of them in ticks that could not be stored. It also includes processes that ran between ?3 and ?4 (ms) by
-- the times in their own rows, if the ticks of that time have expired.
WHERE (p.first_tick_id <= ?2 AND (p.exited_tick_id IS NULL OR p.exited_tick_id > ?1 OR p.first_tick_id >= ?1))
  OR (?3 < COALESCE((SELECT t.wall_ms FROM tick AS t ORDER BY t.id LIMIT 1), ?3 + 1)
    AND p.first_tick_id < COALESCE((SELECT t.id FROM tick AS t ORDER BY t.id LIMIT 1), p.first_tick_id + 1)
    AND p.first_ms <= ?4 AND (p.exited_ms IS NULL OR p.exited_ms > ?3))
ORDER BY p.id;
