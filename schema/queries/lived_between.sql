-- Those of `process`, or of a view of it, as p, that lived in one of the ticks from ?1 to ?2, or before one of them in
-- ticks that could not be stored; and, by the times in their own rows, those that lived between ?3 and ?4 when the ticks of
-- that time are gone.
WHERE (p.first_tick_id <= ?2 AND (p.gone_tick_id IS NULL OR p.gone_tick_id > ?1 OR p.first_tick_id >= ?1))
  OR (?3 < COALESCE((SELECT t.wall_ms FROM tick AS t ORDER BY t.id LIMIT 1), ?3 + 1)
    AND p.first_tick_id < COALESCE((SELECT t.id FROM tick AS t ORDER BY t.id LIMIT 1), p.first_tick_id + 1)
    AND p.first_ms <= ?4 AND (p.gone_ms IS NULL OR p.gone_ms > ?3))
ORDER BY p.id;
