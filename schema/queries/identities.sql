-- Identities that were seen from ?1 to ?2 (ms). Their own last_ms is that of the last rollup: who has a living process lives.
SELECT i.id, i.unit, i.exe, i.command, i.first_ms, MAX(i.last_ms, COALESCE(p.last_ms, 0)) AS last_seen_ms
FROM identity AS i
LEFT JOIN (
  SELECT identity_id, MAX(COALESCE(last_ms, (SELECT t.wall_ms FROM tick AS t ORDER BY t.id DESC LIMIT 1))) AS last_ms
  FROM process GROUP BY identity_id) AS p ON p.identity_id = i.id
WHERE i.first_ms <= ?2 AND last_seen_ms >= ?1
ORDER BY i.id;
