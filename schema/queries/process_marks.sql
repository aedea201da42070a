-- Stored marks of metric ?3 of processes in the days from ?1 to ?2 (-1 is the day of those of all time) that were reached from
-- ?4 to ?5 (ms): day by day, so that no row of another metric is read. They come in the order of the days and the key; an ORDER
-- BY of its own would sort them all.
WITH RECURSIVE days (day_ms) AS (
  SELECT MIN(day_ms) FROM high_water WHERE day_ms BETWEEN ?1 AND ?2
  UNION ALL
  SELECT (SELECT MIN(n.day_ms) FROM high_water AS n WHERE n.day_ms > d.day_ms AND n.day_ms <= ?2)
  FROM days AS d
  WHERE d.day_ms IS NOT NULL
  ORDER BY 1
)
SELECT h.subject_id, h.value_kib, h.day_ms, h.at_ms, h.before_ms
FROM days AS d
CROSS JOIN high_water AS h ON h.day_ms = d.day_ms AND h.subject = 2 AND h.metric = ?3
WHERE h.at_ms BETWEEN ?4 AND ?5;
