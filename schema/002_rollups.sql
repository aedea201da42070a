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

-- Views: the rollups with names, times and plain values.

CREATE VIEW memory_5min AS
SELECT r.hour * 3600000 + r.slot * 300000 AS from_ms, r.buckets * 300000 AS width_ms, r.buckets, COALESCE(r.covered_ms, 300000) AS covered_ms,
  CASE r.subject WHEN 1 THEN 'category' WHEN 2 THEN 'process' WHEN 3 THEN 'identity' ELSE 'cgroup' END AS subject,
  r.subject_id,
  CASE r.subject
    WHEN 1 THEN (SELECT c.name FROM category AS c WHERE c.id = r.subject_id)
    WHEN 2 THEN (SELECT p.comm || '[' || p.pid || ']' FROM process AS p WHERE p.id = r.subject_id)
    WHEN 3 THEN (SELECT i.unit || ' ' || i.command FROM identity AS i WHERE i.id = r.subject_id)
    ELSE (SELECT g.path FROM cgroup AS g WHERE g.id = r.subject_id)
  END AS name,
  r.processes,
  r.anon_kib, r.anon_kib - r.anon_low AS anon_min_kib, r.anon_kib + r.anon_mean AS anon_mean_kib, r.anon_kib + r.anon_high AS anon_max_kib,
  r.rss_kib, r.rss_kib - COALESCE(r.rss_low, r.anon_low, 0) AS rss_min_kib, r.rss_kib + COALESCE(r.rss_mean, r.anon_mean, 0) AS rss_mean_kib, r.rss_kib + COALESCE(r.rss_high, r.anon_high, 0) AS rss_max_kib,
  r.pss_kib, r.pss_kib - COALESCE(r.pss_low, r.anon_low, 0) AS pss_min_kib, r.pss_kib + COALESCE(r.pss_mean, r.anon_mean, 0) AS pss_mean_kib, r.pss_kib + COALESCE(r.pss_high, r.anon_high, 0) AS pss_max_kib,
  r.uss_kib, r.uss_kib - COALESCE(r.uss_low, r.anon_low, 0) AS uss_min_kib, r.uss_kib + COALESCE(r.uss_mean, r.anon_mean, 0) AS uss_mean_kib, r.uss_kib + COALESCE(r.uss_high, r.anon_high, 0) AS uss_max_kib,
  r.swap_kib, r.swap_kib - r.swap_low AS swap_min_kib, r.swap_kib + r.swap_mean AS swap_mean_kib, r.swap_kib + r.swap_high AS swap_max_kib,
  r.swap_pss_kib, r.swap_pss_kib - r.swap_pss_low AS swap_pss_min_kib, r.swap_pss_kib + r.swap_pss_mean AS swap_pss_mean_kib, r.swap_pss_kib + r.swap_pss_high AS swap_pss_max_kib
FROM rollup_5min AS r;

CREATE VIEW machine_metric_5min AS
SELECT r.hour * 3600000 + r.slot * 300000 AS from_ms, r.buckets * 300000 AS width_ms, r.buckets, COALESCE(r.covered_ms, 300000) AS covered_ms,
  m.name AS metric, r.value, r.value - r.low AS min, r.value + r.mean AS mean, r.value + r.high AS max
FROM machine_5min AS r
JOIN machine_metric AS m ON m.id = r.metric;

