-- Processes with their names; lived_between.sql says which.
SELECT
  p.id, p.boot_uuid, p.pid, p.start_ticks, p.exec_count, p.start_ms, p.parent_pid, p.uid, p.user, p.comm, p.exe,
  p.command, p.cgroup, p.cwd, p.category, p.first_ms, p.last_ms, p.gone_ms, p.end_kind,
  p.identity_id, p.unit, p.identity
FROM process_named AS p
