-- Schema 5: rollups tell how much of them is exact, and when a peak was reached.
--
-- NULL in the new columns is "not known": of rows that were written before, and of what no time is kept of.

-- How much of the mean of PSS was not read exactly, in hundredths of a percent: RSS stands in for it. The same of all buckets of a row.
ALTER TABLE rollup_5min ADD COLUMN pss_inexact_bp INTEGER;
ALTER TABLE rollup_hour ADD COLUMN pss_inexact_bp INTEGER;
ALTER TABLE rollup_day ADD COLUMN pss_inexact_bp INTEGER;

-- When the PSS of a category, identity or cgroup was highest first, from the begin of the row's first bucket on.
ALTER TABLE rollup_hour ADD COLUMN pss_high_after_ms INTEGER;
ALTER TABLE rollup_day ADD COLUMN pss_high_after_ms INTEGER;

-- The same of the machine: when used_kib and swap_used_kib were highest first, and mem_available_kib was lowest.
ALTER TABLE machine_5min ADD COLUMN low_after_ms INTEGER;
ALTER TABLE machine_5min ADD COLUMN high_after_ms INTEGER;
ALTER TABLE machine_hour ADD COLUMN low_after_ms INTEGER;
ALTER TABLE machine_hour ADD COLUMN high_after_ms INTEGER;
ALTER TABLE machine_day ADD COLUMN low_after_ms INTEGER;
ALTER TABLE machine_day ADD COLUMN high_after_ms INTEGER;
