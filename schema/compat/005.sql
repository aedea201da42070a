-- A file of schema 5 read as it is: what schema 6 added to its tables, as for schema 1 (001.sql). Its cgroup_sample may have
-- been made in TEMP.

CREATE TEMP VIEW run AS SELECT r.*, NULL AS census FROM main.run AS r;
CREATE TEMP VIEW tick AS
SELECT t.*, NULL AS exact, NULL AS held, NULL AS estimated, NULL AS put_off, NULL AS longest_us, NULL AS checked,
  NULL AS checked_kib, NULL AS error_kib, NULL AS looks, NULL AS looks_cpu_us, NULL AS longest_look_us,
  NULL AS ends, NULL AS lost_events, NULL AS storing_cpu_us, NULL AS storing_wall_us
FROM main.tick AS t;
CREATE TEMP VIEW process_detail AS SELECT d.*, NULL AS shared_swap_kib FROM main.process_detail AS d;
CREATE TEMP VIEW category_sample AS SELECT c.*, 0 AS shared_swap_kib FROM main.category_sample AS c;
CREATE TEMP VIEW IF NOT EXISTS cgroup AS SELECT g.*, NULL AS container_id FROM main.cgroup AS g;
CREATE TEMP VIEW IF NOT EXISTS cgroup_sample AS
SELECT s.*, NULL AS anon_kib, NULL AS shmem_kib, NULL AS kernel_kib FROM main.cgroup_sample AS s;
CREATE TEMP VIEW event AS SELECT e.*, NULL AS detail FROM main.event AS e;
