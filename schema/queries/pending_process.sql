-- Process samples after the watermark of high_water. start_ms only where it is the process's first tick. CROSS JOIN keeps
-- SQLite from starting anywhere but at the watermark.
SELECT t.wall_ms, b.wall_ms AS before_ms, s.process_id, s.source,
  CASE p.first_tick_id WHEN s.tick_id THEN p.start_ms END AS start_if_first_ms,
  s.pss_kib, s.private_clean_kib, s.private_dirty_kib, s.vm_hwm_kib, s.vm_rss_kib, s.rss_kib
FROM high_water_mark AS w
CROSS JOIN process_sample_full AS s ON s.tick_id > w.tick_id
JOIN tick AS t ON t.id = s.tick_id
LEFT JOIN tick AS b ON b.id = t.id - 1 AND b.run_id = t.run_id
JOIN process AS p ON p.id = s.process_id
WHERE s.source <> 5
ORDER BY s.tick_id, s.process_id;
