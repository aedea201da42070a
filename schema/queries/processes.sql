-- Processes that lived in one of the ticks from ?1 to ?2, or before one of them in ticks that could not be stored.
SELECT
  p.id, p.boot_uuid, p.pid, p.start_ticks, p.exec_count, p.start_ms, p.parent_pid, p.uid, p.user, p.comm, p.exe,
  p.command, p.cgroup, p.cwd, p.category, p.first_ms, p.last_ms, p.gone_ms, p.end_kind,
  p.identity_id, p.unit, p.identity
FROM process_named AS p
WHERE p.first_tick_id <= ?2 AND (p.gone_tick_id IS NULL OR p.gone_tick_id > ?1 OR p.first_tick_id >= ?1)
ORDER BY p.id;
