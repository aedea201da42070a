-- Schema 6: what holds memory beside what processes count as theirs: mappings, System V segments, what lies in tmpfs mounts; more
-- of cgroups; what containers are called; what counts processes.
--
-- All samples here go by the rule of changes and keyframes, though they are read more seldom than ticks are made: at a keyframe
-- what was read last is written again. Names go once no sample refers to them.

-- A process's share of the swap of shared mappings, which SwapPss leaves out. NULL: not known, or the machine does not swap.
ALTER TABLE process_detail ADD COLUMN shared_swap_kib INTEGER;
ALTER TABLE category_sample ADD COLUMN shared_swap_kib INTEGER NOT NULL DEFAULT 0;

-- What counts the processes of a run at each tick: bpf, proc (statm of each). NULL: it is not known, or was another way.
ALTER TABLE run ADD COLUMN census TEXT;
-- Since this schema, source may be 1 (held), too. How the PSS of the processes of a tick is known, and what came of reading smaps_rollup by need. NULL: not known, of older
-- recorders, which read it of all.
ALTER TABLE tick ADD COLUMN exact INTEGER;         -- processes whose smaps_rollup was read in the tick
ALTER TABLE tick ADD COLUMN held INTEGER;          -- known as well without
ALTER TABLE tick ADD COLUMN estimated INTEGER;
ALTER TABLE tick ADD COLUMN put_off INTEGER;       -- were to be read as well, but for the budget
ALTER TABLE tick ADD COLUMN longest_us INTEGER;    -- of one reading
ALTER TABLE tick ADD COLUMN checked INTEGER;       -- estimates that a reading replaced: how many,
ALTER TABLE tick ADD COLUMN checked_kib INTEGER;   -- the PSS that was read,
ALTER TABLE tick ADD COLUMN error_kib INTEGER;     -- and by how much they were off, all together
-- Looks of the census since the tick before. NULL: of older recorders, which took none.
ALTER TABLE tick ADD COLUMN looks INTEGER;
ALTER TABLE tick ADD COLUMN looks_cpu_us INTEGER;
ALTER TABLE tick ADD COLUMN longest_look_us INTEGER;

-- What the kernel told of processes since the tick before. NULL: nobody told.
ALTER TABLE tick ADD COLUMN ends INTEGER;         -- that ended
ALTER TABLE tick ADD COLUMN lost_events INTEGER;  -- births, execs and ends for which there was no room

-- What an event tells, as JSON. Of an oom-victim: pid, comm, cgroup, held_kib, peak_kib; and from the kernel's log scope (machine,
-- cgroup, nodes: what ran out), limit_cgroup, usage_kib and limit_kib of that, invoked_by, anon_kib, file_kib, shmem_kib, others (the
-- largest of those that it could have chosen, too: pid, comm, rss_kib, swap_kib). NULL: the text is all there is.
ALTER TABLE event ADD COLUMN detail TEXT;

-- What looks between two ticks, and ends, saw lower or higher than both ticks are, by enough to matter. Where there is no row, the
-- ticks say it.
CREATE TABLE extreme (
  tick_id INTEGER NOT NULL,                -- the later of the two
  subject INTEGER NOT NULL,                -- 0 machine, 1 category, 2 process; it may have ended since
  subject_id INTEGER NOT NULL,             -- category.id, process.id; 0 for the machine
  metric INTEGER NOT NULL REFERENCES high_water_metric (id),
  low_kib INTEGER,
  low_before_ms INTEGER,                   -- how long before the tick
  high_kib INTEGER,
  high_before_ms INTEGER,
  high_after_ms INTEGER,                   -- how long before the tick it was not yet so; NULL: that is not known since the tick before
  PRIMARY KEY (tick_id, subject, subject_id, metric)
) STRICT, WITHOUT ROWID;

-- Processes that ended, as the kernel told: those that a tick saw, and those that had a large peak.
CREATE TABLE process_exit (
  tick_id INTEGER NOT NULL,                -- the first after it
  process_id INTEGER NOT NULL,
  ended_ms INTEGER NOT NULL,
  lived_ms INTEGER NOT NULL,               -- since it was forked
  exit_code INTEGER NOT NULL,              -- as wait(2) has it: the signal in the low 7 bits, else the exit status times 256
  peak_kib INTEGER,                        -- of RSS; NULL: it had the memory of its parent, which waited for it
  anon_kib INTEGER,                        -- what it held when it ended; NULL: the kernel does not tell (before 6.16)
  file_kib INTEGER,
  shmem_kib INTEGER,
  swap_kib INTEGER,
  PRIMARY KEY (tick_id, process_id)
) STRICT, WITHOUT ROWID;

