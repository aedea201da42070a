-- Schema 5: rollups tell how much of them is exact, and when a peak was reached.
--
-- NULL in the new columns is "not known": of rows that were written before, and of what no time is kept of.

-- How much of the mean of PSS was not read exactly, in hundredths of a percent: RSS stands in for it. The same of all buckets of a row.
ALTER TABLE rollup_5min ADD COLUMN pss_inexact_bp INTEGER;
ALTER TABLE rollup_hour ADD COLUMN pss_inexact_bp INTEGER;
ALTER TABLE rollup_day ADD COLUMN pss_inexact_bp INTEGER;

-- When the PSS of a category, identity or cgroup was highest first, from the begin of the row's first bucket on.
ALTER TABLE rollup_hour ADD COLUMN pss_high_after_ms INTEGER;
ALTER TABLE rollup_day ADD COLUMN pss_high_after_ms INTEGER;

-- The same of the machine: when used_kib and swap_used_kib were highest first, and mem_available_kib was lowest.
ALTER TABLE machine_5min ADD COLUMN low_after_ms INTEGER;
ALTER TABLE machine_5min ADD COLUMN high_after_ms INTEGER;
ALTER TABLE machine_hour ADD COLUMN low_after_ms INTEGER;
ALTER TABLE machine_hour ADD COLUMN high_after_ms INTEGER;
ALTER TABLE machine_day ADD COLUMN low_after_ms INTEGER;
ALTER TABLE machine_day ADD COLUMN high_after_ms INTEGER;

DROP VIEW memory_5min;
CREATE VIEW memory_5min AS
SELECT r.hour * 3600000 + r.slot * 300000 AS from_ms, r.buckets * 300000 AS width_ms, r.buckets, COALESCE(r.covered_ms, 300000) AS covered_ms,
  CASE r.subject WHEN 1 THEN 'category' WHEN 2 THEN 'process' WHEN 3 THEN 'identity' ELSE 'cgroup' END AS subject,
  r.subject_id,
  CASE r.subject
    WHEN 1 THEN (SELECT c.name FROM category AS c WHERE c.id = r.subject_id)
    WHEN 2 THEN (SELECT p.comm || '[' || p.pid || ']' FROM process AS p WHERE p.id = r.subject_id)
    WHEN 3 THEN (SELECT i.unit || ' ' || i.command FROM identity AS i WHERE i.id = r.subject_id)
    ELSE (SELECT g.path FROM cgroup AS g WHERE g.id = r.subject_id)
  END AS name,
  r.processes,
  r.anon_kib, r.anon_kib - r.anon_low AS anon_min_kib, r.anon_kib + r.anon_mean AS anon_mean_kib, r.anon_kib + r.anon_high AS anon_max_kib,
  r.rss_kib, r.rss_kib - COALESCE(r.rss_low, r.anon_low, 0) AS rss_min_kib, r.rss_kib + COALESCE(r.rss_mean, r.anon_mean, 0) AS rss_mean_kib, r.rss_kib + COALESCE(r.rss_high, r.anon_high, 0) AS rss_max_kib,
  r.pss_kib, r.pss_kib - COALESCE(r.pss_low, r.anon_low, 0) AS pss_min_kib, r.pss_kib + COALESCE(r.pss_mean, r.anon_mean, 0) AS pss_mean_kib, r.pss_kib + COALESCE(r.pss_high, r.anon_high, 0) AS pss_max_kib,
  r.uss_kib, r.uss_kib - COALESCE(r.uss_low, r.anon_low, 0) AS uss_min_kib, r.uss_kib + COALESCE(r.uss_mean, r.anon_mean, 0) AS uss_mean_kib, r.uss_kib + COALESCE(r.uss_high, r.anon_high, 0) AS uss_max_kib,
  r.swap_kib, r.swap_kib - r.swap_low AS swap_min_kib, r.swap_kib + r.swap_mean AS swap_mean_kib, r.swap_kib + r.swap_high AS swap_max_kib,
  r.swap_pss_kib, r.swap_pss_kib - r.swap_pss_low AS swap_pss_min_kib, r.swap_pss_kib + r.swap_pss_mean AS swap_pss_mean_kib, r.swap_pss_kib + r.swap_pss_high AS swap_pss_max_kib,
  r.pss_inexact_bp
