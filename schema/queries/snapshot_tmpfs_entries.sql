-- Entries of the tmpfs mounts at tick ?2 with keyframe ?1.
WITH last AS (
  SELECT entry_id, MAX(tick_id) AS tick_id FROM tmpfs_entry_sample WHERE tick_id BETWEEN ?1 AND ?2 GROUP BY entry_id
)
SELECT e.id, e.tmpfs_id, e.path, e.directory, s.allocated_kib, s.logical_kib, s.entries, s.uid, s.changed_ms
FROM last
JOIN tmpfs_entry_sample AS s ON s.tick_id = last.tick_id AND s.entry_id = last.entry_id
JOIN tmpfs_entry AS e ON e.id = last.entry_id
WHERE s.allocated_kib IS NOT NULL
ORDER BY e.tmpfs_id, e.path, e.directory;
