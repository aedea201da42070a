-- Which process has a row in which tick from ?1 to ?2, or is not there any more from that tick on.
SELECT tick_id, process_id, source = 5 AS ends FROM process_sample WHERE tick_id BETWEEN ?1 AND ?2
UNION ALL
SELECT tick_id, process_id, 0 FROM process_state WHERE tick_id BETWEEN ?1 AND ?2
UNION ALL
SELECT gone_tick_id, id, 1 FROM process WHERE gone_tick_id BETWEEN ?1 AND ?2
ORDER BY 1, 2;
