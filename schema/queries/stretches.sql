-- Stretches of recording from ?1 to ?2 (ms), with the adjacent ones, which bound the gaps at the ends. The values of a
-- stretch's last tick are valid for up to two intervals. If the wall clock was set back, a stretch recorded later may
-- have an earlier time.
WITH near (id) AS (
  SELECT o.id
  FROM stretch AS o
  JOIN run AS q ON q.id = o.run_id
  WHERE o.to_ms + 2 * q.interval_ms >= ?1 AND o.from_ms <= ?2
  UNION ALL
  SELECT b.id FROM (SELECT id FROM stretch WHERE from_ms <= ?1 ORDER BY from_ms DESC, id DESC LIMIT 1) AS b
  UNION ALL
  SELECT a.id FROM (SELECT id FROM stretch WHERE from_ms > ?2 ORDER BY from_ms, id LIMIT 1) AS a
)
SELECT s.first_tick_id, s.last_tick_id, s.from_ms, s.to_ms, s.to_boot_ms, s.run_id, r.boot_id, r.interval_ms, r.stop_reason,
  s.gap
FROM stretch AS s
JOIN run AS r ON r.id = s.run_id
WHERE s.id BETWEEN (SELECT MIN(n.id) FROM near AS n) - 1 AND (SELECT MAX(n.id) FROM near AS n) + 1
ORDER BY s.id;
