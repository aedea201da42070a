-- Schema 12: what most processes and categories have nothing of stands in tables of its own, beside the row with the same key. The
-- views process_detail and category_sample tell both, as the tables did before.

CREATE TABLE process_state (
  tick_id INTEGER NOT NULL,
  process_id INTEGER NOT NULL,
  state TEXT NOT NULL,                     -- R S D Z T t X I
  parent_pid INTEGER NOT NULL,
  threads INTEGER NOT NULL,
  ksm_kib INTEGER,
  anon_huge_pages_kib INTEGER,
  vm_peak_kib INTEGER,                     -- NULL where it is vm_size_kib; -1: not known
  vm_size_kib INTEGER,
  vm_data_kib INTEGER,
  vm_stk_kib INTEGER,
  vm_exe_kib INTEGER,
  vm_lib_kib INTEGER,
  vm_pte_kib INTEGER,
  shared_swap_kib INTEGER,
  PRIMARY KEY (tick_id, process_id)
) STRICT, WITHOUT ROWID;

-- Without a row, those of smaps_rollup are 0 where anon_huge_pages_kib is known, those of status and swap_kib where vm_size_kib is;
-- else they are not known. On kernels that lack one of them (before 5.4 FilePmdMapped) each row of process_state has one here.
CREATE TABLE process_rare (
  tick_id INTEGER NOT NULL,
  process_id INTEGER NOT NULL,
  lazy_free_kib INTEGER,                   -- of smaps_rollup
  shmem_pmd_mapped_kib INTEGER,
  file_pmd_mapped_kib INTEGER,
  shared_hugetlb_kib INTEGER,
  private_hugetlb_kib INTEGER,
  swap_pss_kib INTEGER,
  locked_kib INTEGER,
  swap_kib INTEGER,                        -- of both: VmSwap stands in where smaps_rollup is not read
  vm_lck_kib INTEGER,                      -- of status
  vm_pin_kib INTEGER,
  vm_swap_kib INTEGER,
  hugetlb_pages_kib INTEGER,
  PRIMARY KEY (tick_id, process_id)
) STRICT, WITHOUT ROWID;

INSERT INTO process_state (tick_id, process_id, state, parent_pid, threads, ksm_kib, anon_huge_pages_kib, vm_peak_kib, vm_size_kib,
  vm_data_kib, vm_stk_kib, vm_exe_kib, vm_lib_kib, vm_pte_kib, shared_swap_kib)
SELECT tick_id, process_id, state, parent_pid, threads, ksm_kib, anon_huge_pages_kib,
  CASE WHEN vm_peak_kib IS NOT vm_size_kib THEN COALESCE(vm_peak_kib, -1) END, vm_size_kib, vm_data_kib, vm_stk_kib,
  vm_exe_kib, vm_lib_kib, vm_pte_kib, shared_swap_kib
FROM process_detail
ORDER BY tick_id, process_id;

INSERT INTO process_rare (tick_id, process_id, lazy_free_kib, shmem_pmd_mapped_kib, file_pmd_mapped_kib, shared_hugetlb_kib,
  private_hugetlb_kib, swap_pss_kib, locked_kib, swap_kib, vm_lck_kib, vm_pin_kib, vm_swap_kib, hugetlb_pages_kib)
SELECT tick_id, process_id, lazy_free_kib, shmem_pmd_mapped_kib, file_pmd_mapped_kib, shared_hugetlb_kib, private_hugetlb_kib,
  swap_pss_kib, locked_kib, swap_kib, vm_lck_kib, vm_pin_kib, vm_swap_kib, hugetlb_pages_kib
FROM (SELECT *, anon_huge_pages_kib * 0 AS of_rollup, vm_size_kib * 0 AS of_status FROM process_detail)
WHERE (lazy_free_kib, shmem_pmd_mapped_kib, file_pmd_mapped_kib, shared_hugetlb_kib, private_hugetlb_kib, swap_pss_kib, locked_kib)
    IS NOT (of_rollup, of_rollup, of_rollup, of_rollup, of_rollup, of_rollup, of_rollup)
  OR (swap_kib, vm_lck_kib, vm_pin_kib, vm_swap_kib, hugetlb_pages_kib) IS NOT (of_status, of_status, of_status, of_status, of_status)
ORDER BY tick_id, process_id;

DROP TABLE process_detail;

-- Totals over the processes of a category. processes = 0 ends it.
CREATE TABLE category_total (
  tick_id INTEGER NOT NULL,
  category_id INTEGER NOT NULL REFERENCES category (id),
  processes INTEGER NOT NULL,
  inexact INTEGER NOT NULL,                -- of them, those whose PSS is not exact
  rss_kib INTEGER NOT NULL,
  pss_kib INTEGER NOT NULL,
  uss_kib INTEGER NOT NULL,
  PRIMARY KEY (tick_id, category_id)
) STRICT, WITHOUT ROWID;

-- Without a row nothing is swapped out.
CREATE TABLE category_swap (
  tick_id INTEGER NOT NULL,
  category_id INTEGER NOT NULL REFERENCES category (id),
  swap_kib INTEGER NOT NULL,
  swap_pss_kib INTEGER NOT NULL,
  shared_swap_kib INTEGER NOT NULL,
  PRIMARY KEY (tick_id, category_id)
) STRICT, WITHOUT ROWID;

INSERT INTO category_total (tick_id, category_id, processes, inexact, rss_kib, pss_kib, uss_kib)
SELECT tick_id, category_id, processes, inexact, rss_kib, pss_kib, uss_kib FROM category_sample ORDER BY tick_id, category_id;

INSERT INTO category_swap (tick_id, category_id, swap_kib, swap_pss_kib, shared_swap_kib)
SELECT tick_id, category_id, swap_kib, swap_pss_kib, shared_swap_kib
FROM category_sample
WHERE (swap_kib, swap_pss_kib, shared_swap_kib) <> (0, 0, 0)
ORDER BY tick_id, category_id;

DROP TABLE category_sample;
