-- Stretches of recording from ?1 to ?2 (ms), with the one before and the one after, that began before tick ?3.
SELECT s.first_tick_id, s.last_tick_id, s.from_ms, s.to_ms, s.to_boot_ms, s.run_id, r.boot_id, r.interval_ms, r.end_reason,
  s.gap
FROM stretch AS s
JOIN run AS r ON r.id = s.run_id
WHERE s.first_tick_id < ?3
  AND s.id >= COALESCE((SELECT b.id FROM stretch AS b WHERE b.from_ms <= ?1 ORDER BY b.from_ms DESC, b.id DESC LIMIT 1), 0)
  AND s.id <= COALESCE((SELECT a.id FROM stretch AS a WHERE a.from_ms > ?2 ORDER BY a.from_ms, a.id LIMIT 1),
    (SELECT MAX(m.id) FROM stretch AS m))
ORDER BY s.id;
