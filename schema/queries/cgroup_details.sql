-- Slow-changing cgroup counters valid at tick ?2 with keyframe ?1.
WITH last AS (
  SELECT cgroup_id, MAX(tick_id) AS tick_id FROM cgroup_detail WHERE tick_id BETWEEN ?1 AND ?2 GROUP BY cgroup_id
)
SELECT g.path, d.min_kib, d.low_kib, d.peak_kib, d.swap_peak_kib, d.low_events, d.high_events, d.max_events, d.oom_events,
  d.oom_kills, d.own_oom_kills, d.psi_some_total_us, d.psi_full_total_us
FROM last
JOIN cgroup_detail AS d ON d.tick_id = last.tick_id AND d.cgroup_id = last.cgroup_id
JOIN cgroup AS g ON g.id = last.cgroup_id
ORDER BY g.path;