FROM rollup_5min AS r;

DROP VIEW machine_metric_5min;
CREATE VIEW machine_metric_5min AS
SELECT r.hour * 3600000 + r.slot * 300000 AS from_ms, r.buckets * 300000 AS width_ms, r.buckets, COALESCE(r.covered_ms, 300000) AS covered_ms,
  m.name AS metric, r.value, r.value - r.low AS min, r.value + r.mean AS mean, r.value + r.high AS max,
  r.hour * 3600000 + r.slot * 300000 + r.low_after_ms AS min_at_ms, r.hour * 3600000 + r.slot * 300000 + r.high_after_ms AS max_at_ms
FROM machine_5min AS r
JOIN machine_metric AS m ON m.id = r.metric;

DROP VIEW memory_hour;
CREATE VIEW memory_hour AS
SELECT r.day * 86400000 + r.slot * 3600000 AS from_ms, r.buckets * 3600000 AS width_ms, r.buckets, COALESCE(r.covered_ms, 3600000) AS covered_ms,
  CASE r.subject WHEN 1 THEN 'category' WHEN 2 THEN 'process' WHEN 3 THEN 'identity' ELSE 'cgroup' END AS subject,
  r.subject_id,
  CASE r.subject
    WHEN 1 THEN (SELECT c.name FROM category AS c WHERE c.id = r.subject_id)
    WHEN 2 THEN (SELECT p.comm || '[' || p.pid || ']' FROM process AS p WHERE p.id = r.subject_id)
    WHEN 3 THEN (SELECT i.unit || ' ' || i.command FROM identity AS i WHERE i.id = r.subject_id)
    ELSE (SELECT g.path FROM cgroup AS g WHERE g.id = r.subject_id)
  END AS name,
  r.processes,
  r.anon_kib, r.anon_kib - r.anon_low AS anon_min_kib, r.anon_kib + r.anon_mean AS anon_mean_kib, r.anon_kib + r.anon_high AS anon_max_kib,
  r.rss_kib, r.rss_kib - COALESCE(r.rss_low, r.anon_low, 0) AS rss_min_kib, r.rss_kib + COALESCE(r.rss_mean, r.anon_mean, 0) AS rss_mean_kib, r.rss_kib + COALESCE(r.rss_high, r.anon_high, 0) AS rss_max_kib,
  r.pss_kib, r.pss_kib - COALESCE(r.pss_low, r.anon_low, 0) AS pss_min_kib, r.pss_kib + COALESCE(r.pss_mean, r.anon_mean, 0) AS pss_mean_kib, r.pss_kib + COALESCE(r.pss_high, r.anon_high, 0) AS pss_max_kib,
  r.uss_kib, r.uss_kib - COALESCE(r.uss_low, r.anon_low, 0) AS uss_min_kib, r.uss_kib + COALESCE(r.uss_mean, r.anon_mean, 0) AS uss_mean_kib, r.uss_kib + COALESCE(r.uss_high, r.anon_high, 0) AS uss_max_kib,
  r.swap_kib, r.swap_kib - r.swap_low AS swap_min_kib, r.swap_kib + r.swap_mean AS swap_mean_kib, r.swap_kib + r.swap_high AS swap_max_kib,
  r.swap_pss_kib, r.swap_pss_kib - r.swap_pss_low AS swap_pss_min_kib, r.swap_pss_kib + r.swap_pss_mean AS swap_pss_mean_kib, r.swap_pss_kib + r.swap_pss_high AS swap_pss_max_kib,
  r.pss_inexact_bp, r.day * 86400000 + r.slot * 3600000 + r.pss_high_after_ms AS pss_max_at_ms
FROM rollup_hour AS r;

