-- Stored high-water marks of the machine and of groups, of the days from ?1 to ?2 (-1 for both: of all time): of
-- the kinds ?3 to ?6, of which any may be NULL.
WITH RECURSIVE asked (day_ms) AS (
  SELECT ?1 UNION ALL SELECT a.day_ms + 86400000 FROM asked AS a WHERE a.day_ms + 86400000 <= ?2
)
SELECT h.day_ms, h.subject, h.subject_id, h.metric, h.value_kib, h.at_ms, h.before_ms
FROM high_water AS h
WHERE h.day_ms IN (SELECT a.day_ms FROM asked AS a) AND h.subject IN (?3, ?4, ?5, ?6)
  AND (h.day_ms < 0 OR h.day_ms >= COALESCE((SELECT r.day_from_ms FROM retention AS r), 0))
ORDER BY h.day_ms, h.subject, h.subject_id, h.metric;
