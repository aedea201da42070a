-- A file of schema 11 read as it is: what schema 12 changed of its tables, as for schema 1 (001.sql). The two tables stand before
-- the views of today that tell the same.

CREATE TEMP VIEW IF NOT EXISTS process_detail AS SELECT * FROM main.process_detail;
DROP TABLE temp.process_state;
CREATE TEMP VIEW process_state AS
SELECT tick_id, process_id, state, parent_pid, threads, ksm_kib, anon_huge_pages_kib,
  CASE WHEN vm_peak_kib IS NOT vm_size_kib THEN COALESCE(vm_peak_kib, -1) END AS vm_peak_kib, vm_size_kib, vm_data_kib,
  vm_stk_kib, vm_exe_kib, vm_lib_kib, vm_pte_kib, shared_swap_kib
FROM temp.process_detail;
DROP TABLE temp.process_rare;
CREATE TEMP VIEW process_rare AS
SELECT tick_id, process_id, lazy_free_kib, shmem_pmd_mapped_kib, file_pmd_mapped_kib, shared_hugetlb_kib, private_hugetlb_kib,
  swap_pss_kib, locked_kib, swap_kib, vm_lck_kib, vm_pin_kib, vm_swap_kib, hugetlb_pages_kib
FROM (SELECT *, anon_huge_pages_kib * 0 AS of_rollup, vm_size_kib * 0 AS of_status FROM temp.process_detail)
WHERE (lazy_free_kib, shmem_pmd_mapped_kib, file_pmd_mapped_kib, shared_hugetlb_kib, private_hugetlb_kib, swap_pss_kib, locked_kib)
    IS NOT (of_rollup, of_rollup, of_rollup, of_rollup, of_rollup, of_rollup, of_rollup)
  OR (swap_kib, vm_lck_kib, vm_pin_kib, vm_swap_kib, hugetlb_pages_kib) IS NOT (of_status, of_status, of_status, of_status, of_status);

CREATE TEMP VIEW IF NOT EXISTS category_sample AS SELECT * FROM main.category_sample;
DROP TABLE temp.category_total;
CREATE TEMP VIEW category_total AS
SELECT tick_id, category_id, processes, inexact, rss_kib, pss_kib, uss_kib FROM temp.category_sample;
DROP TABLE temp.category_swap;
CREATE TEMP VIEW category_swap AS
SELECT tick_id, category_id, swap_kib, swap_pss_kib, shared_swap_kib FROM temp.category_sample
WHERE (swap_kib, swap_pss_kib, shared_swap_kib) <> (0, 0, 0);
