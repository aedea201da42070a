# bash completion for memoir(1), as `memoir completion bash` prints it

_memoir_categories() {
  memoir categories --limit 0 --format csv 2>/dev/null | sed -e 1d -e 's/.*,//'
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
      status|top|trend|peaks|leaks|diff|summary|processes|categories|events|export|extract|backup|doctor|completion|help) command=$word; break ;;
    esac
  done
  case "$command $previous" in
    *" --at") words="now today yesterday monday tuesday wednesday thursday friday saturday sunday" ;;
    *" --from") words="now today yesterday monday tuesday wednesday thursday friday saturday sunday" ;;
    *" --to") words="now today yesterday monday tuesday wednesday thursday friday saturday sunday" ;;
    *" --last") words="10m 1h 2h 1d 7d" ;;
    *" --day") words="now today yesterday monday tuesday wednesday thursday friday saturday sunday" ;;
    "top --by") words="pss rss uss anon swap hwm growth" ;;
    "trend --by") words="used available free cached anon swap shmem slab dirty pss rss uss swap_pss hwm" ;;
    "peaks --by") words="hwm pss rss uss swap" ;;
    "diff --by") words="pss rss uss anon swap swap_pss" ;;
    "processes --by") words="start lifetime hwm" ;;
    "categories --by") words="pss rss uss swap" ;;
    "top --group") words="process identity command category user cgroup" ;;
    "peaks --group") words="process identity category command user cgroup" ;;
    "diff --group") words="process identity command category cgroup user" ;;
    *" --filter") words="category= user= pid= comm= exe= command= cgroup= unit= identity="; compopt -o nospace ;;
    *" --tier") words="raw 5min hour day" ;;
    *" --kind") words="clock-step degraded gap lost moved reload set-aside suspend unclean wal" ;;
    *" --limit") words="0 20 50 100" ;;
    *" --step") words="1m 5m 1h 1d" ;;
    *" --csv") compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    *" --config") compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    *" --hour") words="" ;;
    *" --output") compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    *" --write-missing") compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    *" --db") compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    "status --format") words="table json csv" ;;
    "top --format") words="table json csv" ;;
    "trend --format") words="table json csv" ;;
    "peaks --format") words="table json csv" ;;
    "leaks --format") words="table json csv" ;;
    "diff --format") words="table json csv markdown html" ;;
    "summary --format") words="table json csv markdown html" ;;
    "processes --format") words="table json csv" ;;
    "categories --format") words="table json csv" ;;
    "events --format") words="table json csv" ;;
    "export --format") words="csv jsonl openmetrics smaps-rollup category-metrics" ;;
    "extract --format") words="table json csv" ;;
    "backup --format") words="table json csv" ;;
    "doctor --format") words="table json csv" ;;
    "completion --format") words="table json csv" ;;
    *" --units") words="kib mib auto" ;;
    *" category") names=category ;;
    *)
      case "$command $current" in
        " -"*) words="--limit --db --format --units --utc --no-color --no-pager --help --version" ;;
        " "*) words="status top trend peaks leaks diff summary processes categories events export extract backup doctor completion help" ;;
        "status -"*) words="--limit --db --format --units --utc --no-color --no-pager --help --version" ;;
        "status "*) words="--limit --db --format --units --utc --no-color --no-pager --help --version" ;;
        "top -"*) words="--at --from --to --last --day --by --group --filter --tier --limit --db --format --units --utc --no-color --no-pager --help --version" ;;
        "top "*) words="--at --from --to --last --day --by --group --filter --tier --limit --db --format --units --utc --no-color --no-pager --help --version" ;;
        "trend -"*) words="--from --to --last --day --by --tier --step --db --format --units --utc --ascii --no-color --no-pager --help --version" ;;
        "trend "*) words="machine" names=category ;;
        "peaks -"*) words="--from --to --last --day --by --group --filter --tier --limit --db --format --units --utc --no-color --no-pager --help --version" ;;
        "peaks "*) words="--from --to --last --day --by --group --filter --tier --limit --db --format --units --utc --no-color --no-pager --help --version" ;;
        "leaks -"*) words="--from --to --last --day --limit --all --explain --csv --config --hour --db --format --units --utc --ascii --no-color --no-pager --help --version" ;;
        "leaks "*) words="--from --to --last --day --limit --all --explain --csv --config --hour --db --format --units --utc --ascii --no-color --no-pager --help --version" ;;
        "diff -"*) words="--from --to --last --day --by --group --filter --tier --limit --db --format --units --utc --no-color --no-pager --help --version" ;;
        "diff "*) words="now today yesterday monday tuesday wednesday thursday friday saturday sunday" ;;
        "summary -"*) words="--day --limit --config --hour --write-missing --db --format --units --utc --ascii --no-color --no-pager --help --version" ;;
        "summary "*) words="--day --limit --config --hour --write-missing --db --format --units --utc --ascii --no-color --no-pager --help --version" ;;
        "processes -"*) words="--at --from --to --last --day --by --filter --tier --limit --db --format --units --utc --no-color --no-pager --help --version" ;;
        "processes "*) words="--at --from --to --last --day --by --filter --tier --limit --db --format --units --utc --no-color --no-pager --help --version" ;;
        "categories -"*) words="--at --from --to --last --day --by --tier --limit --db --format --units --utc --no-color --no-pager --help --version" ;;
        "categories "*) words="--at --from --to --last --day --by --tier --limit --db --format --units --utc --no-color --no-pager --help --version" ;;
        "events -"*) words="--from --to --last --day --kind --limit --db --format --units --utc --no-color --no-pager --help --version" ;;
        "events "*) words="--from --to --last --day --kind --limit --db --format --units --utc --no-color --no-pager --help --version" ;;
        "export -"*) words="--at --from --to --last --day --filter --tier --step --db --format --units --utc --no-color --no-pager --help --version" ;;
        "export "*) words="machine categories processes all" ;;
        "extract -"*) words="--from --to --last --day --output --force --db --format --units --utc --no-color --no-pager --help --version" ;;
        "extract "*) words="--from --to --last --day --output --force --db --format --units --utc --no-color --no-pager --help --version" ;;
        "backup -"*) words="--output --force --db --format --units --utc --no-color --no-pager --help --version" ;;
        "backup "*) words="--output --force --db --format --units --utc --no-color --no-pager --help --version" ;;
        "doctor -"*) words="--db --format --units --utc --no-color --no-pager --help --version" ;;
        "doctor "*) words="--db --format --units --utc --no-color --no-pager --help --version" ;;
        "completion -"*) words="--help --version" ;;
        "completion "*) words="bash zsh fish" ;;
        "help "*) words="status top trend peaks leaks diff summary processes categories events export extract backup doctor completion help" ;;
      esac
      ;;
  esac
  [[ -n $names ]] && words+=" $(_memoir_categories)"
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

complete -F _memoir memoir
