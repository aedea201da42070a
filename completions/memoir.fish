# fish completion for memoir(1)

set -l commands status top trend peaks diff processes categories events doctor export
set -l times now today yesterday monday tuesday wednesday thursday friday saturday sunday

complete -c memoir -f
complete -c memoir -n "not __fish_seen_subcommand_from $commands" -a status -d 'Is it recording, with what gaps, at what cost'
complete -c memoir -n "not __fish_seen_subcommand_from $commands" -a top -d 'Who used the memory'
complete -c memoir -n "not __fish_seen_subcommand_from $commands" -a trend -d 'One series over time'
complete -c memoir -n "not __fish_seen_subcommand_from $commands" -a peaks -d 'High-water marks'
complete -c memoir -n "not __fish_seen_subcommand_from $commands" -a diff -d 'What changed between two times'
complete -c memoir -n "not __fish_seen_subcommand_from $commands" -a processes -d 'Who lived, and how it ended'
complete -c memoir -n "not __fish_seen_subcommand_from $commands" -a categories -d 'The categories and what they hold'
complete -c memoir -n "not __fish_seen_subcommand_from $commands" -a events -d 'What happened to the recording'
complete -c memoir -n "not __fish_seen_subcommand_from $commands" -a doctor -d 'What is not in order, and how to mend it'
complete -c memoir -n "not __fish_seen_subcommand_from $commands" -a export -d 'Series and snapshots for other programs'
complete -c memoir -n '__fish_seen_subcommand_from trend export' -a machine -d 'The machine itself'
complete -c memoir -n '__fish_seen_subcommand_from export' -a 'categories processes all'

complete -c memoir -l db -r -F -d 'The database'
complete -c memoir -n '__fish_seen_subcommand_from export' -l format -x -a 'csv jsonl openmetrics smaps-rollup category-metrics' -d 'How it is written'
complete -c memoir -n 'not __fish_seen_subcommand_from export' -l format -x -a 'table json csv' -d 'How the answer is written'
complete -c memoir -l units -x -a 'kib mib auto' -d 'Sizes in a table'
complete -c memoir -l utc -d 'Times are UTC'
complete -c memoir -l no-color -d 'No colour'
complete -c memoir -l help -d 'Options and examples'
complete -c memoir -l version -d 'The version'

set -l ranged top trend peaks diff processes categories events export
complete -c memoir -n '__fish_seen_subcommand_from top processes categories export' -l at -x -a "$times" -d 'The state at one time'
complete -c memoir -n "__fish_seen_subcommand_from $ranged" -l from -x -a "$times" -d 'A range from this time'
complete -c memoir -n "__fish_seen_subcommand_from $ranged" -l to -x -a "$times" -d 'To this time'
complete -c memoir -n "__fish_seen_subcommand_from $ranged" -l last -x -a '10m 1h 2h 1d 7d' -d 'The last while'
complete -c memoir -n "__fish_seen_subcommand_from $ranged" -l day -x -a "$times" -d 'A whole local day'
complete -c memoir -n '__fish_seen_subcommand_from top peaks diff processes export' -l filter -x -a 'category= user= pid= comm= exe= command= cgroup=' -d 'Only those processes'
complete -c memoir -n 'not __fish_seen_subcommand_from trend doctor export' -l limit -x -d 'At most so many rows; 0: all'
complete -c memoir -n '__fish_seen_subcommand_from events' -l kind -x -a 'clock-step degraded gap lost reload unclean' -d 'Only events of that kind'
complete -c memoir -n '__fish_seen_subcommand_from trend export' -l step -x -a '1m 5m 1h 1d' -d 'Width of a bucket'
complete -c memoir -n '__fish_seen_subcommand_from trend' -l ascii -d 'Charts in ASCII'
complete -c memoir -n '__fish_seen_subcommand_from top' -l by -x -a 'pss rss uss anon swap hwm growth' -d 'Ranked by'
complete -c memoir -n '__fish_seen_subcommand_from trend' -l by -x -a 'used available free cached anon swap shmem slab dirty pss rss uss swap_pss hwm' -d 'Series of'
complete -c memoir -n '__fish_seen_subcommand_from peaks' -l by -x -a 'hwm pss rss uss swap' -d 'Ranked by'
complete -c memoir -n '__fish_seen_subcommand_from diff' -l by -x -a 'pss rss uss anon swap swap_pss' -d 'Changes of'
complete -c memoir -n '__fish_seen_subcommand_from processes' -l by -x -a 'start lifetime hwm' -d 'Ranked by'
complete -c memoir -n '__fish_seen_subcommand_from categories' -l by -x -a 'pss rss uss swap' -d 'Ranked by'
complete -c memoir -n '__fish_seen_subcommand_from top' -l group -x -a 'process command category user cgroup' -d 'A row is'
complete -c memoir -n '__fish_seen_subcommand_from peaks' -l group -x -a 'process category command user cgroup' -d 'A row is'
complete -c memoir -n '__fish_seen_subcommand_from diff' -l group -x -a 'process identity command category user cgroup' -d 'A row is'
complete -c memoir -n '__fish_seen_subcommand_from diff' -a "$times" -d 'One of the two times'
