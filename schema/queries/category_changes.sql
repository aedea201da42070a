-- Rows of categories in the ticks ?1 to ?2. ends = 1: the category has no process from that tick on.
SELECT tick_id, category_id, processes = 0 AS ends FROM category_total WHERE tick_id BETWEEN ?1 AND ?2
ORDER BY tick_id, category_id;
