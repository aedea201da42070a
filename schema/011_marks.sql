-- Schema 11: high-water marks take a third less room. They stand in the table mark, with small numbers in place of times; high_water
-- is a view, which tells them as before.

CREATE TABLE mark (
  day INTEGER NOT NULL,                    -- days since the epoch, UTC; -1: of all time
  subject INTEGER NOT NULL,                -- 0 machine, 1 category, 2 process, 3 identity, 4 cgroup
  subject_id INTEGER NOT NULL,             -- category.id, process.id, identity.id, cgroup.id; 0 for the machine
  metric INTEGER NOT NULL REFERENCES high_water_metric (id),
  value_kib INTEGER NOT NULL,
  after_ms INTEGER NOT NULL,               -- from the begin of the day (of all time: the epoch) to the tick that had it
  before_ms INTEGER NOT NULL,              -- the tick before was so long before it: it was reached in between
  seen_by INTEGER,                         -- 0 held at a tick, 1 seen by a look between two, 2 told by the kernel when the
                                           -- process ended, 3 by memory.peak or memory.swap.peak of the cgroup (v1:
                                           -- memory.max_usage_in_bytes). NULL: not told, of recorders before schema 7, or
                                           -- of what rollups tell
  PRIMARY KEY (day, subject, metric, subject_id)
) STRICT, WITHOUT ROWID;

INSERT INTO mark (day, subject, subject_id, metric, value_kib, after_ms, before_ms, seen_by)
SELECT day_ms / 86400000 - (day_ms < 0), subject, subject_id, metric, value_kib, at_ms - MAX(day_ms, 0), at_ms - before_ms, seen_by
FROM high_water
ORDER BY day_ms, subject, metric, subject_id;

DROP TABLE high_water;
