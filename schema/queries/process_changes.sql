-- Rows of processes in the ticks ?1 to ?2. ends = 1: the process is absent from that tick on.
SELECT tick_id, process_id, source = 5 AS ends FROM process_sample WHERE tick_id BETWEEN ?1 AND ?2
UNION ALL
SELECT tick_id, process_id, 0 FROM process_reading WHERE tick_id BETWEEN ?1 AND ?2
UNION ALL
SELECT tick_id, process_id, 0 FROM process_state WHERE tick_id BETWEEN ?1 AND ?2
UNION ALL
SELECT exited_tick_id, id, 1 FROM process WHERE exited_tick_id BETWEEN ?1 AND ?2
ORDER BY 1, 2;
