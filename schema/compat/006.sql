-- A file of schema 6 read as it is: what schema 7 added to its tables, as for schema 1 (001.sql).

CREATE TEMP VIEW high_water_before AS SELECT h.*, NULL AS seen_by FROM main.high_water AS h;
CREATE TEMP VIEW IF NOT EXISTS extreme AS SELECT e.*, NULL AS high_seen_by FROM main.extreme AS e;