DROP VIEW machine_metric_hour;
CREATE VIEW machine_metric_hour AS
SELECT r.day * 86400000 + r.slot * 3600000 AS from_ms, r.buckets * 3600000 AS width_ms, r.buckets, COALESCE(r.covered_ms, 3600000) AS covered_ms,
  m.name AS metric, r.value, r.value - r.low AS min, r.value + r.mean AS mean, r.value + r.high AS max,
  r.day * 86400000 + r.slot * 3600000 + r.low_after_ms AS min_at_ms, r.day * 86400000 + r.slot * 3600000 + r.high_after_ms AS max_at_ms
FROM machine_hour AS r
JOIN machine_metric AS m ON m.id = r.metric;

DROP VIEW memory_day;
CREATE VIEW memory_day AS
SELECT r.day * 86400000 AS from_ms, r.buckets * 86400000 AS width_ms, r.buckets, COALESCE(r.covered_ms, 86400000) AS covered_ms,
  CASE r.subject WHEN 1 THEN 'category' WHEN 2 THEN 'process' WHEN 3 THEN 'identity' ELSE 'cgroup' END AS subject,
  r.subject_id,
  CASE r.subject
    WHEN 1 THEN (SELECT c.name FROM category AS c WHERE c.id = r.subject_id)
    WHEN 2 THEN (SELECT p.comm || '[' || p.pid || ']' FROM process AS p WHERE p.id = r.subject_id)
    WHEN 3 THEN (SELECT i.unit || ' ' || i.command FROM identity AS i WHERE i.id = r.subject_id)
    ELSE (SELECT g.path FROM cgroup AS g WHERE g.id = r.subject_id)
  END AS name,
  r.processes,
  r.anon_kib, r.anon_kib - r.anon_low AS anon_min_kib, r.anon_kib + r.anon_mean AS anon_mean_kib, r.anon_kib + r.anon_high AS anon_max_kib,
  r.rss_kib, r.rss_kib - COALESCE(r.rss_low, r.anon_low, 0) AS rss_min_kib, r.rss_kib + COALESCE(r.rss_mean, r.anon_mean, 0) AS rss_mean_kib, r.rss_kib + COALESCE(r.rss_high, r.anon_high, 0) AS rss_max_kib,
  r.pss_kib, r.pss_kib - COALESCE(r.pss_low, r.anon_low, 0) AS pss_min_kib, r.pss_kib + COALESCE(r.pss_mean, r.anon_mean, 0) AS pss_mean_kib, r.pss_kib + COALESCE(r.pss_high, r.anon_high, 0) AS pss_max_kib,
  r.uss_kib, r.uss_kib - COALESCE(r.uss_low, r.anon_low, 0) AS uss_min_kib, r.uss_kib + COALESCE(r.uss_mean, r.anon_mean, 0) AS uss_mean_kib, r.uss_kib + COALESCE(r.uss_high, r.anon_high, 0) AS uss_max_kib,
  r.swap_kib, r.swap_kib - r.swap_low AS swap_min_kib, r.swap_kib + r.swap_mean AS swap_mean_kib, r.swap_kib + r.swap_high AS swap_max_kib,
  r.swap_pss_kib, r.swap_pss_kib - r.swap_pss_low AS swap_pss_min_kib, r.swap_pss_kib + r.swap_pss_mean AS swap_pss_mean_kib, r.swap_pss_kib + r.swap_pss_high AS swap_pss_max_kib,
  r.pss_inexact_bp, r.day * 86400000 + r.pss_high_after_ms AS pss_max_at_ms
FROM rollup_day AS r;

DROP VIEW machine_metric_day;
CREATE VIEW machine_metric_day AS
SELECT r.day * 86400000 AS from_ms, r.buckets * 86400000 AS width_ms, r.buckets, COALESCE(r.covered_ms, 86400000) AS covered_ms,
  m.name AS metric, r.value, r.value - r.low AS min, r.value + r.mean AS mean, r.value + r.high AS max,
  r.day * 86400000 + r.low_after_ms AS min_at_ms, r.day * 86400000 + r.high_after_ms AS max_at_ms
FROM machine_day AS r
JOIN machine_metric AS m ON m.id = r.metric;
