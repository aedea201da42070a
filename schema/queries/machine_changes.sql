-- Rows of the machine in the ticks ?1 to ?2.
SELECT tick_id, 0 AS subject_id, 0 AS ends FROM machine_sample WHERE tick_id BETWEEN ?1 AND ?2
UNION ALL
SELECT tick_id, 0, 0 FROM machine_detail WHERE tick_id BETWEEN ?1 AND ?2
ORDER BY 1, 2;
