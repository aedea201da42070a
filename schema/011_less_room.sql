-- Schema 11: high-water marks take a third less room, what is not swapped out takes none in rollups, and a command's line stands
-- in no index.

-- High-water marks stand in the table mark, with small numbers in place of times; high_water is a view, which tells them as before.

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

-- What is swapped out stands in tables of its own, beside the row of the rollup with the same key. Most rows have nothing there:
-- without a row, what is swapped out is 0 where anon_kib is known, and the PSS of that where uss_kib is; else they are not known.

@for each tier@
ALTER TABLE rollup_@tier@ RENAME TO rollup_@tier@_before;

CREATE TABLE rollup_@tier@ (
  @block@ INTEGER NOT NULL,                -- @block@s since the epoch, UTC
  subject INTEGER NOT NULL,
  subject_id INTEGER NOT NULL,
  slot INTEGER NOT NULL,                   -- its bucket, from 0 on
  buckets INTEGER NOT NULL,
  covered_ms INTEGER,
  processes INTEGER NOT NULL,
  anon_kib INTEGER, anon_low INTEGER, anon_mean INTEGER, anon_high INTEGER,
  rss_kib INTEGER, rss_low INTEGER, rss_mean INTEGER, rss_high INTEGER,
  pss_kib INTEGER, pss_low INTEGER, pss_mean INTEGER, pss_high INTEGER,
  uss_kib INTEGER, uss_low INTEGER, uss_mean INTEGER, uss_high INTEGER,
  pss_inexact_bp INTEGER,@peak_column@
  PRIMARY KEY (@block@, subject, subject_id, slot)
) STRICT, WITHOUT ROWID;

CREATE TABLE swap_@tier@ (
  @block@ INTEGER NOT NULL,
  subject INTEGER NOT NULL,
  subject_id INTEGER NOT NULL,
  slot INTEGER NOT NULL,
  buckets INTEGER NOT NULL,
  swap_kib INTEGER, swap_low INTEGER, swap_mean INTEGER, swap_high INTEGER,
  swap_pss_kib INTEGER, swap_pss_low INTEGER, swap_pss_mean INTEGER, swap_pss_high INTEGER,
  PRIMARY KEY (@block@, subject, subject_id, slot)
) STRICT, WITHOUT ROWID;

INSERT INTO rollup_@tier@ (@block@, subject, subject_id, slot, buckets, covered_ms, processes, anon_kib, anon_low, anon_mean, anon_high,
  rss_kib, rss_low, rss_mean, rss_high, pss_kib, pss_low, pss_mean, pss_high, uss_kib, uss_low, uss_mean, uss_high,
  pss_inexact_bp@peak@)
SELECT @block@, subject, subject_id, slot, buckets, covered_ms, processes, anon_kib, anon_low, anon_mean, anon_high,
  rss_kib, rss_low, rss_mean, rss_high, pss_kib, pss_low, pss_mean, pss_high, uss_kib, uss_low, uss_mean, uss_high,
  pss_inexact_bp@peak@
FROM rollup_@tier@_before
ORDER BY @block@, subject, subject_id, slot;

INSERT INTO swap_@tier@ (@block@, subject, subject_id, slot, buckets, swap_kib, swap_low, swap_mean, swap_high,
  swap_pss_kib, swap_pss_low, swap_pss_mean, swap_pss_high)
SELECT @block@, subject, subject_id, slot, buckets, swap_kib, swap_low, swap_mean, swap_high,
  swap_pss_kib, swap_pss_low, swap_pss_mean, swap_pss_high
FROM rollup_@tier@_before
WHERE (swap_kib, swap_low, swap_mean, swap_high) IS NOT (anon_kib * 0, anon_kib * 0, anon_kib * 0, anon_kib * 0)
  OR (swap_pss_kib, swap_pss_low, swap_pss_mean, swap_pss_high) IS NOT (uss_kib * 0, uss_kib * 0, uss_kib * 0, uss_kib * 0)
ORDER BY @block@, subject, subject_id, slot;

DROP TABLE rollup_@tier@_before;
@end@

-- A command is found by the digest of its line (the upper 47 bits of SipHash-2-4 with a key of zeros). An index of the texts took
-- as much room as they do.

CREATE TABLE command_by_digest (
  id INTEGER PRIMARY KEY,
  exe TEXT NOT NULL,                       -- '' where it could not be read
  line TEXT NOT NULL,                      -- arguments, redacted, joined by a space
  line_digest INTEGER NOT NULL
) STRICT;

INSERT INTO command_by_digest (id, exe, line, line_digest) SELECT id, exe, line, 0 FROM command ORDER BY id;

DROP TABLE command;

ALTER TABLE command_by_digest RENAME TO command;

CREATE INDEX command_digest ON command (line_digest);
