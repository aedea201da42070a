-- What cgroups held by their own counters, after the watermark of high_water: memory.current, the anonymous part of it, and
-- memory.swap.current.
SELECT t.wall_ms, b.wall_ms AS before_ms, s.cgroup_id, s.current_kib, s.anon_kib, s.swap_kib
FROM high_water_mark AS w
CROSS JOIN cgroup_sample AS s ON s.tick_id > w.tick_id
JOIN tick AS t ON t.id = s.tick_id
LEFT JOIN tick AS b ON b.id = t.id - 1 AND b.run_id = t.run_id
ORDER BY s.tick_id, s.cgroup_id;
