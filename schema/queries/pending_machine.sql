-- Machine samples after the watermark of high_water, each tick with the last row of either table.
SELECT t.wall_ms, b.wall_ms AS before_ms, 0 AS subject_id,
  (SELECT s.mem_available_kib FROM machine_sample AS s WHERE s.tick_id <= t.id ORDER BY s.tick_id DESC LIMIT 1) AS mem_available_kib,
  d.mem_total_kib, d.swap_total_kib, d.swap_free_kib
FROM high_water_mark AS w
CROSS JOIN tick AS t ON t.id > w.tick_id
JOIN machine_detail AS d ON d.tick_id = (SELECT MAX(l.tick_id) FROM machine_detail AS l WHERE l.tick_id <= t.id)
LEFT JOIN tick AS b ON b.id = t.id - 1 AND b.run_id = t.run_id
ORDER BY t.id;