-- The others that ended, summed over five minutes.
CREATE TABLE exit_sum (
  tick_id INTEGER NOT NULL,                -- the first of the five minutes
  comm TEXT NOT NULL,                      -- '': of several, where there were very many names
  user TEXT NOT NULL,
  cgroup_id INTEGER NOT NULL REFERENCES cgroup (id),
  count INTEGER NOT NULL,
  first_ms INTEGER NOT NULL,               -- when the first of them ended, and the last
  last_ms INTEGER NOT NULL,
  lived_ms INTEGER NOT NULL,               -- all together
  peak_kib INTEGER NOT NULL,               -- of RSS, of the one that had most; 0: none is known
  peak_ms INTEGER NOT NULL,                -- when that one ended
  PRIMARY KEY (tick_id, comm, user, cgroup_id)
) STRICT, WITHOUT ROWID;

-- What processes map.
CREATE TABLE mapping (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,                      -- file, anonymous, heap, stack, sysv, memfd, tmpfs …
  label TEXT,                              -- the path as the kernel gives it, " (deleted)" with it; '' without one; NULL: what is
                                           -- beyond the largest of its kind
  UNIQUE (kind, label)
) STRICT;

-- Of each process whose smaps was to be read what became of it, the last time.
CREATE TABLE ledger (
  tick_id INTEGER NOT NULL,
  process_id INTEGER NOT NULL,
  state INTEGER NOT NULL,                  -- 0 exact, 1 deferred (its turn, but there was no time), 2 inaccessible; 3: no longer kept, or gone
  read_ms INTEGER,                         -- when its rows of mapping_sample were read; NULL: never
  regions INTEGER NOT NULL,                -- as read; what it cost:
  cpu_us INTEGER NOT NULL,
  wall_us INTEGER NOT NULL,
  PRIMARY KEY (tick_id, process_id)
) STRICT, WITHOUT ROWID;

-- The ledger of a process: sums over its mappings of one name. See mapping_at.
CREATE TABLE mapping_sample (
  tick_id INTEGER NOT NULL,
  process_id INTEGER NOT NULL,
  mapping_id INTEGER NOT NULL REFERENCES mapping (id),
  regions INTEGER NOT NULL,                -- 0: not mapped any more
  size_kib INTEGER,
  rss_kib INTEGER,                         -- NULL: the sum of the shared and private ones; -1: not known
  pss_kib INTEGER,                         -- NULL: the sum of the private ones; -1: not known
  shared_clean_kib INTEGER,
  shared_dirty_kib INTEGER,
  private_clean_kib INTEGER,
  private_dirty_kib INTEGER,
  swap_kib INTEGER,
  swap_pss_kib INTEGER,
  shared_swap_kib INTEGER,                 -- Swap of those regions whose permission ends in 's'
  PRIMARY KEY (tick_id, process_id, mapping_id)
) STRICT, WITHOUT ROWID;

-- System V shared memory segments.
CREATE TABLE sysv_segment (
  id INTEGER PRIMARY KEY,
  boot_id INTEGER NOT NULL REFERENCES boot (id),
  shmid INTEGER NOT NULL,
  key INTEGER NOT NULL,                    -- 0: IPC_PRIVATE
  creator_pid INTEGER NOT NULL,
  creator_uid INTEGER NOT NULL,
  size_kib INTEGER NOT NULL,
  first_ms INTEGER NOT NULL,               -- the tick that saw it first
  UNIQUE (boot_id, shmid, creator_pid)
) STRICT;

CREATE TABLE sysv_sample (
  tick_id INTEGER NOT NULL,
  segment_id INTEGER NOT NULL REFERENCES sysv_segment (id),
  attachments INTEGER,                     -- NULL: the segment is gone, or not one of the largest any more
  uid INTEGER,                             -- of the owner
  last_pid INTEGER,                        -- of the last shmat or shmdt
  removed INTEGER,                         -- 1: it goes with the last who is attached
  rss_kib INTEGER,
  swap_kib INTEGER,
  detached_ms INTEGER,                     -- when somebody let go of it last; NULL: nobody did
  PRIMARY KEY (tick_id, segment_id)
) STRICT, WITHOUT ROWID;

