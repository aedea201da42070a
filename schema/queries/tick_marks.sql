-- Columns of the ticks from ?1 to ?2 that coverage needs.
SELECT id, wall_ms, boot_ms, run_id, skipped, keyframe_id FROM tick WHERE id BETWEEN ?1 AND ?2 ORDER BY id;
