"""Faults that were found in answers and fixed. scripts/mistakes --faults makes each of them again.

`right` is an expression on one line of the file, or a whole statement with `statement`. It occurs once in the file.
"""

from dataclasses import dataclass

from sites import Site


@dataclass(frozen=True)
class Fault:
    says: str
    path: str
    right: str
    wrong: str
    tests: list  # at least one of these test programs must fail
    statement: bool = False

    def site(self, text):
        lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if self.right in line]
        if len(lines) != 1:
            raise ValueError(f"{self.path}: {len(lines)} lines have {self.right!r}")
        number, line = lines[0]
        begin = line.index(self.right)
        return Site(self.path, number, begin, begin + len(self.right), self.says, self.right, self.wrong, self.statement)


FAULTS = [
    Fault("peaks over a part of a day omits processes that ran between two ticks", "query/commands/peaks/steps.cpp",
          "complete ? kAllMarks : kEnoughMarks", "std::size_t{0}", ["query"]),
    Fault("a filter by memory omits processes that ran between two ticks", "query/state/filter_values.cpp",
          "!mark", "true", ["query"]),
    Fault("trend of RSS misses what exits and VmHWM show", "src/store/replay/extremes.cpp",
          "known->metric != Metric::hwm", "true", ["query"]),
    Fault("rollups lose what was seen before the first tick of an hour", "src/store/rollup/pass.cpp",
          "read_extremes_of(last_ + 1, next->wall_ms);", "", ["store"], statement=True),
    Fault("trend shows time before its subject existed as not recorded", "query/commands/trend/report.cpp",
          "recorded_within(coverage, bucket.from_ms, bucket.until_ms)", "bucket.covered_ms", ["query"]),
    Fault("a process is added to itself after the clock was set back", "query/history/history.cpp",
          "of.pass", "0", ["query"]),
    Fault("PSS of shared memory stays when another process maps or releases it", "src/collect/pss/read_planner.cpp",
          "correct_shares(entries, context, after_reads);", "", ["collect"], statement=True),
    Fault("a held value is called exact", "src/store/replay/process_states.cpp",
          "sample.source = source_at(sample, boot_ms);", "", ["store"], statement=True),
    Fault("a reading that changed nothing is forgotten", "src/store/write/tick_store.cpp",
          "samples_.insert_reading(context.tick_id, live.id);", "", ["store"], statement=True),
    Fault("swap of an estimated process is as it was read", "src/collect/pss/estimate.cpp",
          "add(memory, F::swap, moved(read, memory, F::vm_swap) + std::max(shared_swapped, -shared_swap_kib(read)));", "", ["collect_rules"], statement=True),
    Fault("USS of siblings is unknown", "src/collect/pss/pool.cpp",
          "memory.set(F::private_dirty, part_of(memory.or_zero(F::rss_anon), shares.private_anonymous));", "",
          ["collect_rules"], statement=True),
    Fault("the share of shared swap is unknown where there is none", "src/collect/mappings/mapping_reader.cpp",
          "has_none ? 0 : sweep_.share_of(entry->sample.key)", "sweep_.share_of(entry->sample.key)", ["collect"]),
    Fault("a tick on demand reads no more than the budget", "src/collect/pss/read_planner.cpp",
          "all || allowance_.unlimited()", "allowance_.unlimited()", ["collect"]),
    Fault("an object is as small as the PSS of its known mappers", "src/analysis/shared_objects.cpp",
          "object.largest_kib = std::max(object.largest_kib, use.memory.or_zero(ProcessField::rss));", "", ["holders"],
          statement=True),
    Fault("a segment without attachments is hidden by another one of its name", "query/commands/objects/objects.cpp",
          "is_attached && line != lines.end()", "line != lines.end()", ["holders"]),
    Fault("OOM kills of a tick are not counted", "src/store/write/tick_store.cpp",
          "activity.oom_kills = state.oom_kills.in_tick;", "", ["store", "summary"], statement=True),
    Fault("each image of a process counts as one that started", "src/store/write/turnover.cpp",
          "key.start_ticks", "key.start_ticks * 16U + static_cast<std::uint64_t>(key.exec_count)", ["summary"]),
    Fault("a process that execs and exits between two ticks exits twice", "src/store/write/tick_store.cpp",
          "record->process == key", "true", ["summary"]),
    Fault("counts of a day are lost with its ticks", "src/store/rollup/rollup.cpp",
          "roll_up_activity(database_, tier.shape, segment_->ticks.first, segment_->ticks.last);", "", ["store", "summary"],
          statement=True),
    Fault("a process that ran between two ticks has a lifetime of 0", "query/commands/processes/processes.cpp",
          "end->exited_ms - end->lived_ms", "end->exited_ms", ["query"]),
    Fault("an identity has the command line of its newest process", "query/state/process_columns.cpp",
          "newest.command = common_command(newest.command, short_command(command));", "", ["reports"], statement=True),
    Fault("free memory on per-CPU lists is part of the rest", "src/analysis/machine_parts.cpp",
          "part(MachinePart::per_cpu_free) = memory.get(M::per_cpu_free);", "", ["analysis"], statement=True),
    Fault("a part that is larger than its whole leaves a negative rest", "src/model/memory_breakdown.cpp",
          "kib < 0 ? std::nullopt : Kib(kib)", "Kib(kib)", ["query"]),
    Fault("a short process has the program that its parent ran before", "src/collect/exit/exit_collector.cpp",
          "kept->parent_execed", "false", ["collect"]),
    Fault("a process that is blocked stays exact", "src/collect/process/process_details.cpp",
          "if (entry.blocked) return entry.doubt();", "if (entry.blocked) return;", ["collect"], statement=True),
]