CREATE VIEW memory_hour AS
SELECT r.day * 86400000 + r.slot * 3600000 AS from_ms, r.buckets * 3600000 AS width_ms, r.buckets, COALESCE(r.covered_ms, 3600000) AS covered_ms,
  CASE r.subject WHEN 1 THEN 'category' WHEN 2 THEN 'process' WHEN 3 THEN 'identity' ELSE 'cgroup' END AS subject,
  r.subject_id,
  CASE r.subject
    WHEN 1 THEN (SELECT c.name FROM category AS c WHERE c.id = r.subject_id)
    WHEN 2 THEN (SELECT p.comm || '[' || p.pid || ']' FROM process AS p WHERE p.id = r.subject_id)
    WHEN 3 THEN (SELECT i.unit || ' ' || i.command FROM identity AS i WHERE i.id = r.subject_id)
    ELSE (SELECT g.path FROM cgroup AS g WHERE g.id = r.subject_id)
  END AS name,
  r.processes,
  r.anon_kib, r.anon_kib - r.anon_low AS anon_min_kib, r.anon_kib + r.anon_mean AS anon_mean_kib, r.anon_kib + r.anon_high AS anon_max_kib,
  r.rss_kib, r.rss_kib - COALESCE(r.rss_low, r.anon_low, 0) AS rss_min_kib, r.rss_kib + COALESCE(r.rss_mean, r.anon_mean, 0) AS rss_mean_kib, r.rss_kib + COALESCE(r.rss_high, r.anon_high, 0) AS rss_max_kib,
  r.pss_kib, r.pss_kib - COALESCE(r.pss_low, r.anon_low, 0) AS pss_min_kib, r.pss_kib + COALESCE(r.pss_mean, r.anon_mean, 0) AS pss_mean_kib, r.pss_kib + COALESCE(r.pss_high, r.anon_high, 0) AS pss_max_kib,
  r.uss_kib, r.uss_kib - COALESCE(r.uss_low, r.anon_low, 0) AS uss_min_kib, r.uss_kib + COALESCE(r.uss_mean, r.anon_mean, 0) AS uss_mean_kib, r.uss_kib + COALESCE(r.uss_high, r.anon_high, 0) AS uss_max_kib,
  r.swap_kib, r.swap_kib - r.swap_low AS swap_min_kib, r.swap_kib + r.swap_mean AS swap_mean_kib, r.swap_kib + r.swap_high AS swap_max_kib,
  r.swap_pss_kib, r.swap_pss_kib - r.swap_pss_low AS swap_pss_min_kib, r.swap_pss_kib + r.swap_pss_mean AS swap_pss_mean_kib, r.swap_pss_kib + r.swap_pss_high AS swap_pss_max_kib
FROM rollup_hour AS r;

CREATE VIEW machine_metric_hour AS
SELECT r.day * 86400000 + r.slot * 3600000 AS from_ms, r.buckets * 3600000 AS width_ms, r.buckets, COALESCE(r.covered_ms, 3600000) AS covered_ms,
  m.name AS metric, r.value, r.value - r.low AS min, r.value + r.mean AS mean, r.value + r.high AS max
FROM machine_hour AS r
JOIN machine_metric AS m ON m.id = r.metric;

CREATE VIEW memory_day AS
SELECT r.day * 86400000 AS from_ms, r.buckets * 86400000 AS width_ms, r.buckets, COALESCE(r.covered_ms, 86400000) AS covered_ms,
  CASE r.subject WHEN 1 THEN 'category' WHEN 2 THEN 'process' WHEN 3 THEN 'identity' ELSE 'cgroup' END AS subject,
  r.subject_id,
  CASE r.subject
    WHEN 1 THEN (SELECT c.name FROM category AS c WHERE c.id = r.subject_id)
    WHEN 2 THEN (SELECT p.comm || '[' || p.pid || ']' FROM process AS p WHERE p.id = r.subject_id)
    WHEN 3 THEN (SELECT i.unit || ' ' || i.command FROM identity AS i WHERE i.id = r.subject_id)
    ELSE (SELECT g.path FROM cgroup AS g WHERE g.id = r.subject_id)
  END AS name,
  r.processes,
  r.anon_kib, r.anon_kib - r.anon_low AS anon_min_kib, r.anon_kib + r.anon_mean AS anon_mean_kib, r.anon_kib + r.anon_high AS anon_max_kib,
  r.rss_kib, r.rss_kib - COALESCE(r.rss_low, r.anon_low, 0) AS rss_min_kib, r.rss_kib + COALESCE(r.rss_mean, r.anon_mean, 0) AS rss_mean_kib, r.rss_kib + COALESCE(r.rss_high, r.anon_high, 0) AS rss_max_kib,
  r.pss_kib, r.pss_kib - COALESCE(r.pss_low, r.anon_low, 0) AS pss_min_kib, r.pss_kib + COALESCE(r.pss_mean, r.anon_mean, 0) AS pss_mean_kib, r.pss_kib + COALESCE(r.pss_high, r.anon_high, 0) AS pss_max_kib,
  r.uss_kib, r.uss_kib - COALESCE(r.uss_low, r.anon_low, 0) AS uss_min_kib, r.uss_kib + COALESCE(r.uss_mean, r.anon_mean, 0) AS uss_mean_kib, r.uss_kib + COALESCE(r.uss_high, r.anon_high, 0) AS uss_max_kib,
  r.swap_kib, r.swap_kib - r.swap_low AS swap_min_kib, r.swap_kib + r.swap_mean AS swap_mean_kib, r.swap_kib + r.swap_high AS swap_max_kib,
  r.swap_pss_kib, r.swap_pss_kib - r.swap_pss_low AS swap_pss_min_kib, r.swap_pss_kib + r.swap_pss_mean AS swap_pss_mean_kib, r.swap_pss_kib + r.swap_pss_high AS swap_pss_max_kib
