-- After last_rows.sql or last_rows_of_one.sql: what their processes that live at tick ?2 are and hold.
SELECT
  p.id, p.boot_uuid, p.pid, p.start_ticks, p.exec_count, p.start_ms, p.parent_pid, p.uid, p.user, p.comm, p.exe,
  p.command, p.cgroup, p.cwd, p.category, p.first_ms, p.last_ms, p.gone_ms, p.end_kind,
  p.identity_id, p.unit, p.identity,
  (SELECT wall_ms FROM tick WHERE tick.id = MAX(hot.tick_id, cold.tick_id)) AS sample_ms,
  d.state, d.parent_pid, d.threads, s.source,
  s.rss_kib, s.pss_kib, s.pss_dirty_kib, s.pss_anon_kib, s.pss_file_kib, s.pss_shmem_kib, s.shared_clean_kib,
  s.shared_dirty_kib, s.private_clean_kib, s.private_dirty_kib, s.referenced_kib, s.anonymous_kib, s.vm_hwm_kib,
  s.vm_rss_kib, s.rss_anon_kib, s.rss_file_kib, s.rss_shmem_kib,
  d.ksm_kib, d.lazy_free_kib, d.anon_huge_pages_kib, d.shmem_pmd_mapped_kib, d.file_pmd_mapped_kib,
  d.shared_hugetlb_kib, d.private_hugetlb_kib, d.swap_kib, d.swap_pss_kib, d.locked_kib, d.vm_peak_kib, d.vm_size_kib,
  d.vm_lck_kib, d.vm_pin_kib, d.vm_data_kib, d.vm_stk_kib, d.vm_exe_kib, d.vm_lib_kib, d.vm_pte_kib, d.vm_swap_kib,
  d.hugetlb_pages_kib
FROM hot
JOIN cold ON cold.process_id = hot.process_id
JOIN process_sample AS s ON s.tick_id = hot.tick_id AND s.process_id = hot.process_id
JOIN process_detail AS d ON d.tick_id = cold.tick_id AND d.process_id = cold.process_id
JOIN process_named AS p ON p.id = hot.process_id
WHERE s.source <> 5 AND (p.gone_tick_id IS NULL OR p.gone_tick_id > ?2)
ORDER BY p.pid, p.start_ticks, p.exec_count;
