-- Identities that were seen from ?1 to ?2 (ms). Their own last_ms is that of the last rollup: who has a living process lives.
SELECT i.id, i.unit, i.exe, i.command, i.first_ms,
  MAX(i.last_ms, COALESCE((
    SELECT MAX(COALESCE(p.last_ms, (SELECT t.wall_ms FROM tick AS t ORDER BY t.id DESC LIMIT 1)))
    FROM process AS p WHERE p.identity_id = i.id), 0)) AS last_seen_ms
FROM identity AS i
WHERE i.first_ms <= ?2 AND last_seen_ms >= ?1
ORDER BY i.id;
