-- Processes without their names. lived_between.sql or lived_in_ticks.sql follows, with the condition.
SELECT p.id, p.identity_id, p.pid, p.start_ms, p.first_ms, p.exited_ms
FROM process AS p
