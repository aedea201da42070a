-- Who still names a command, a cgroup or an identity is found by a look through all processes once a day: an index by
-- each of them was written to at each birth, a page of its own each time.
DROP INDEX process_identity;
DROP INDEX process_command;
DROP INDEX process_cgroup;

-- From now on a process that lived in one UTC day only has no marks of all time (day_ms = -1) in high_water: those of its
-- day are the same. And it has rows of its own in rollup_5min from an age of 15 minutes, as it has in rollup_hour from
-- an hour, and in rollup_day from a day.
DELETE FROM high_water WHERE day_ms = -1 AND subject = 2 AND subject_id IN (
  SELECT h.subject_id FROM high_water AS h WHERE h.day_ms >= 0 AND h.subject = 2
  GROUP BY h.subject_id HAVING MIN(h.day_ms) = MAX(h.day_ms))
AND subject_id IN (SELECT p.id FROM process AS p WHERE p.gone_tick_id IS NOT NULL);
