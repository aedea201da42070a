-- Processes that lived in one of the ticks from ?1 to ?2, or before one of them in ticks that could not be stored; and,
-- by the times in their own rows, those that lived between ?3 and ?4 when the ticks of that time are gone.
SELECT
  p.id, p.boot_uuid, p.pid, p.start_ticks, p.exec_count, p.start_ms, p.parent_pid, p.uid, p.user, p.comm, p.exe,
  p.command, p.cgroup, p.cwd, p.category, p.first_ms, p.last_ms, p.gone_ms, p.end_kind,
  p.identity_id, p.unit, p.identity
FROM process_named AS p
WHERE (p.first_tick_id <= ?2 AND (p.gone_tick_id IS NULL OR p.gone_tick_id > ?1 OR p.first_tick_id >= ?1))
  OR (?3 < (SELECT t.wall_ms FROM tick AS t ORDER BY t.id LIMIT 1)
    AND p.first_tick_id < (SELECT t.id FROM tick AS t ORDER BY t.id LIMIT 1)
    AND p.first_ms <= ?4 AND (p.gone_ms IS NULL OR p.gone_ms > ?3))
ORDER BY p.id;
