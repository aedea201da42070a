-- A file of schema 10 read as it is: what schema 11 changed of its tables, as for schema 1 (001.sql). Day by day, so that those
-- who ask for one find its rows by the key.

CREATE TEMP VIEW IF NOT EXISTS high_water_before AS SELECT * FROM main.high_water;
DROP TABLE temp.mark;
CREATE TEMP VIEW mark AS
WITH RECURSIVE days (day_ms) AS (
  SELECT MIN(day_ms) FROM main.high_water
  UNION ALL
  SELECT (SELECT MIN(n.day_ms) FROM main.high_water AS n WHERE n.day_ms > d.day_ms) FROM days AS d WHERE d.day_ms IS NOT NULL
)
SELECT d.day_ms / 86400000 - (d.day_ms < 0) AS day, h.subject, h.subject_id, h.metric, h.value_kib,
  h.at_ms - MAX(d.day_ms, 0) AS after_ms, h.at_ms - h.before_ms AS before_ms, h.seen_by
FROM days AS d
CROSS JOIN temp.high_water_before AS h ON h.day_ms = d.day_ms;
