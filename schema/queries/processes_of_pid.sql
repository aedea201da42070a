-- Processes with pid ?1 that ran between ?2 and ?3 (ms), by the times in their own rows.
WHERE p.id IN (SELECT q.id FROM process AS q WHERE q.boot_id IN (SELECT b.id FROM boot AS b) AND q.pid = ?1)
  AND p.first_ms <= ?3 AND (p.exited_ms IS NULL OR p.exited_ms > ?2)
ORDER BY p.id;
