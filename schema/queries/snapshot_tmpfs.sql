-- tmpfs mounts at tick ?2 with keyframe ?1.
WITH last AS (
  SELECT tmpfs_id, MAX(tick_id) AS tick_id FROM tmpfs_sample WHERE tick_id BETWEEN ?1 AND ?2 GROUP BY tmpfs_id
)
SELECT m.id, m.mount_point, s.state, s.source, s.limit_kib, s.used_kib, s.inodes, s.walked_ms, s.entries, s.directories,
  s.symlinks, s.sockets, s.fifos, s.devices, s.closed, s.allocated_kib, s.logical_kib
FROM last
JOIN tmpfs_sample AS s ON s.tick_id = last.tick_id AND s.tmpfs_id = last.tmpfs_id
JOIN tmpfs AS m ON m.id = last.tmpfs_id
WHERE s.state <> 3
ORDER BY m.mount_point;
