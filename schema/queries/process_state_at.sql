-- The state of process ?1 at tick ?2, with names and memory, if it is alive then. Its last rows are those of ticks ?3 in
-- process_sample, ?4 in process_detail, and ?5 in process_reading (0: none). The store fills in the three
-- names in braces: `process` with process_columns.sql, `hot` and `cold` with the columns of process_sample and
-- process_detail (store/rows/columns.h).
SELECT
  {process},
  (SELECT boot_ms FROM tick WHERE tick.id = MAX(?3, ?5)) - IIF(?5 > ?3, 0, s.read_age_ms) AS read_boot_ms,
  d.state, d.parent_pid, d.threads, s.source,
  {hot},
  {cold}
FROM process AS p
CROSS JOIN process_sample AS s ON s.tick_id = ?3 AND s.process_id = p.id
CROSS JOIN process_detail AS d ON d.tick_id = ?4 AND d.process_id = p.id
WHERE p.id = ?1 AND (p.exited_tick_id IS NULL OR p.exited_tick_id > ?2) AND s.source <> 5;
