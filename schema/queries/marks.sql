-- Marks of subjects of kind ?1 with ids from ?7 to ?8, and of metric ?6 or, if that is NULL, of all metrics. They are
-- of the days from ?2 to ?3 (marks of all time have day -1), and were reached from ?4 to ?5 (ms). The query goes day by
-- day and metric by metric, so that it reads no row of another kind or metric. The rows therefore come in the order of
-- day and key, without an ORDER BY, which would sort them all again.
WITH RECURSIVE days (day) AS (
  SELECT MIN(day) FROM mark WHERE day BETWEEN ?2 AND ?3
  UNION ALL
  SELECT (SELECT MIN(n.day) FROM mark AS n WHERE n.day > d.day AND n.day <= ?3)
  FROM days AS d
  WHERE d.day IS NOT NULL
  ORDER BY 1
)
SELECT h.subject_id, h.metric, h.value_kib, MAX(h.day, 0) * 86400000 AS day_ms,
  MAX(h.day, 0) * 86400000 + h.after_ms AS at_ms, h.before_ms, h.seen_by
FROM days AS d
CROSS JOIN metric AS m ON m.has_marks
CROSS JOIN mark AS h ON h.day = d.day AND h.subject = ?1 AND h.metric = m.id AND h.subject_id BETWEEN ?7 AND ?8
WHERE m.id = COALESCE(?6, m.id) AND at_ms BETWEEN ?4 AND ?5;