FROM rollup_day AS r;

CREATE VIEW machine_metric_day AS
SELECT r.day * 86400000 AS from_ms, r.buckets * 86400000 AS width_ms, r.buckets, COALESCE(r.covered_ms, 86400000) AS covered_ms,
  m.name AS metric, r.value, r.value - r.low AS min, r.value + r.mean AS mean, r.value + r.high AS max
FROM machine_day AS r
JOIN machine_metric AS m ON m.id = r.metric;

-- Marks of identities (subject 3) and cgroups (4) are written by the rollup, up to its tick.
DROP VIEW high_water_named;
CREATE VIEW high_water_named AS
SELECT CASE h.day_ms WHEN -1 THEN 'all time' ELSE date(h.day_ms / 1000, 'unixepoch') END AS day,
  CASE h.subject WHEN 0 THEN 'machine' WHEN 1 THEN 'category' WHEN 2 THEN 'process' WHEN 3 THEN 'identity' ELSE 'cgroup' END AS subject,
  CASE h.subject
    WHEN 0 THEN (SELECT b.host FROM boot AS b ORDER BY b.id DESC LIMIT 1)
    WHEN 1 THEN (SELECT c.name FROM category AS c WHERE c.id = h.subject_id)
    WHEN 2 THEN (SELECT p.comm || '[' || p.pid || ']' FROM process AS p WHERE p.id = h.subject_id)
    WHEN 3 THEN (SELECT i.unit || ' ' || i.command FROM identity AS i WHERE i.id = h.subject_id)
    ELSE (SELECT g.path FROM cgroup AS g WHERE g.id = h.subject_id)
  END AS name,
  m.name AS metric, h.value_kib, h.at_ms, h.before_ms, h.subject_id
FROM high_water AS h
JOIN high_water_metric AS m ON m.id = h.metric;

-- Times of a process as they stand in its own row, so that they outlive the ticks; and its identity.
DROP VIEW latest;
DROP VIEW process_at;
DROP VIEW process_named;
CREATE VIEW process_named AS
SELECT p.id, b.boot_uuid, p.pid, p.start_ticks, p.exec_count, p.start_ms, p.parent_pid, u.uid, u.name AS user, p.comm,
  c.exe, c.line AS command, g.path AS cgroup, p.cwd, y.name AS category, p.first_tick_id, p.gone_tick_id, p.first_ms,
  COALESCE(p.last_ms, (SELECT l.wall_ms FROM tick AS l ORDER BY l.id DESC LIMIT 1)) AS last_ms, p.gone_ms, p.end_kind,
  p.identity_id, i.unit, i.command AS identity
FROM process AS p
JOIN boot AS b ON b.id = p.boot_id
JOIN user AS u ON u.id = p.user_id
JOIN command AS c ON c.id = p.command_id
JOIN category AS y ON y.id = p.category_id
JOIN cgroup AS g ON g.id = p.cgroup_id
LEFT JOIN identity AS i ON i.id = p.identity_id;

-- Every process at every tick. Ask for one tick_id, else it is the whole history:
--   SELECT pid, comm, pss_kib FROM process_at
--   WHERE tick_id = (SELECT id FROM tick WHERE wall_ms <= unixepoch('2026-11-20 03:14', 'utc') * 1000 ORDER BY wall_ms DESC, id DESC LIMIT 1)
--   ORDER BY pss_kib DESC LIMIT 20;
CREATE VIEW process_at AS
SELECT t.id AS tick_id, t.wall_ms, p.id AS process_id, p.boot_uuid, p.pid, p.start_ticks, p.exec_count, p.start_ms,
  d.parent_pid, p.uid, p.user, p.comm, p.exe, p.command, p.cgroup, p.cwd, p.category, d.state, d.threads,
  CASE s.source WHEN 0 THEN 'exact' WHEN 2 THEN 'estimated' WHEN 3 THEN 'approximate' ELSE 'inaccessible' END AS source,
  s.private_clean_kib + s.private_dirty_kib AS uss_kib,
  s.rss_kib, s.pss_kib, s.pss_dirty_kib, s.pss_anon_kib, s.pss_file_kib, s.pss_shmem_kib, s.shared_clean_kib,
  s.shared_dirty_kib, s.private_clean_kib, s.private_dirty_kib, s.referenced_kib, s.anonymous_kib, s.vm_hwm_kib,
  s.vm_rss_kib, s.rss_anon_kib, s.rss_file_kib, s.rss_shmem_kib, d.ksm_kib, d.lazy_free_kib, d.anon_huge_pages_kib,
  d.shmem_pmd_mapped_kib, d.file_pmd_mapped_kib, d.shared_hugetlb_kib, d.private_hugetlb_kib, d.swap_kib,
  d.swap_pss_kib, d.locked_kib, d.vm_peak_kib, d.vm_size_kib, d.vm_lck_kib, d.vm_pin_kib, d.vm_data_kib, d.vm_stk_kib,
  d.vm_exe_kib, d.vm_lib_kib, d.vm_pte_kib, d.vm_swap_kib, d.hugetlb_pages_kib
