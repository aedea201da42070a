-- Stored high-water marks of the days from ?1 to ?2 (-1 for both: of all time). A process that lived in one day only has
-- those of that day alone.
SELECT day_ms, subject, subject_id, metric, value_kib, at_ms, before_ms
FROM high_water
WHERE day_ms BETWEEN ?1 AND ?2 AND (day_ms < 0 OR day_ms >= COALESCE((SELECT r.day_from_ms FROM retention AS r), 0))
UNION ALL
SELECT -1, subject, subject_id, metric, value_kib, at_ms, before_ms
FROM high_water
WHERE ?1 < 0 AND day_ms >= 0 AND subject = 2;
