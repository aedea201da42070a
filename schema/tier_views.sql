-- Made for each tier (src/store/sqlite/CMakeLists.txt).
CREATE VIEW memory_@tier@ AS
SELECT @from@ AS from_ms, r.buckets * @width@ AS width_ms, r.buckets, COALESCE(r.covered_ms, @width@) AS covered_ms,
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
  IIF(w.buckets IS NULL, r.anon_kib * 0, w.swap_kib) AS swap_kib, IIF(w.buckets IS NULL, r.anon_kib * 0, w.swap_kib - w.swap_low) AS swap_min_kib, IIF(w.buckets IS NULL, r.anon_kib * 0, w.swap_kib + w.swap_mean) AS swap_mean_kib, IIF(w.buckets IS NULL, r.anon_kib * 0, w.swap_kib + w.swap_high) AS swap_max_kib,
  IIF(w.buckets IS NULL, r.uss_kib * 0, w.swap_pss_kib) AS swap_pss_kib, IIF(w.buckets IS NULL, r.uss_kib * 0, w.swap_pss_kib - w.swap_pss_low) AS swap_pss_min_kib, IIF(w.buckets IS NULL, r.uss_kib * 0, w.swap_pss_kib + w.swap_pss_mean) AS swap_pss_mean_kib, IIF(w.buckets IS NULL, r.uss_kib * 0, w.swap_pss_kib + w.swap_pss_high) AS swap_pss_max_kib,
  r.pss_inexact_bp@pss_max_at@
FROM rollup_@tier@ AS r
LEFT JOIN swap_@tier@ AS w USING (@block@, subject, subject_id, slot);

CREATE VIEW machine_metric_@tier@ AS
SELECT @from@ AS from_ms, r.buckets * @width@ AS width_ms, r.buckets, COALESCE(r.covered_ms, @width@) AS covered_ms,
  m.name AS metric, r.value, r.value - r.low AS min, r.value + r.mean AS mean, r.value + r.high AS max,
  @from@ + r.low_after_ms AS min_at_ms, @from@ + r.high_after_ms AS max_at_ms
FROM machine_@tier@ AS r
JOIN machine_metric AS m ON m.id = r.metric;
