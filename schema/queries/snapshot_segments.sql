-- Existing System V segments at tick ?2 with keyframe ?1.
WITH last AS (
  SELECT segment_id, MAX(tick_id) AS tick_id FROM sysv_sample WHERE tick_id BETWEEN ?1 AND ?2 GROUP BY segment_id
)
SELECT g.id, g.shmid, g.key, g.creator_pid, g.creator_uid, g.size_kib, g.first_ms,
  s.attachments, s.uid, s.last_pid, s.removed, s.rss_kib, s.swap_kib, s.detached_ms
FROM last
JOIN sysv_sample AS s ON s.tick_id = last.tick_id AND s.segment_id = last.segment_id
JOIN sysv_segment AS g ON g.id = last.segment_id
WHERE s.rss_kib IS NOT NULL
ORDER BY g.shmid;
