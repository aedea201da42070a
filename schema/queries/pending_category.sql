-- Category samples after the watermark of high_water.
SELECT t.wall_ms, b.wall_ms AS before_ms, s.category_id, s.pss_kib, s.rss_kib, s.uss_kib, s.swap_kib
FROM high_water_mark AS w
CROSS JOIN category_sample AS s ON s.tick_id > w.tick_id
JOIN tick AS t ON t.id = s.tick_id
LEFT JOIN tick AS b ON b.id = t.id - 1 AND b.run_id = t.run_id
ORDER BY s.tick_id, s.category_id;
