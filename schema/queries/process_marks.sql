-- Stored marks of metric ?3 of processes in the days from ?1 to ?2 (-1 is the day of those of all time) that were reached from
-- ?4 to ?5 (ms).
SELECT subject_id, value_kib, day_ms, at_ms, before_ms
FROM high_water
WHERE day_ms BETWEEN ?1 AND ?2
  AND (day_ms < 0 OR day_ms >= COALESCE((SELECT r.day_from_ms FROM retention AS r), 0))
  AND subject = 2 AND metric = ?3 AND at_ms BETWEEN ?4 AND ?5;
