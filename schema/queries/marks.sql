-- Stored marks of subjects of kind ?1 in the days from ?2 to ?3 (-1 is the day of those of all time) that were reached from
-- ?4 to ?5 (ms): of metric ?6, or of all where that is NULL. Day by day and metric by metric, so that no row of another kind or
-- metric is read. They come in the order of the days and the key; an ORDER BY of its own would sort them all.
WITH RECURSIVE days (day_ms) AS (
  SELECT MIN(day_ms) FROM high_water WHERE day_ms BETWEEN ?2 AND ?3
  UNION ALL
  SELECT (SELECT MIN(n.day_ms) FROM high_water AS n WHERE n.day_ms > d.day_ms AND n.day_ms <= ?3)
  FROM days AS d
  WHERE d.day_ms IS NOT NULL
  ORDER BY 1
)
SELECT h.subject_id, h.metric, h.value_kib, h.day_ms, h.at_ms, h.before_ms, h.seen_by
FROM days AS d
CROSS JOIN high_water_metric AS m
CROSS JOIN high_water AS h ON h.day_ms = d.day_ms AND h.subject = ?1 AND h.metric = m.id
WHERE m.id = COALESCE(?6, m.id) AND h.at_ms BETWEEN ?4 AND ?5;
