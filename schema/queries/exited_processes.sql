-- Processes with their first tick of absence among the ticks ?1 to ?2.
SELECT exited_tick_id, id FROM process WHERE exited_tick_id BETWEEN ?1 AND ?2 ORDER BY exited_tick_id, id;
