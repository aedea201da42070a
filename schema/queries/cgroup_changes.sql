-- Rows of cgroups in the ticks ?1 to ?2. ends = 1: the cgroup is unknown or deleted from that tick on.
SELECT tick_id, cgroup_id, current_kib IS NULL AS ends FROM cgroup_sample WHERE tick_id BETWEEN ?1 AND ?2
ORDER BY tick_id, cgroup_id;
