-- Known cgroups at tick ?2 with keyframe ?1.
WITH last AS (
  SELECT cgroup_id, MAX(tick_id) AS tick_id FROM cgroup_sample WHERE tick_id BETWEEN ?1 AND ?2 GROUP BY cgroup_id
)
SELECT g.path, s.current_kib, s.file_kib, s.swap_kib, s.max_kib, s.high_kib, s.swap_max_kib, s.anon_kib,
  s.shmem_kib, s.kernel_kib
FROM last
JOIN cgroup_sample AS s ON s.tick_id = last.tick_id AND s.cgroup_id = last.cgroup_id
JOIN cgroup AS g ON g.id = last.cgroup_id
WHERE s.current_kib IS NOT NULL
ORDER BY g.path;
