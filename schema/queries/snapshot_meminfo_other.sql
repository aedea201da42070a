-- Other keys of meminfo at tick ?2 with keyframe ?1.
WITH last AS (
  SELECT key_id, MAX(tick_id) AS tick_id FROM meminfo_other WHERE tick_id BETWEEN ?1 AND ?2 GROUP BY key_id
)
SELECT k.name, o.value
FROM last
JOIN meminfo_other AS o ON o.tick_id = last.tick_id AND o.key_id = last.key_id
JOIN meminfo_key AS k ON k.id = last.key_id
WHERE o.value IS NOT NULL
ORDER BY k.id;
