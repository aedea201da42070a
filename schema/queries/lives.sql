-- Processes without their names; lived_between.sql says which.
SELECT p.id, p.identity_id, p.pid, p.first_ms, p.gone_ms
FROM process AS p
