-- Stored marks of metric ?3 of processes in the days from ?1 to ?2 (-1 is the day of those of all time) that were reached from
-- ?4 to ?5 (ms). The metric comes first: it rules out most rows.
SELECT subject_id, value_kib, day_ms, at_ms, before_ms
FROM high_water
WHERE metric = ?3 AND subject = 2 AND day_ms BETWEEN ?1 AND ?2 AND at_ms BETWEEN ?4 AND ?5;
