# bash completion for memoir(1)

_memoir() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command=status word
  local commands="status top trend peaks diff processes categories events doctor export"
  local range="--from --to --last --day"
  local common="--db --format --units --utc --no-color --help --version"
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ " $commands " == *" $word "* ]]; then
      command=$word
      break
    fi
  done

  local metrics="" groups="" options="" formats="table json csv" subjects=""
  case $command in
    status) options="--limit" ;;
    top)
      options="--at $range --by --group --filter --limit"
      metrics="pss rss uss anon swap hwm growth"
      groups="process command category user cgroup"
      ;;
    trend)
      options="$range --by --step --ascii"
      subjects="machine"
      metrics="used available free cached anon swap shmem slab dirty pss rss uss swap_pss hwm"
      ;;
    peaks)
      options="$range --by --group --filter --limit"
      metrics="hwm pss rss uss swap"
      groups="process category command user cgroup"
      ;;
    diff)
      options="$range --by --group --filter --limit"
      metrics="pss rss uss anon swap swap_pss"
      groups="process identity command category user cgroup"
      ;;
    processes)
      options="--at $range --by --filter --limit"
      metrics="start lifetime hwm"
      ;;
    categories)
      options="--at $range --by --limit"
      metrics="pss rss uss swap"
      ;;
    events) options="$range --kind --limit" ;;
    doctor) ;;
    export)
      options="--at $range --filter --step"
      formats="csv jsonl openmetrics smaps-rollup category-metrics"
      subjects="machine categories processes all"
      ;;
  esac

  local times="now today yesterday monday tuesday wednesday thursday friday saturday sunday"
  case $previous in
    --db) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    --format) options=$formats ;;
    --units) options="kib mib auto" ;;
    --by) options=$metrics ;;
    --group) options=$groups ;;
    --filter)
      options="category= user= pid= comm= exe= command= cgroup="
      compopt -o nospace
      ;;
    --kind) options="clock-step degraded gap lost reload unclean" ;;
    --at|--from|--to|--day) options=$times ;;
    --last) options="10m 1h 2h 1d 7d" ;;
    --step) options="1m 5m 1h 1d" ;;
    --limit) options="0 20 50 100" ;;
    *)
      if [[ $current == -* ]]; then
        options="$options $common"
      elif [[ " ${COMP_WORDS[*]:1:COMP_CWORD-1} " != *" $command "* ]]; then
        options=$commands
      elif [[ $command == diff ]]; then
        options="$times $options"
      elif [[ -n $subjects ]]; then
        options=$subjects
      else
        options="$options $common"
      fi
      ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
}

complete -F _memoir memoir
