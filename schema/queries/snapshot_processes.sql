-- The live processes at tick ?2, with names and memory. This text follows last_rows.sql or last_rows_of_one.sql. The
-- store fills in the three names in braces: `process` with process_columns.sql, `hot` and `cold` with the columns of
-- process_sample and process_detail (store/rows/columns.h).
SELECT
  {process},
  (SELECT boot_ms FROM tick WHERE tick.id = MAX(hot.tick_id, IFNULL(reading.tick_id, 0)))
    - IIF(reading.tick_id > hot.tick_id, 0, s.read_age_ms) AS read_boot_ms,
  d.state, d.parent_pid, d.threads, s.source,
  {hot},
  {cold}
FROM hot
JOIN cold ON cold.process_id = hot.process_id
LEFT JOIN reading ON reading.process_id = hot.process_id
JOIN process_sample AS s ON s.tick_id = hot.tick_id AND s.process_id = hot.process_id
JOIN process_detail AS d ON d.tick_id = cold.tick_id AND d.process_id = cold.process_id
JOIN process AS p ON p.id = hot.process_id
WHERE s.source <> 5 AND (p.exited_tick_id IS NULL OR p.exited_tick_id > ?2)
ORDER BY p.pid, p.start_ticks, p.exec_count;
