-- A file of schema 1 read as it is: what schema 2 added to its tables, as TEMP views that stand before them. Run after the
-- tables that the file lacks were made in TEMP, before what the schemas after 2 added (002.sql …), and before the views of
-- today.

-- From the rules in C++ (model/identity.h), as the migration fills it in.
CREATE TEMP TABLE process_identity (
  process_id INTEGER PRIMARY KEY,
  identity_id INTEGER NOT NULL
);
CREATE INDEX temp.process_identity_identity ON process_identity (identity_id);

CREATE TEMP VIEW process AS
SELECT p.id, p.boot_id, p.pid, p.start_ticks, p.exec_count, p.start_ms, p.parent_pid, p.comm, p.user_id, p.command_id,
  p.category_id, p.cgroup_id, p.cwd, p.first_tick_id, p.gone_tick_id, p.end_kind, i.identity_id,
  COALESCE((SELECT t.wall_ms FROM main.tick AS t WHERE t.id = p.first_tick_id), p.start_ms) AS first_ms,
  (SELECT t.wall_ms FROM main.tick AS t WHERE t.id = MAX(p.gone_tick_id - 1, p.first_tick_id)) AS last_ms,
  (SELECT t.wall_ms FROM main.tick AS t WHERE t.id = p.gone_tick_id) AS gone_ms
FROM main.process AS p
JOIN temp.process_identity AS i ON i.process_id = p.id;

CREATE TEMP VIEW cgroup AS
SELECT g.id, g.path,
  COALESCE((SELECT MIN(p.first_ms) FROM temp.process AS p WHERE p.cgroup_id = g.id), 0) AS first_ms,
  COALESCE((SELECT MAX(COALESCE(p.last_ms, p.first_ms)) FROM temp.process AS p WHERE p.cgroup_id = g.id), 0) AS last_ms,
  NULL AS container_id
FROM main.cgroup AS g;

INSERT INTO temp.rollup_mark (id, tick_id, target_tick_id, next_subject, next_subject_id) VALUES (1, 0, 0, 0, 0);

-- Without rollups.
@for each tier@
CREATE TEMP VIEW rollup_@tier@_before AS SELECT r.*, NULL AS swap_kib, NULL AS swap_low, NULL AS swap_mean, NULL AS swap_high,
  NULL AS swap_pss_kib, NULL AS swap_pss_low, NULL AS swap_pss_mean, NULL AS swap_pss_high FROM temp.rollup_@tier@ AS r;
@end@
