-- A file of schema 10 read as it is: what schema 11 changed of its tables, as for schema 1 (001.sql).

-- Day by day, so that those who ask for one find its rows by the key.
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

@for each tier@
CREATE TEMP VIEW IF NOT EXISTS rollup_@tier@_before AS SELECT * FROM main.rollup_@tier@;
CREATE TEMP VIEW IF NOT EXISTS rollup_@tier@ AS
SELECT @block@, subject, subject_id, slot, buckets, covered_ms, processes, anon_kib, anon_low, anon_mean, anon_high,
  rss_kib, rss_low, rss_mean, rss_high, pss_kib, pss_low, pss_mean, pss_high, uss_kib, uss_low, uss_mean, uss_high,
  pss_inexact_bp@peak@
FROM temp.rollup_@tier@_before;
DROP TABLE temp.swap_@tier@;
CREATE TEMP VIEW swap_@tier@ AS
SELECT @block@, subject, subject_id, slot, buckets, swap_kib, swap_low, swap_mean, swap_high,
  swap_pss_kib, swap_pss_low, swap_pss_mean, swap_pss_high
FROM temp.rollup_@tier@_before
WHERE (swap_kib, swap_low, swap_mean, swap_high) IS NOT (anon_kib * 0, anon_kib * 0, anon_kib * 0, anon_kib * 0)
  OR (swap_pss_kib, swap_pss_low, swap_pss_mean, swap_pss_high) IS NOT (uss_kib * 0, uss_kib * 0, uss_kib * 0, uss_kib * 0);
@end@

CREATE TEMP VIEW IF NOT EXISTS command AS SELECT id, exe, line, 0 AS line_digest FROM main.command;
