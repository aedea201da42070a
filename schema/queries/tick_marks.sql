-- What coverage needs of the ticks from ?1 to ?2.
SELECT t.id, t.wall_ms, t.boot_ms, t.run_id, r.boot_id, r.interval_ms, t.skipped, r.end_reason, t.keyframe_id
FROM tick AS t
JOIN run AS r ON r.id = t.run_id
WHERE t.id BETWEEN ?1 AND ?2
ORDER BY t.id;
