-- Schema 7: how high-water marks are known, and those of cgroups between ticks.

-- 0 held at a tick, 1 seen by a look between two, 2 told by the kernel when the process ended, 3 by memory.peak or
-- memory.swap.peak of the cgroup (v1: memory.max_usage_in_bytes). NULL: not told, of older recorders, or of what rollups tell.
ALTER TABLE high_water ADD COLUMN seen_by INTEGER;

-- A cgroup's memory.swap.current.
INSERT INTO high_water_metric (id, name) VALUES (10, 'usage_swap');

-- Since this schema the subject of a row of extreme may be 4, too: a cgroup, of which the highest alone is told. How that is
-- known, as in high_water. NULL: by a look, or of older recorders.
ALTER TABLE extreme ADD COLUMN high_seen_by INTEGER;
