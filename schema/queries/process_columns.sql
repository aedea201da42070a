-- Of `process` AS p what store/replay/process_reader.h reads. Names are looked up there: joined here they cost more than all else.
p.id, p.pid, p.start_ticks, p.exec_count, p.start_ms, p.parent_pid, p.comm, p.cwd_id, p.first_ms,
COALESCE(p.last_ms, (SELECT l.wall_ms FROM tick AS l ORDER BY l.id DESC LIMIT 1)), p.gone_ms, p.end_kind,
p.boot_id, p.user_id, p.command_id, p.cgroup_id, p.category_id, p.identity_id
