-- Stored high-water marks of the days from ?1 to ?2 (-1 for both: of all time). A process that lived in one day only has
-- those of that day alone; so those of all its days come first, in order: of equal ones the first counts.
SELECT -1 AS day_ms, subject, subject_id, metric, value_kib, at_ms, before_ms, 0 AS part, day_ms AS marked_day_ms
FROM high_water
WHERE ?1 < 0 AND day_ms >= 0 AND subject = 2
UNION ALL
SELECT day_ms, subject, subject_id, metric, value_kib, at_ms, before_ms, 1, day_ms
FROM high_water
WHERE day_ms BETWEEN ?1 AND ?2 AND (day_ms < 0 OR day_ms >= COALESCE((SELECT r.day_from_ms FROM retention AS r), 0))
ORDER BY part, marked_day_ms, subject, metric, subject_id;
