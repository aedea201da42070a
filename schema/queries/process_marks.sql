-- The ?6 highest marks of metric ?3 of processes in the days from ?1 to ?2 (-1 for both: of all time, which for a process of one day are those of its day) that were reached from
-- ?4 to ?5 (ms), one of each process.
SELECT subject_id, day_ms, MAX(value_kib) AS highest_kib, at_ms, before_ms
FROM high_water
WHERE (?1 < 0 OR day_ms BETWEEN ?1 AND ?2) AND (day_ms < 0 OR day_ms >= COALESCE((SELECT r.day_from_ms FROM retention AS r), 0))
  AND subject = 2 AND metric = ?3 AND at_ms BETWEEN ?4 AND ?5
GROUP BY subject_id
ORDER BY highest_kib DESC, at_ms, subject_id
LIMIT ?6;
