-- Marks that are not in the table `mark` yet, with the parameters and columns of marks.sql.
SELECT subject_id, metric, value_kib, day * 86400000 AS day_ms, day * 86400000 + after_ms AS at_ms, before_ms, seen_by
FROM raised_mark
WHERE subject = ?1 AND day BETWEEN ?2 AND ?3 AND at_ms BETWEEN ?4 AND ?5 AND metric = COALESCE(?6, metric)
  AND subject_id BETWEEN ?7 AND ?8
ORDER BY id;
