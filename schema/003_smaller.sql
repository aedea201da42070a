-- Who still names a command, a cgroup or an identity is found by a look through all processes once a day: an index by
-- each of them was written to at each birth, a page of its own each time.
DROP INDEX process_identity;
DROP INDEX process_command;
DROP INDEX process_cgroup;

-- From now on a process that lived in one UTC day only has no marks of all time (day_ms = -1) in high_water: those of its
-- day are the same. And it has rows of its own in rollup_5min from an age of 15 minutes, as it has in rollup_hour from
-- an hour, and in rollup_day from a day.
