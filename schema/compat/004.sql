-- A file of schema 4 read as it is: what schema 5 added to its tables, as for schema 1 (001.sql). A file of schema 1 has no
-- rollups: its tables were made in TEMP.

CREATE TEMP VIEW IF NOT EXISTS rollup_5min_before AS SELECT r.*, NULL AS pss_inexact_bp FROM main.rollup_5min AS r;
CREATE TEMP VIEW IF NOT EXISTS rollup_hour_before AS SELECT r.*, NULL AS pss_inexact_bp, NULL AS pss_high_after_ms FROM main.rollup_hour AS r;
CREATE TEMP VIEW IF NOT EXISTS rollup_day_before AS SELECT r.*, NULL AS pss_inexact_bp, NULL AS pss_high_after_ms FROM main.rollup_day AS r;
CREATE TEMP VIEW IF NOT EXISTS machine_5min AS SELECT m.*, NULL AS low_after_ms, NULL AS high_after_ms FROM main.machine_5min AS m;
CREATE TEMP VIEW IF NOT EXISTS machine_hour AS SELECT m.*, NULL AS low_after_ms, NULL AS high_after_ms FROM main.machine_hour AS m;
CREATE TEMP VIEW IF NOT EXISTS machine_day AS SELECT m.*, NULL AS low_after_ms, NULL AS high_after_ms FROM main.machine_day AS m;
