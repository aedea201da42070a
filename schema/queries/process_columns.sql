-- Columns of `process` AS p for store/replay/process_reader.h, which looks up the names itself: joining them here
-- would cost more than all else in the query.
p.id, p.pid, p.start_ticks, p.exec_count, p.start_ms, p.parent_pid, p.comm, p.cwd_id, p.first_ms,
COALESCE(p.last_ms, (SELECT l.wall_ms FROM tick AS l ORDER BY l.id DESC LIMIT 1)), p.exited_ms, p.exit_kind,
p.boot_id, p.user_id, p.command_id, p.cgroup_id, p.category_id, p.identity_id, p.setting_id