FROM tick AS t
JOIN process_sample_at AS h ON h.tick_id = t.id
JOIN process_detail_at AS c ON c.tick_id = t.id AND c.process_id = h.process_id
JOIN process_sample_full AS s ON s.tick_id = h.sample_tick_id AND s.process_id = h.process_id
JOIN process_detail AS d ON d.tick_id = c.detail_tick_id AND d.process_id = c.process_id
JOIN process_named AS p ON p.id = h.process_id
WHERE s.source <> 5 AND (p.gone_tick_id IS NULL OR p.gone_tick_id > t.id);

-- Every process at the last tick.
CREATE VIEW latest AS
SELECT t.id AS tick_id, t.wall_ms, p.id AS process_id, p.pid, p.user, p.comm, p.command, p.cgroup, p.category, d.state, d.threads,
  s.rss_kib, s.pss_kib, s.private_clean_kib + s.private_dirty_kib AS uss_kib, d.swap_kib, d.swap_pss_kib,
  MAX(s.vm_hwm_kib, s.vm_rss_kib, s.rss_kib) AS high_water_kib
FROM (SELECT id, wall_ms FROM tick ORDER BY id DESC LIMIT 1) AS t
JOIN (
  SELECT process_id, MAX(tick_id) AS tick_id FROM process_sample
  WHERE tick_id >= (SELECT keyframe_id FROM tick ORDER BY id DESC LIMIT 1) GROUP BY process_id
) AS h
JOIN (
  SELECT process_id, MAX(tick_id) AS tick_id FROM process_detail
  WHERE tick_id >= (SELECT keyframe_id FROM tick ORDER BY id DESC LIMIT 1) GROUP BY process_id
) AS c ON c.process_id = h.process_id
JOIN process_sample_full AS s ON s.tick_id = h.tick_id AND s.process_id = h.process_id
JOIN process_detail AS d ON d.tick_id = c.tick_id AND d.process_id = c.process_id
JOIN process_named AS p ON p.id = h.process_id
WHERE s.source <> 5 AND p.gone_tick_id IS NULL;

-- Runs, and what each of them recorded: stretches hold what of it is gone.
DROP VIEW run_named;
CREATE VIEW run_named AS
SELECT r.id, b.boot_uuid, b.started_ms AS boot_started_ms, b.host, b.kernel, r.pid, r.version, r.interval_ms, r.started_ms,
  r.ended_ms, r.end_reason,
  COALESCE((SELECT s.from_ms FROM stretch AS s WHERE s.first_tick_id = r.first_tick_id AND s.run_id = r.id),
    (SELECT t.wall_ms FROM tick AS t WHERE t.id = r.first_tick_id AND t.run_id = r.id)) AS first_tick_ms,
  COALESCE((SELECT t.wall_ms FROM tick AS t WHERE t.id = r.last_tick_id AND t.run_id = r.id),
    (SELECT s.to_ms FROM stretch AS s WHERE s.last_tick_id = r.last_tick_id AND s.run_id = r.id)) AS last_tick_ms,
  r.last_tick_id - r.first_tick_id + 1 AS ticks
FROM (
  SELECT q.*, COALESCE((SELECT n.first_tick_id FROM run AS n WHERE n.id > q.id ORDER BY n.id LIMIT 1) - 1,
    (SELECT MAX(t.id) FROM tick AS t), 0) AS last_tick_id
  FROM run AS q
) AS r
JOIN boot AS b ON b.id = r.boot_id;

CREATE INDEX stretch_first_tick ON stretch (first_tick_id);
CREATE INDEX stretch_last_tick ON stretch (last_tick_id);
