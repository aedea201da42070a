-- How many processes have such marks.
SELECT COUNT(DISTINCT subject_id)
FROM high_water
WHERE (?1 < 0 OR day_ms BETWEEN ?1 AND ?2) AND (day_ms < 0 OR day_ms >= COALESCE((SELECT r.day_from_ms FROM retention AS r), 0))
  AND subject = 2 AND metric = ?3 AND at_ms BETWEEN ?4 AND ?5;
