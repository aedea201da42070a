-- A file of schema 2 read as it is: what schema 3 added to its tables, as for schema 1 (001.sql).

CREATE TEMP VIEW machine_detail AS SELECT d.*, NULL AS sysv_kib, NULL AS tmpfs_kib FROM main.machine_detail AS d;
