#include "query/args/meant.h"

#include <algorithm>
#include <array>

namespace memoir::query {
namespace {

struct Meant {
  std::string_view word;
  std::string_view means;
};

// SUBJECT is replaced by the first argument, if there is one.
constexpr std::array kCommands{
    Meant{"ps", "memoir processes"},
    Meant{"pidstat", "memoir trend SUBJECT"},
    Meant{"pgrep", "memoir processes SUBJECT"},
    Meant{"grep", "memoir processes SUBJECT"},
    Meant{"free", "memoir memory"},
    Meant{"meminfo", "memoir memory"},
    Meant{"vmstat", "memoir trend machine; memoir watch memory"},
    Meant{"sar", "memoir trend machine"},
    Meant{"graph", "memoir trend SUBJECT"},
    Meant{"plot", "memoir trend SUBJECT"},
    Meant{"chart", "memoir trend SUBJECT"},
    Meant{"history", "memoir trend SUBJECT"},
    Meant{"smem", "memoir top SUBJECT"},
    Meant{"htop", "memoir top SUBJECT; memoir watch top"},
    Meant{"atop", "memoir top SUBJECT; memoir watch top"},
    Meant{"live", "memoir watch top"},
    Meant{"monitor", "memoir watch top"},
    Meant{"follow", "memoir watch events"},
    Meant{"tail", "memoir watch events"},
    Meant{"list", "memoir processes SUBJECT"},
    Meant{"ls", "memoir processes SUBJECT"},
    Meant{"show", "memoir process SUBJECT"},
    Meant{"pid", "memoir process SUBJECT"},
    Meant{"inspect", "memoir process SUBJECT"},
    Meant{"pstree", "memoir tree SUBJECT"},
    Meant{"pmap", "memoir mappings SUBJECT"},
    Meant{"smaps", "memoir mappings SUBJECT"},
    Meant{"ipcs", "memoir memory shm"},
    Meant{"df", "memoir memory tmpfs"},
    Meant{"containers", "memoir top --group container"},
    Meant{"docker", "memoir top --group container"},
    Meant{"services", "memoir top --group unit"},
    Meant{"units", "memoir top --group unit"},
    Meant{"users", "memoir top --group user"},
    Meant{"who", "memoir top --group user"},
    Meant{"cgtop", "memoir cgroups"},
    Meant{"slabtop", "memoir memory"},
    Meant{"swap", "memoir top --by swap"},
    Meant{"oom", "memoir incident --last-oom"},
    Meant{"kills", "memoir events --kind oom"},
    Meant{"dmesg", "memoir events"},
    Meant{"log", "memoir events"},
    Meant{"logs", "memoir events"},
    Meant{"journal", "memoir events"},
    Meant{"blame", "memoir incident; memoir top --last 1h --by growth"},
    Meant{"why", "memoir incident"},
    Meant{"report", "memoir summary"},
    Meant{"daily", "memoir summary"},
    Meant{"day", "memoir summary --day SUBJECT"},
    Meant{"compare", "memoir diff T1 T2"},
    Meant{"leak", "memoir leaks SUBJECT"},
    Meant{"max", "memoir peaks SUBJECT"},
    Meant{"dump", "memoir export"},
    Meant{"save", "memoir extract RANGE -o F"},
    Meant{"check", "memoir doctor"},
    Meant{"verify", "memoir doctor"},
    Meant{"info", "memoir status"},
    Meant{"version", "memoir --version"},
    Meant{"ls-files", "memoir processes SUBJECT"},
    Meant{"find", "memoir processes SUBJECT"},
    Meant{"search", "memoir processes SUBJECT"},
    Meant{"proc", "memoir process SUBJECT"},
    Meant{"reflog", "memoir events"},
    Meant{"config", "memoir doctor (memoir.toml(5) describes the configuration)"},
    Meant{"settings", "memoir doctor (memoir.toml(5) describes the configuration)"},
    Meant{"branch", "memoir extract RANGE -o F (a part of the recording)"},
    Meant{"stash", "memoir extract RANGE -o F"},
    Meant{"archive", "memoir extract RANGE -o F"},
    Meant{"clone", "memoir backup -o F"},
    Meant{"fsck", "memoir doctor"},
    Meant{"bisect", "memoir diff T1 T2"},
    Meant{"alerts", "memoir events --kind alert"},
    Meant{"shortlog", "memoir summary"},
    Meant{"kill", "memoir events --kind oom-kill"},
    Meant{"killed", "memoir events --kind oom-kill"},
    Meant{"errors", "memoir events"},
    Meant{"restarts", "memoir events --kind restart"},
    Meant{"pressure", "memoir trend machine --by pressure"},
    Meant{"psi", "memoir trend machine --by pressure"},
    Meant{"limits", "memoir cgroups --by limit"},
    Meant{"cache", "memoir memory"},
    Meant{"gaps", "memoir status"},
    Meant{"last", "memoir incident"},
    Meant{"cat", "memoir process SUBJECT"},
    Meant{"init", "memoird, which records"},
    Meant{"record", "memoird, which records"},
    Meant{"start", "memoird, which records"},
    Meant{"cpu", "memoir top (only memory is recorded)"},
    Meant{"load", "memoir trend machine --by pressure (only memory is recorded)"},
    Meant{"disk", "memoir memory tmpfs (only memory is recorded)"},
    Meant{"io", "memoir top (only memory is recorded)"},
    Meant{"net", "memoir top (only memory is recorded)"},
};

constexpr std::array kOptions{
    Meant{"-s", "--from T (start), --by METRIC (sort order)"},
    Meant{"-b", "--from T (start); answers are plain text in a pipe"},
    Meant{"-e", "--to T"},
    Meant{"-r", "--db F (another file), memoir memory (as sar -r)"},
    Meant{"-f", "--db F (another file), memoir watch COMMAND (follows)"},
    Meant{"--file", "--db F"},
    Meant{"--follow", "memoir watch COMMAND"},
    Meant{"--output", "--by METRIC (sort order), --format csv"},
    Meant{"-m", "memoir trend machine, --by METRIC, --units mib"},
    Meant{"-d", "--day D, memoir watch COMMAND (repeats)"},
    Meant{"--delay", "memoir watch COMMAND"},
    Meant{"--date", "--day D"},
    Meant{"-t", "--at T"},
    Meant{"--time", "--at T"},
    Meant{"-c", "--filter command~REGEX, --group command"},
    Meant{"-C", "--filter comm=NAME"},
    Meant{"--name", "--filter comm=NAME"},
    Meant{"--process", "--filter comm=NAME"},
    Meant{"--grep", "--filter command~REGEX"},
    Meant{"--interval", "--step S"},
    Meant{"-i", "--step S"},
    Meant{"-l", "--limit N"},
    Meant{"--top", "--limit N"},
    Meant{"--lines", "--limit N"},
    Meant{"--head", "--limit N"},
    Meant{"-a", "--limit 0 (all rows)"},
    Meant{"-A", "--limit 0 (all rows)"},
    Meant{"-x", "--format json (all fields)"},
    Meant{"--metric", "--by METRIC"},
    Meant{"--key", "--by METRIC"},
    Meant{"-k", "--by METRIC; for OOM kills memoir events --kind oom"},
    Meant{"--reverse", "--by METRIC (the largest is first)"},
    Meant{"-g", "--group G"},
    Meant{"--group-by", "--group G"},
    Meant{"--duration", "--last DURATION"},
    Meant{"--ago", "--last DURATION"},
    Meant{"-M", "--units mib"},
    Meant{"--mb", "--units mib"},
    Meant{"-q", "--no-pager"},
    Meant{"--tree", "memoir tree"},
    Meant{"--forest", "memoir tree"},
    Meant{"-H", "memoir tree (threads are not recorded)"},
    Meant{"--oom", "memoir incident --last-oom"},
    Meant{"--priority", "--kind KIND"},
    Meant{"--level", "--kind KIND"},
    Meant{"--list", "memoir --help"},
    Meant{"--graph", "memoir trend SUBJECT, which has a chart"},
    Meant{"-S", "--from T; memoir trend machine --by swap (as sar -S)"},
    Meant{"-W", "memoir trend machine --by swap"},
    Meant{"-B", "memoir memory"},
    Meant{"-P", "memoir memory, memoir trend machine"},
    Meant{"-L", "--limit N"},
    Meant{"--all", "--limit 0 (all rows)"},
    Meant{"--author", "--user NAME"},
    Meant{"--sort-key", "--by METRIC"},
    Meant{"--short", "--limit N, --columns LIST"},
    Meant{"--oneline", "--limit N, --columns LIST"},
    Meant{"--stat", "--limit N (the largest changes are first)"},
    Meant{"--filter", "a SUBJECT (user:NAME, PID, unit:NAME)"},
};

constexpr std::array kChoices{
    Meant{"service", "unit"},     Meant{"services", "unit"},   Meant{"program", "comm"},
    Meant{"name", "comm"},        Meant{"pid", "process"},     Meant{"processes", "process"},
    Meant{"uid", "user"},         Meant{"users", "user"},      Meant{"containers", "container"},
    Meant{"docker", "container"}, Meant{"cmd", "command"},     Meant{"mem", "pss"},
    Meant{"memory", "pss"},       Meant{"res", "rss"},         Meant{"%mem", "pss"},
    Meant{"resident", "rss"},     Meant{"anonymous", "anon"},  Meant{"peak", "hwm"},
    Meant{"md", "markdown"},      Meant{"text", "table"},      Meant{"kb", "kib"},
    Meant{"mb", "mib"},           Meant{"gb", "gib"},          Meant{"yes", "always"},
    Meant{"no", "never"},         Meant{"oom", "oom-kill"},    Meant{"oomkill", "oom-kill"},
    Meant{"kill", "oom-kill"},    Meant{"earlyoom", "killer"}, Meant{"swap", "swap-full"},
    Meant{"tmpfs", "tmpfs-full"}, Meant{"psi", "pressure"},
};

template <typename Words>
std::optional<std::string_view> find(const Words& words, std::string_view word) {
  for (const Meant& meant : words) {
    if (meant.word == word) return meant.means;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string_view> command_meant(std::string_view word) {
  return find(kCommands, word);
}

std::optional<std::string_view> option_meant(std::string_view name) {
  return find(kOptions, name);
}

std::string_view subject_hint(std::string_view word) {
  constexpr std::array machine{"memory", "mem", "system", "host", "total", "all"};
  if (std::ranges::find(machine, word) != machine.end()) return "; the subject of all memory is 'machine'";
  // Git's names of commits.
  if (word.starts_with("HEAD") || word.starts_with("@~") || word.starts_with("@{"))
    return "; a time is -1h, yesterday or '2026-11-20 03:14', and memoir incidents lists what happened";
  const bool is_count = word.size() > 1 && word.find_first_not_of("0123456789", 1) == std::string_view::npos;
  return word.starts_with('-') && is_count ? "; for a number of rows use --limit N, for a time -1h" : "";
}

std::optional<std::string_view> choice_meant(std::string_view word) {
  return find(kChoices, word);
}

}  // namespace memoir::query
