-- Non-empty categories at tick ?2 with keyframe ?1.
WITH last AS (
  SELECT category_id, MAX(tick_id) AS tick_id FROM category_total WHERE tick_id BETWEEN ?1 AND ?2 GROUP BY category_id
)
SELECT c.name, s.processes, s.inexact, s.rss_kib, s.pss_kib, s.uss_kib, s.swap_kib, s.swap_pss_kib, s.shared_swap_kib
FROM last
JOIN category_sample AS s ON s.tick_id = last.tick_id AND s.category_id = last.category_id
JOIN category AS c ON c.id = last.category_id
WHERE s.processes > 0
ORDER BY c.name;
