-- A file of schema 9 read as it is: what schema 10 added to its tables, as for schema 1 (001.sql). Its tick may have been made in
-- TEMP.

CREATE TEMP VIEW IF NOT EXISTS tick AS SELECT t.*, NULL AS storing_cpu_us, NULL AS storing_wall_us FROM main.tick AS t;
