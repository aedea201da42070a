-- What was seen between the ticks after the watermark of high_water: by a look, when a process ended, or by a cgroup's own
-- counter (high_water.seen_by).
SELECT t.wall_ms, b.wall_ms AS before_ms, e.subject, e.subject_id, e.metric, e.low_kib, t.wall_ms - e.low_before_ms AS low_ms,
  e.high_kib, t.wall_ms - e.high_before_ms AS high_ms, t.wall_ms - e.high_after_ms AS high_after_ms,
  e.high_seen_by
FROM high_water_mark AS w
CROSS JOIN extreme AS e ON e.tick_id > w.tick_id
JOIN tick AS t ON t.id = e.tick_id
LEFT JOIN tick AS b ON b.id = t.id - 1 AND b.run_id = t.run_id
ORDER BY e.tick_id, e.subject, e.subject_id, e.metric;
