-- Schema 3: what cgroups may hold and hold, the parts of shmem that belong to no process, and less written at each birth.

-- System V segments and what the tmpfs mounts hold, with what of them was swapped out.
ALTER TABLE machine_detail ADD COLUMN sysv_kib INTEGER;
ALTER TABLE machine_detail ADD COLUMN tmpfs_kib INTEGER;

-- Cgroups that a process is in or below, by the rule of changes and keyframes. current_kib NULL: from this tick on it
-- is not known any more, or gone.
CREATE TABLE cgroup_sample (
  tick_id INTEGER NOT NULL,
  cgroup_id INTEGER NOT NULL REFERENCES cgroup (id),
  current_kib INTEGER,                     -- memory.current: what counts against the limits
  file_kib INTEGER,                        -- of that, page cache, which is given up before a limit is hit
  swap_kib INTEGER,                        -- memory.swap.current
  max_kib INTEGER,                         -- memory.max; NULL: no limit
  high_kib INTEGER,                        -- memory.high; NULL: none, or not known
  swap_max_kib INTEGER,                    -- memory.swap.max; NULL: no limit, or not known
  PRIMARY KEY (tick_id, cgroup_id)
) STRICT, WITHOUT ROWID;

-- Who still names a command, a cgroup or an identity is found by a look through all processes once a day: an index by
-- each of them was written to at each birth, a page of its own each time.
DROP INDEX process_identity;
DROP INDEX process_command;
DROP INDEX process_cgroup;

-- Marks of one metric lie together: the highest of all processes are found without the other metrics' rows.
CREATE TABLE high_water_before AS SELECT * FROM high_water;
DROP TABLE high_water;
CREATE TABLE high_water (
  day_ms INTEGER NOT NULL,                 -- start of the UTC day; -1: of all time
  subject INTEGER NOT NULL,                -- 0 machine, 1 category, 2 process, 3 identity, 4 cgroup
  subject_id INTEGER NOT NULL,             -- category.id, process.id, identity.id, cgroup.id; 0 for the machine
  metric INTEGER NOT NULL REFERENCES high_water_metric (id),
  value_kib INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,                  -- the tick that had it
  before_ms INTEGER NOT NULL,              -- the tick before: it was reached in between
  PRIMARY KEY (day_ms, subject, metric, subject_id)
) STRICT, WITHOUT ROWID;
INSERT INTO high_water (day_ms, subject, subject_id, metric, value_kib, at_ms, before_ms)
SELECT day_ms, subject, subject_id, metric, value_kib, at_ms, before_ms
FROM high_water_before
ORDER BY day_ms, subject, metric, subject_id;
DROP TABLE high_water_before;

-- From now on a process that lived in one UTC day only has no marks of all time (day_ms = -1) in high_water: those of its
-- day are the same. And it has rows of its own in rollup_5min from an age of 15 minutes, as it has in rollup_hour from
-- an hour, and in rollup_day from a day.