-- tmpfs mounts that the recorder sees, each file system once.
CREATE TABLE tmpfs (
  id INTEGER PRIMARY KEY,
  mount_point TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE tmpfs_sample (
  tick_id INTEGER NOT NULL,
  tmpfs_id INTEGER NOT NULL REFERENCES tmpfs (id),
  state INTEGER NOT NULL,                  -- 0 walked whole, 1 cut (too much, or parts may not be entered), 2 not to be read, 4 not walked yet;
                                           -- 3: not mounted any more
  limit_kib INTEGER,                       -- NULL: none, or not known
  used_kib INTEGER,
  inodes INTEGER,                          -- in use
  walked_ms INTEGER,                       -- when it was walked, which all below is of; NULL: never
  entries INTEGER,                         -- a file of several names counts once
  directories INTEGER,                     -- of those; what is none of these is a file
  symlinks INTEGER,
  others INTEGER,                          -- pipes, sockets, devices
  closed INTEGER,                          -- directories that may not be entered
  allocated_kib INTEGER,
  logical_kib INTEGER,
  PRIMARY KEY (tick_id, tmpfs_id)
) STRICT, WITHOUT ROWID;

-- The largest of their directories and files.
CREATE TABLE tmpfs_entry (
  id INTEGER PRIMARY KEY,
  tmpfs_id INTEGER NOT NULL REFERENCES tmpfs (id),
  path TEXT NOT NULL,                      -- below the mount point; '' is the mount point itself
  directory INTEGER NOT NULL,              -- 1: of all below it
  UNIQUE (tmpfs_id, path, directory)
) STRICT;

CREATE TABLE tmpfs_entry_sample (
  tick_id INTEGER NOT NULL,
  entry_id INTEGER NOT NULL REFERENCES tmpfs_entry (id),
  allocated_kib INTEGER,                   -- blocks; NULL: it is gone, or not one of the largest any more
  logical_kib INTEGER,                     -- length
  entries INTEGER,                         -- of a directory, all below it; of a file 1
  uid INTEGER,                             -- of the owner
  changed_ms INTEGER,                      -- when it was written to last; of a directory the latest below it
  PRIMARY KEY (tick_id, entry_id)
) STRICT, WITHOUT ROWID;

-- Containers, by the paths of their cgroups; what their engines' own files call them.
CREATE TABLE container (
  id INTEGER PRIMARY KEY,
  runtime TEXT NOT NULL,                   -- docker, podman, containerd, cri-o, lxc …
  key TEXT NOT NULL,                       -- its id, or the name where that is all there is
  name TEXT NOT NULL,                      -- '' where nothing tells it
  image TEXT NOT NULL,
  pod_uid TEXT NOT NULL,                   -- of Kubernetes; '' without
  pod TEXT NOT NULL,                       -- its namespace/name
  UNIQUE (runtime, key, name, image, pod_uid, pod)
) STRICT;
ALTER TABLE cgroup ADD COLUMN container_id INTEGER;

-- More of what cgroups hold: anonymous memory, tmpfs and shared memory, the kernel's own.
ALTER TABLE cgroup_sample ADD COLUMN anon_kib INTEGER;
ALTER TABLE cgroup_sample ADD COLUMN shmem_kib INTEGER;
ALTER TABLE cgroup_sample ADD COLUMN kernel_kib INTEGER;

-- Marks of their own counters: memory.current, and the anonymous part of it.
INSERT INTO high_water_metric (id, name) VALUES (7, 'usage'), (8, 'usage_anon'), (9, 'anon');

-- What seldom moves of them. NULL: the kernel does not tell it, or there is no limit.
CREATE TABLE cgroup_detail (
  tick_id INTEGER NOT NULL,
  cgroup_id INTEGER NOT NULL REFERENCES cgroup (id),
  min_kib INTEGER,
  low_kib INTEGER,
  peak_kib INTEGER,                        -- memory.peak, v1's memory.max_usage_in_bytes: since it was made
  swap_peak_kib INTEGER,
  low_events INTEGER,                      -- memory.events, of those below too
  high_events INTEGER,
  max_events INTEGER,                      -- v1's memory.failcnt
  oom_events INTEGER,
  oom_kills INTEGER,
  own_oom_kills INTEGER,                   -- memory.events.local; v1 counts no others
  psi_some_total_us INTEGER,               -- memory.pressure
  psi_full_total_us INTEGER,
  PRIMARY KEY (tick_id, cgroup_id)
) STRICT, WITHOUT ROWID;
