# bash completion for memoir(1), as `memoir completion bash` prints it

_memoir_categories() {
  memoir categories --limit 0 --format csv 2>/dev/null | sed -n '2,$s|^[^"]*,\([[:alnum:]_.:@+/][[:alnum:] _.:@+/-]*\)$|\1|p'
}

_memoir() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= word words= names=
  # --by=rss comes as three words
  if [[ $current == "=" ]]; then
    current=
  elif [[ $previous == "=" ]]; then
    previous=${COMP_WORDS[COMP_CWORD-2]}
  fi
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in
      status|incident|top|memory|trend|peaks|leaks|diff|summary|processes|tree|mappings|objects|tmpfs|shm|cgroups|exits|categories|events|export|extract|backup|doctor|completion|help) command=$word; break ;;
    esac
  done
  case "$command $previous" in
    *" --at") words="now today yesterday monday tuesday wednesday thursday friday saturday sunday" ;;
    *" --from"|*" --since") words="now today yesterday monday tuesday wednesday thursday friday saturday sunday" ;;
    *" --to"|*" --until") words="now today yesterday monday tuesday wednesday thursday friday saturday sunday" ;;
    *" --last") words="10m 1h 2h 1d 1w" ;;
    *" --day") words="now today yesterday monday tuesday wednesday thursday friday saturday sunday" ;;
    "top --by"|"top --sort") words="pss rss uss anon swap hwm growth" ;;
    "trend --by"|"trend --sort") words="used available free cached anon swap shmem slab dirty unaccounted pss rss uss swap_pss hwm" ;;
    "peaks --by"|"peaks --sort") words="hwm pss rss uss swap usage usage_anon usage_swap" ;;
    "diff --by"|"diff --sort") words="pss rss uss anon swap swap_pss" ;;
    "processes --by"|"processes --sort") words="start lifetime hwm" ;;
    "tree --by"|"tree --sort") words="pss uss rss swap" ;;
    "cgroups --by"|"cgroups --sort") words="usage anon file shmem kernel swap limit peak kills" ;;
    "categories --by"|"categories --sort") words="pss rss uss swap" ;;
    "top --group") words="process identity command category user cgroup unit slice comm container" ;;
    "peaks --group") words="process identity command category user cgroup unit slice comm container" ;;
    "diff --group") words="process identity command category user cgroup unit slice comm container" ;;
    "exits --group") words="process command user cgroup container unit slice" ;;
    *" --filter") words="category= user= pid= comm= exe= command= cgroup= unit= slice= identity= container="; compopt -o nospace ;;
    *" --tier") words="raw 5min hour day" ;;
    "status --kind") words="alert boot burst clock-step degraded gap held limit lost missed moved oom-kill oom-victim reload restored set-aside start stop suspend unclean wal" ;;
    "incident --kind") words="alert boot burst clock-step degraded gap held limit lost missed moved oom-kill oom-victim reload restored set-aside start stop suspend unclean wal" ;;
    "top --kind") words="alert boot burst clock-step degraded gap held limit lost missed moved oom-kill oom-victim reload restored set-aside start stop suspend unclean wal" ;;
    "memory --kind") words="alert boot burst clock-step degraded gap held limit lost missed moved oom-kill oom-victim reload restored set-aside start stop suspend unclean wal" ;;
    "trend --kind") words="alert boot burst clock-step degraded gap held limit lost missed moved oom-kill oom-victim reload restored set-aside start stop suspend unclean wal" ;;
    "peaks --kind") words="alert boot burst clock-step degraded gap held limit lost missed moved oom-kill oom-victim reload restored set-aside start stop suspend unclean wal" ;;
    "leaks --kind") words="alert boot burst clock-step degraded gap held limit lost missed moved oom-kill oom-victim reload restored set-aside start stop suspend unclean wal" ;;
    "diff --kind") words="alert boot burst clock-step degraded gap held limit lost missed moved oom-kill oom-victim reload restored set-aside start stop suspend unclean wal" ;;
    "summary --kind") words="alert boot burst clock-step degraded gap held limit lost missed moved oom-kill oom-victim reload restored set-aside start stop suspend unclean wal" ;;
    "processes --kind") words="alert boot burst clock-step degraded gap held limit lost missed moved oom-kill oom-victim reload restored set-aside start stop suspend unclean wal" ;;
    "tree --kind") words="alert boot burst clock-step degraded gap held limit lost missed moved oom-kill oom-victim reload restored set-aside start stop suspend unclean wal" ;;
    "mappings --kind") words="alert boot burst clock-step degraded gap held limit lost missed moved oom-kill oom-victim reload restored set-aside start stop suspend unclean wal" ;;
    "objects --kind") words="file anonymous heap stack vdso vvar vsyscall shared-anonymous sysv memfd tmpfs other" ;;
    "tmpfs --kind") words="alert boot burst clock-step degraded gap held limit lost missed moved oom-kill oom-victim reload restored set-aside start stop suspend unclean wal" ;;
    "shm --kind") words="alert boot burst clock-step degraded gap held limit lost missed moved oom-kill oom-victim reload restored set-aside start stop suspend unclean wal" ;;
    "cgroups --kind") words="alert boot burst clock-step degraded gap held limit lost missed moved oom-kill oom-victim reload restored set-aside start stop suspend unclean wal" ;;
    "exits --kind") words="alert boot burst clock-step degraded gap held limit lost missed moved oom-kill oom-victim reload restored set-aside start stop suspend unclean wal" ;;
    "categories --kind") words="alert boot burst clock-step degraded gap held limit lost missed moved oom-kill oom-victim reload restored set-aside start stop suspend unclean wal" ;;
    "events --kind") words="alert boot burst clock-step degraded gap held limit lost missed moved oom-kill oom-victim reload restored set-aside start stop suspend unclean wal" ;;
    "export --kind") words="alert boot burst clock-step degraded gap held limit lost missed moved oom-kill oom-victim reload restored set-aside start stop suspend unclean wal" ;;
    "extract --kind") words="alert boot burst clock-step degraded gap held limit lost missed moved oom-kill oom-victim reload restored set-aside start stop suspend unclean wal" ;;
    "backup --kind") words="alert boot burst clock-step degraded gap held limit lost missed moved oom-kill oom-victim reload restored set-aside start stop suspend unclean wal" ;;
    "doctor --kind") words="alert boot burst clock-step degraded gap held limit lost missed moved oom-kill oom-victim reload restored set-aside start stop suspend unclean wal" ;;
    "completion --kind") words="alert boot burst clock-step degraded gap held limit lost missed moved oom-kill oom-victim reload restored set-aside start stop suspend unclean wal" ;;
    *" --limit"|*" -n") words="0 20 50 100" ;;
    *" --step") words="1m 5m 1h 1d" ;;
    *" --window") words="" ;;
    *" --extract") compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    *" --csv") compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    *" --config") compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    *" --hour") words="" ;;
    *" --output"|*" -o") compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    *" --suffix") words="" ;;
    *" --textfile") compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    *" --label") words="" ;;
    *" --write-missing") compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    *" --db") compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    "status --format") words="table json csv" ;;
    "incident --format") words="table json csv markdown html" ;;
    "top --format") words="table json csv" ;;
    "memory --format") words="table json csv" ;;
    "trend --format") words="table json csv" ;;
    "peaks --format") words="table json csv" ;;
    "leaks --format") words="table json csv" ;;
    "diff --format") words="table json csv markdown html" ;;
    "summary --format") words="table json csv markdown html" ;;
    "processes --format") words="table json csv" ;;
    "tree --format") words="table json csv" ;;
    "mappings --format") words="table json csv" ;;
    "objects --format") words="table json csv" ;;
    "tmpfs --format") words="table json csv" ;;
    "shm --format") words="table json csv" ;;
    "cgroups --format") words="table json csv" ;;
    "exits --format") words="table json csv" ;;
    "categories --format") words="table json csv" ;;
    "events --format") words="table json csv" ;;
    "export --format") words="csv jsonl openmetrics smaps-rollup category-metrics" ;;
    "extract --format") words="table json csv" ;;
    "backup --format") words="table json csv" ;;
    "doctor --format") words="table json csv" ;;
    "completion --format") words="table json csv" ;;
    *" --units") words="kib mib gib auto" ;;
    *" category") names=category ;;
    *)
      case "$command $current" in
        " -"*) words="--limit -n --db --format --units --utc --no-color --no-pager --json --csv --help -h --version -V" ;;
        " "*) words="status incident top memory trend peaks leaks diff summary processes tree mappings objects tmpfs shm cgroups exits categories events export extract backup doctor completion help" ;;
        "status -"*) words="--limit -n --db --format --units --utc --no-color --no-pager --json --csv --help -h --version -V" ;;
        "status "*) words="--limit -n --db --format --units --utc --no-color --no-pager --json --csv --help -h --version -V" ;;
        "incident -"*) words="--at --limit -n --last-oom --window --extract --force --db --format --units --utc --ascii --no-color --no-pager --json --csv --help -h --version -V" ;;
        "incident "*) words="--at --limit -n --last-oom --window --extract --force --db --format --units --utc --ascii --no-color --no-pager --json --csv --help -h --version -V" ;;
        "top -"*) words="--at --from --since --to --until --last --day --by --sort --group --filter --tier --limit -n --db --format --units --utc --no-color --no-pager --json --csv --help -h --version -V" ;;
        "top "*) words="--at --from --since --to --until --last --day --by --sort --group --filter --tier --limit -n --db --format --units --utc --no-color --no-pager --json --csv --help -h --version -V" ;;
        "memory -"*) words="--at --tier --db --format --units --utc --no-color --no-pager --json --csv --help -h --version -V" ;;
        "memory "*) words="--at --tier --db --format --units --utc --no-color --no-pager --json --csv --help -h --version -V" ;;
        "trend -"*) words="--from --since --to --until --last --day --by --sort --tier --step --db --format --units --utc --ascii --no-color --no-pager --json --csv --help -h --version -V" ;;
        "trend "*) words="machine" names=category ;;
        "peaks -"*) words="--from --since --to --until --last --day --by --sort --group --filter --tier --limit -n --db --format --units --utc --no-color --no-pager --json --csv --help -h --version -V" ;;
        "peaks "*) words="--from --since --to --until --last --day --by --sort --group --filter --tier --limit -n --db --format --units --utc --no-color --no-pager --json --csv --help -h --version -V" ;;
        "leaks -"*) words="--from --since --to --until --last --day --limit -n --all --explain --csv --config --hour --db --format --units --utc --ascii --no-color --no-pager --json --help -h --version -V" ;;
        "leaks "*) words="--from --since --to --until --last --day --limit -n --all --explain --csv --config --hour --db --format --units --utc --ascii --no-color --no-pager --json --help -h --version -V" ;;
        "diff -"*) words="--from --since --to --until --last --day --by --sort --group --filter --tier --limit -n --db --format --units --utc --no-color --no-pager --json --csv --help -h --version -V" ;;
        "diff "*) words="now today yesterday monday tuesday wednesday thursday friday saturday sunday" ;;
        "summary -"*) words="--day --limit -n --config --hour --write-missing --db --format --units --utc --ascii --no-color --no-pager --json --csv --help -h --version -V" ;;
        "summary "*) words="--day --limit -n --config --hour --write-missing --db --format --units --utc --ascii --no-color --no-pager --json --csv --help -h --version -V" ;;
        "processes -"*) words="--at --from --since --to --until --last --day --by --sort --filter --tier --limit -n --db --format --units --utc --no-color --no-pager --json --csv --help -h --version -V" ;;
        "processes "*) words="--at --from --since --to --until --last --day --by --sort --filter --tier --limit -n --db --format --units --utc --no-color --no-pager --json --csv --help -h --version -V" ;;
        "tree -"*) words="--at --by --sort --filter --limit -n --db --format --units --utc --ascii --no-color --no-pager --json --csv --help -h --version -V" ;;
        "tree "*) words="" names=category ;;
        "mappings -"*) words="--at --limit -n --db --format --units --utc --no-color --no-pager --json --csv --help -h --version -V" ;;
        "mappings "*) words="" names=category ;;
        "objects -"*) words="--at --kind --limit -n --ownerless --db --format --units --utc --no-color --no-pager --json --csv --help -h --version -V" ;;
        "objects "*) words="--at --kind --limit -n --ownerless --db --format --units --utc --no-color --no-pager --json --csv --help -h --version -V" ;;
        "tmpfs -"*) words="--at --from --since --to --until --last --day --limit -n --db --format --units --utc --ascii --no-color --no-pager --json --csv --help -h --version -V" ;;
        "tmpfs "*) words="--at --from --since --to --until --last --day --limit -n --db --format --units --utc --ascii --no-color --no-pager --json --csv --help -h --version -V" ;;
        "shm -"*) words="--at --limit -n --db --format --units --utc --no-color --no-pager --json --csv --help -h --version -V" ;;
        "shm "*) words="--at --limit -n --db --format --units --utc --no-color --no-pager --json --csv --help -h --version -V" ;;
        "cgroups -"*) words="--at --by --sort --tier --limit -n --db --format --units --utc --no-color --no-pager --json --csv --help -h --version -V" ;;
        "cgroups "*) words="" names=category ;;
        "exits -"*) words="--from --since --to --until --last --day --group --filter --limit -n --db --format --units --utc --no-color --no-pager --json --csv --help -h --version -V" ;;
        "exits "*) words="--from --since --to --until --last --day --group --filter --limit -n --db --format --units --utc --no-color --no-pager --json --csv --help -h --version -V" ;;
        "categories -"*) words="--at --from --since --to --until --last --day --by --sort --tier --limit -n --db --format --units --utc --no-color --no-pager --json --csv --help -h --version -V" ;;
        "categories "*) words="--at --from --since --to --until --last --day --by --sort --tier --limit -n --db --format --units --utc --no-color --no-pager --json --csv --help -h --version -V" ;;
        "events -"*) words="--from --since --to --until --last --day --kind --limit -n --db --format --units --utc --no-color --no-pager --json --csv --help -h --version -V" ;;
        "events "*) words="--from --since --to --until --last --day --kind --limit -n --db --format --units --utc --no-color --no-pager --json --csv --help -h --version -V" ;;
        "export -"*) words="--at --from --since --to --until --last --day --filter --tier --limit -n --step --config --hour --output -o --suffix --force --textfile --label --db --format --units --utc --no-color --no-pager --csv --help -h --version -V" ;;
        "export "*) words="machine categories processes all fleet" ;;
        "extract -"*) words="--from --since --to --until --last --day --output -o --force --db --format --units --utc --no-color --no-pager --json --csv --help -h --version -V" ;;
        "extract "*) words="--from --since --to --until --last --day --output -o --force --db --format --units --utc --no-color --no-pager --json --csv --help -h --version -V" ;;
        "backup -"*) words="--output -o --force --db --format --units --utc --no-color --no-pager --json --csv --help -h --version -V" ;;
        "backup "*) words="--output -o --force --db --format --units --utc --no-color --no-pager --json --csv --help -h --version -V" ;;
        "doctor -"*) words="--db --format --units --utc --no-color --no-pager --json --csv --help -h --version -V" ;;
        "doctor "*) words="--db --format --units --utc --no-color --no-pager --json --csv --help -h --version -V" ;;
        "completion -"*) words="--help -h --version -V" ;;
        "completion "*) words="bash zsh fish" ;;
        "help "*) words="status incident top memory trend peaks leaks diff summary processes tree mappings objects tmpfs shm cgroups exits categories events export extract backup doctor completion help" ;;
      esac
      ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  [[ -n $names ]] || return
  # Names come from the file: they are quoted, and nothing expands them.
  while IFS= read -r word; do
    printf -v word %q "$word"
    [[ $word == "$current"* ]] && COMPREPLY+=("$word")
  done < <(_memoir_categories)
}

complete -F _memoir memoir
