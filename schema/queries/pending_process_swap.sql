-- Swap of processes after the watermark of high_water. Who has some has a row in process_rare.
SELECT t.wall_ms, b.wall_ms AS before_ms, d.process_id, d.swap_kib
FROM high_water_mark AS w
CROSS JOIN process_rare AS d ON d.tick_id > w.tick_id
JOIN tick AS t ON t.id = d.tick_id
LEFT JOIN tick AS b ON b.id = t.id - 1 AND b.run_id = t.run_id
ORDER BY d.tick_id, d.process_id;
