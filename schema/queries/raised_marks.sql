-- Marks of subjects of kind ?1 in the days from ?2 to ?3 that were reached from ?4 to ?5 (ms), and have not moved to
-- the table mark yet: of metric ?6, or of all if that is NULL; of the subjects from ?7 to ?8. The columns are those of
-- marks.sql.
SELECT subject_id, metric, value_kib, day * 86400000 AS day_ms, day * 86400000 + after_ms AS at_ms, before_ms, seen_by
FROM raised_mark
WHERE subject = ?1 AND day BETWEEN ?2 AND ?3 AND at_ms BETWEEN ?4 AND ?5 AND metric = COALESCE(?6, metric)
  AND subject_id BETWEEN ?7 AND ?8
ORDER BY id;
