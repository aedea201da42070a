-- Processes that are not there any more from one of the ticks ?1 to ?2 on.
SELECT gone_tick_id, id FROM process WHERE gone_tick_id BETWEEN ?1 AND ?2 ORDER BY gone_tick_id, id;
