-- Schema 2: identities, rollups to 5 minutes, 1 hour and 1 day, and what must be known of ticks that are gone.

-- What stays the same of a process when it is started again: its unit or cgroup, its executable, its command with the parts
-- that differ from start to start (numbers, hashes, temporary names) taken out.
CREATE TABLE identity (
  id INTEGER PRIMARY KEY,
  unit TEXT NOT NULL,                      -- nginx.service, session-*.scope, /docker/*
  exe TEXT NOT NULL,
  command TEXT NOT NULL,                   -- normalised
  first_ms INTEGER NOT NULL,               -- the tick that saw it first
  last_ms INTEGER NOT NULL,                -- a tick that saw it, brought up to date by the rollup
  UNIQUE (unit, exe, command)
) STRICT;

-- A cgroup is a subject of rollups as well. 0 where schema 1 did not know it.
ALTER TABLE cgroup ADD COLUMN first_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cgroup ADD COLUMN last_ms INTEGER NOT NULL DEFAULT 0;

-- A process outlives its ticks: what they said of it stands in its own row. identity_id 0 and first_ms 0: not filled in yet.
ALTER TABLE process ADD COLUMN identity_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE process ADD COLUMN first_ms INTEGER NOT NULL DEFAULT 0; -- of first_tick_id
ALTER TABLE process ADD COLUMN last_ms INTEGER;                     -- of the last tick with it, once it is gone
ALTER TABLE process ADD COLUMN gone_ms INTEGER;                     -- of gone_tick_id

UPDATE process SET
  first_ms = COALESCE((SELECT t.wall_ms FROM tick AS t WHERE t.id = first_tick_id), start_ms),
  last_ms = (SELECT t.wall_ms FROM tick AS t WHERE t.id = MAX(gone_tick_id - 1, first_tick_id)),
  gone_ms = (SELECT t.wall_ms FROM tick AS t WHERE t.id = gone_tick_id);

UPDATE cgroup SET
  first_ms = COALESCE((SELECT MIN(p.first_ms) FROM process AS p WHERE p.cgroup_id = cgroup.id), 0),
  last_ms = COALESCE((SELECT MAX(COALESCE(p.last_ms, p.first_ms)) FROM process AS p WHERE p.cgroup_id = cgroup.id), 0);

CREATE INDEX process_gone ON process (gone_tick_id) WHERE gone_tick_id IS NOT NULL;
CREATE INDEX process_identity ON process (identity_id);
CREATE INDEX process_command ON process (command_id);
CREATE INDEX process_cgroup ON process (cgroup_id);

-- Stretches of recording without a gap and without a step of the wall clock, up to the tick before rollup_mark.tick_id.
-- They outlive their ticks. recorded_ms is the recorder's own clock, which no one can set: it goes on as the boot clock
-- does, and over the time that nothing was recorded by at most a day. Retention counts ages by it.
CREATE TABLE stretch (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES run (id),
  first_tick_id INTEGER NOT NULL,
  last_tick_id INTEGER NOT NULL,
  from_ms INTEGER NOT NULL,                -- wall clock of the first tick
  to_ms INTEGER NOT NULL,                  -- and of the last
  to_boot_ms INTEGER NOT NULL,             -- boot clock of the last
  recorded_ms INTEGER NOT NULL,            -- at the first tick
  gap TEXT NOT NULL                        -- why nothing was recorded between the one before and this; '' if there is no gap
) STRICT;

CREATE INDEX stretch_from ON stretch (from_ms);

-- One row: what the rollups hold. They hold all ticks before tick_id: the states of those until the next tick. A step that is
-- being written goes on to target_tick_id, and has come to the subjects before (next_subject, next_subject_id).
CREATE TABLE rollup_mark (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  tick_id INTEGER NOT NULL,                -- 0: the first there is
  target_tick_id INTEGER NOT NULL,         -- tick_id: no step is half written
  next_subject INTEGER NOT NULL,
  next_subject_id INTEGER NOT NULL
) STRICT;

INSERT INTO rollup_mark (id, tick_id, target_tick_id, next_subject, next_subject_id) VALUES (1, 0, 0, 0, 0);

-- One row: what is kept for how long (0: for ever) and how large the file with its -wal may get (0: as it likes), by the
-- recorder's own clock; and what had to go so far. Of each tier, what was recorded before *_cut (on that clock) is gone or on
-- its way out. *_from_ms is the same as a wall time: rows that lie before it are not to be read any more.
CREATE TABLE retention (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  raw_ms INTEGER NOT NULL,
  five_minutes_ms INTEGER NOT NULL,
  hour_ms INTEGER NOT NULL,
  day_ms INTEGER NOT NULL,
  max_bytes INTEGER NOT NULL,
  five_minutes_cut INTEGER NOT NULL,
  hour_cut INTEGER NOT NULL,
  day_cut INTEGER NOT NULL,
  five_minutes_from_ms INTEGER NOT NULL,
  hour_from_ms INTEGER NOT NULL,
  day_from_ms INTEGER NOT NULL
) STRICT;

INSERT INTO retention (id, raw_ms, five_minutes_ms, hour_ms, day_ms, max_bytes, five_minutes_cut, hour_cut, day_cut,
  five_minutes_from_ms, hour_from_ms, day_from_ms)
VALUES (1, 604800000, 5184000000, 34560000000, 0, 2147483648, 0, 0, 0, 0, 0, 0);

-- How large the store was on each of the last days of recording (stretch.recorded_ms / 86400000): how fast it grows.
CREATE TABLE store_size (
  recorded_day INTEGER PRIMARY KEY,
  used_bytes INTEGER NOT NULL              -- pages in use
) STRICT;

-- Rollups of the memory of processes and of groups of them: in each bucket the lowest, the mean over time, the highest, and the
-- last of each metric. Subjects: 1 category, 2 process, 3 identity, 4 cgroup. Rows are clustered by block, so that a
-- block is written once, read in one piece and dropped in one piece; within it by subject.
--
-- A row stands for `buckets` buckets from `slot` on: in those after the first nothing changed, and all of them was recorded.
-- *_kib is the last value of the bucket. Lowest, mean and highest stand beside it as differences: *_low = last - lowest,
-- *_mean = mean - last, *_high = highest - last. Those of rss, pss and uss are NULL where they are the same as those of anon,
-- as they are when nothing else moved; the views fill them in. Unknown values: *_kib is NULL.
--
-- A process has rows of its own in a tier from when it has lived as long as one of its buckets; in those of its groups it
-- always counts. The same holds for identities and cgroups.
CREATE TABLE rollup_5min (
  hour INTEGER NOT NULL,                   -- hours since the epoch, UTC
  subject INTEGER NOT NULL,
  subject_id INTEGER NOT NULL,
  slot INTEGER NOT NULL,                   -- 0 to 11: its 5 minutes
  buckets INTEGER NOT NULL,
  covered_ms INTEGER,                      -- of the first bucket; NULL: all of it
  processes INTEGER NOT NULL,              -- most of its members that lived at one time
  anon_kib INTEGER, anon_low INTEGER, anon_mean INTEGER, anon_high INTEGER,
  rss_kib INTEGER, rss_low INTEGER, rss_mean INTEGER, rss_high INTEGER,
  pss_kib INTEGER, pss_low INTEGER, pss_mean INTEGER, pss_high INTEGER,
  uss_kib INTEGER, uss_low INTEGER, uss_mean INTEGER, uss_high INTEGER,
  swap_kib INTEGER, swap_low INTEGER, swap_mean INTEGER, swap_high INTEGER,
  swap_pss_kib INTEGER, swap_pss_low INTEGER, swap_pss_mean INTEGER, swap_pss_high INTEGER,
  PRIMARY KEY (hour, subject, subject_id, slot)
) STRICT, WITHOUT ROWID;

CREATE TABLE rollup_hour (
  day INTEGER NOT NULL,                             -- days since the epoch, UTC
  subject INTEGER NOT NULL,
  subject_id INTEGER NOT NULL,
  slot INTEGER NOT NULL,                   -- 0 to 23: its hour
  buckets INTEGER NOT NULL,
  covered_ms INTEGER,
  processes INTEGER NOT NULL,
  anon_kib INTEGER, anon_low INTEGER, anon_mean INTEGER, anon_high INTEGER,
  rss_kib INTEGER, rss_low INTEGER, rss_mean INTEGER, rss_high INTEGER,
  pss_kib INTEGER, pss_low INTEGER, pss_mean INTEGER, pss_high INTEGER,
  uss_kib INTEGER, uss_low INTEGER, uss_mean INTEGER, uss_high INTEGER,
  swap_kib INTEGER, swap_low INTEGER, swap_mean INTEGER, swap_high INTEGER,
  swap_pss_kib INTEGER, swap_pss_low INTEGER, swap_pss_mean INTEGER, swap_pss_high INTEGER,
  PRIMARY KEY (day, subject, subject_id, slot)
) STRICT, WITHOUT ROWID;

CREATE TABLE rollup_day (
  day INTEGER NOT NULL,                             -- days since the epoch, UTC
  subject INTEGER NOT NULL,
  subject_id INTEGER NOT NULL,
  slot INTEGER NOT NULL,                   -- 0
  buckets INTEGER NOT NULL,
  covered_ms INTEGER,
  processes INTEGER NOT NULL,
  anon_kib INTEGER, anon_low INTEGER, anon_mean INTEGER, anon_high INTEGER,
  rss_kib INTEGER, rss_low INTEGER, rss_mean INTEGER, rss_high INTEGER,
  pss_kib INTEGER, pss_low INTEGER, pss_mean INTEGER, pss_high INTEGER,
  uss_kib INTEGER, uss_low INTEGER, uss_mean INTEGER, uss_high INTEGER,
  swap_kib INTEGER, swap_low INTEGER, swap_mean INTEGER, swap_high INTEGER,
  swap_pss_kib INTEGER, swap_pss_low INTEGER, swap_pss_mean INTEGER, swap_pss_high INTEGER,
  PRIMARY KEY (day, subject, subject_id, slot)
) STRICT, WITHOUT ROWID;

-- Metrics of the machine that have rollups: the columns of machine_sample and machine_detail that are gauges, `used_kib` and
-- `swap_used_kib` (as in machine_at), and a few counters, of which the last value counts.
CREATE TABLE machine_metric (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

-- Rollups of the machine, by the same rules: `value` is the last value of the bucket.
CREATE TABLE machine_5min (
  hour INTEGER NOT NULL,
  metric INTEGER NOT NULL,
  slot INTEGER NOT NULL,
  buckets INTEGER NOT NULL,
  covered_ms INTEGER,
  value INTEGER,
  low INTEGER,
  mean INTEGER,
  high INTEGER,
  PRIMARY KEY (hour, metric, slot)
) STRICT, WITHOUT ROWID;

CREATE TABLE machine_hour (
  day INTEGER NOT NULL,
  metric INTEGER NOT NULL,
  slot INTEGER NOT NULL,
  buckets INTEGER NOT NULL,
  covered_ms INTEGER,
  value INTEGER,
  low INTEGER,
  mean INTEGER,
  high INTEGER,
  PRIMARY KEY (day, metric, slot)
) STRICT, WITHOUT ROWID;

CREATE TABLE machine_day (
  day INTEGER NOT NULL,
  metric INTEGER NOT NULL,
  slot INTEGER NOT NULL,
  buckets INTEGER NOT NULL,
  covered_ms INTEGER,
  value INTEGER,
  low INTEGER,
  mean INTEGER,
  high INTEGER,
  PRIMARY KEY (day, metric, slot)
) STRICT, WITHOUT ROWID;

CREATE INDEX stretch_first_tick ON stretch (first_tick_id);
CREATE INDEX stretch_last_tick ON stretch (last_tick_id);
