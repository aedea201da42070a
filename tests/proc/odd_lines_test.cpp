// Puts every odd form of every line into every captured text. Only the value of that line becomes unknown, and the line
// is counted.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/text.h"
#include "proc/cgroup_memory.h"
#include "proc/meminfo.h"
#include "proc/pressure.h"
#include "proc/smaps.h"
#include "proc/smaps_rollup.h"
#include "proc/status.h"
#include "proc/vmstat.h"
#include "support/catch.h"
#include "support/fixture.h"
#include "support/trials.h"

using namespace memoir;

namespace {

// Tries only every step-th form of a line and length of a text, unless all trials are requested.
const std::size_t step = test::all_trials() ? 1 : 3;

// The values of a text by name, except unknown ones.
using Values = std::map<std::string, std::string>;

template <typename T>
void put(Values& values, const std::string& name, const std::optional<T>& value) {
  if (!value) return;
  if constexpr (std::is_integral_v<T>) {
    values[name] = std::to_string(*value);
  } else {
    values[name] = std::string(*value);
  }
}

template <typename E>
void put(Values& values, const std::string& prefix, const FieldSet<E>& fields) {
  for (std::size_t i = 0; i < FieldSet<E>::kCount; ++i)
    put(values, prefix + std::to_string(i), fields.get(static_cast<E>(i)));
}

Values read_machine(std::string_view text, OddLines* odd,
                    Status (*parse)(std::string_view, MachineMemory&, OddLines*)) {
  MachineMemory memory;
  Values values;
  if (parse(text, memory, odd)) put(values, "", memory);
  return values;
}

Values read_meminfo(std::string_view text, OddLines* odd) {
  MachineSample sample;
  Values values;
  if (!parse_meminfo(text, sample, odd)) return values;
  put(values, "", sample.memory);
  for (const OtherMeminfo& other : sample.other) values[other.key] = std::to_string(other.value);
  return values;
}

Values read_status(std::string_view text, OddLines* odd) {
  ProcessMemory memory;
  const auto head = parse_status(text, memory, odd);
  Values values;
  if (!head) return values;
  put(values, "", memory);
  put(values, "name", head->name);
  put(values, "state", head->state);
  put(values, "parent", head->parent_pid);
  put(values, "uid", head->uid);
  put(values, "threads", head->threads);
  put(values, "kernel thread", head->kernel_thread);
  return values;
}

Values read_rollup(std::string_view text, OddLines* odd) {
  ProcessMemory memory;
  Values values;
  if (parse_smaps_rollup(text, memory, odd)) put(values, "", memory);
  return values;
}

Values read_smaps(std::string_view text, OddLines* odd) {
  Values values;
  SmapsParser parser(
      [&](const SmapsRegion& region) {
        const std::string at = std::to_string(region.start) + ' ';
        values[at] = region.path;
        put(values, at, region.memory);
      },
      odd);
  if (!parser.add(text) || !parser.finish()) return {};
  return values;
}

Values read_cgroup_stat(std::string_view text, OddLines* odd) {
  const auto stat = parse_cgroup_stat(text, odd);
  Values values;
  if (!stat) return values;
  put(values, "anon", stat->anon);
  put(values, "file", stat->file);
  put(values, "shmem", stat->shmem);
  put(values, "kernel", stat->kernel);
  put(values, "swap", stat->swap);
  return values;
}

Values read_cgroup_events(std::string_view text, OddLines* odd) {
  const auto events = parse_cgroup_events(text, odd);
  Values values;
  if (!events) return values;
  put(values, "low", events->low);
  put(values, "high", events->high);
  put(values, "max", events->max);
  put(values, "oom", events->oom);
  put(values, "oom_kill", events->oom_kill);
  return values;
}

struct File {
  const char* name;
  std::string separator;
  std::function<Values(std::string_view, OddLines*)> read;
};

const std::vector<File>& files() {
  static const std::vector<File> all{
      {"meminfo", ":", read_meminfo},
      {"vmstat", " ", [](std::string_view text, OddLines* odd) { return read_machine(text, odd, parse_vmstat); }},
      {"pressure-memory", " ",
       [](std::string_view text, OddLines* odd) { return read_machine(text, odd, parse_pressure); }},
      {"status", ":", read_status},
      {"smaps_rollup", ":", read_rollup},
      {"smaps", ":", read_smaps},
      {"memory.stat", " ", read_cgroup_stat},
      {"memory.events", " ", read_cgroup_events},
  };
  return all;
}

// Returns the names whose values differ or that only one of the two has.
std::vector<std::string> differing(const Values& a, const Values& b) {
  std::vector<std::string> names;
  for (const auto& [name, value] : a)
    if (const auto found = b.find(name); found == b.end() || found->second != value) names.push_back(name);
  for (const auto& [name, value] : b)
    if (!a.contains(name)) names.push_back(name);
  return names;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) lines.emplace_back(std::string(cut_line(text)) + '\n');
  return lines;
}

std::string text_of(std::vector<std::string> lines, std::size_t place, const std::string& line) {
  lines[place] = line;
  std::string text;
  for (const std::string& each : lines) text += each;
  return text;
}

std::vector<std::string> odd_forms(const std::string& line, const std::string& separator) {
  const std::string key = line.substr(0, line.find(separator)) + separator;
  std::vector<std::string> forms;
  for (const std::string& value :
       {std::string("\t18446744073709551615 kB"), std::string("\t-4 kB"), std::string(), std::string("\t"),
        std::string("\t99999999999999999999999999 kB"), std::string("\t12 pages"), std::string("\t\0 kB", 5),
        std::string("\t1 2 kB"), std::string("\t0x10 kB")})
    forms.push_back(key + value + '\n');
  return forms;
}

}  // namespace

TEST_CASE("odd lines: each line of each captured text, in each odd form, costs only its own value") {
  std::size_t tried = 0;
  for (const File& file : files()) {
    for (const std::string& name : test::fixtures(file.name)) {
      INFO(name);
      const std::string whole = test::fixture(name);
      const std::vector<std::string> lines = lines_of(whole);
      OddLines none;
      const Values base = file.read(whole, &none);
      CHECK(none.count() == 0);
      for (std::size_t i = 0; i < std::min<std::size_t>(lines.size(), 400); ++i) {
        const std::vector<std::string> own = differing(base, file.read(text_of(lines, i, ""), nullptr));
        std::vector<std::string> forms = odd_forms(lines[i], file.separator);
        if (!own.empty()) forms.push_back(lines[i] + lines[i]);
        // A region's first line, a name and a line of several values have other odd forms.
        if (std::string(file.name) == "smaps" && lines[i].front() >= '0' && lines[i].front() <= 'z') continue;
        if (std::string(file.name) == "pressure-memory" || lines[i].starts_with("Name:")) continue;
        for (std::size_t j = i % step; j < forms.size(); j += step) {
          const std::string& form = forms[j];
          OddLines odd;
          const Values now = file.read(text_of(lines, i, form), &odd);
          const std::vector<std::string> changed = differing(base, now);
          // Another line may replace a missing value, but not an odd one.
          const bool is_stat = std::string_view(file.name) == "memory.stat";
          const bool only_own = std::ranges::includes(own, changed) || (is_stat && changed.size() == 1);
          const bool unknown = std::ranges::none_of(changed, [&](const auto& of) { return now.contains(of); });
          if (!only_own || !unknown || (!own.empty() && odd.count() == 0))
            FAIL_CHECK("the line " << form << " costs " << changed.size() << " values, not " << own.size() << "; "
                                   << odd.count() << " counted");
          ++tried;
        }
      }
    }
  }
  CHECK(tried > (test::all_trials() ? 10'000 : 3'000));
}

TEST_CASE("odd lines: a text truncated anywhere lacks only the part after it") {
  for (const File& file : files()) {
    if (std::string(file.name) == "smaps") continue;  // the regions of a truncated text cannot be added up
    for (const std::string& name : test::fixtures(file.name)) {
      INFO(name);
      const std::string whole = test::fixture(name);
      const Values base = file.read(whole, nullptr);
      for (std::size_t size = 1; size < std::min<std::size_t>(whole.size(), 3000); size += step) {
        for (const auto& [field, value] : file.read(std::string_view(whole).substr(0, size), nullptr)) {
          const auto of_whole = base.find(field);
          const bool is_sum = name.find("memory.stat") != std::string::npos;
          if (!is_sum && (of_whole == base.end() || of_whole->second != value))
            FAIL_CHECK("another value after truncation at " << size << " bytes");
        }
      }
    }
  }
}

TEST_CASE("odd lines: an odd pair in a line of pressure affects no other pair") {
  MachineMemory memory;
  OddLines odd;
  REQUIRE(parse_pressure("some avg10=0,00 avg60=0.05 avg300=-1.00 total=9223372036854775808\n"
                         "full avg10=0.01 avg10=0.02 avg60=.00 total=7\nfull total=12",
                         memory, &odd)
              .ok());
  CHECK(memory.get(MachineField::psi_some_avg60) == 5);
  for (const MachineField field :
       {MachineField::psi_some_avg10, MachineField::psi_some_avg300, MachineField::psi_some_total,
        MachineField::psi_full_avg10, MachineField::psi_full_avg60})
    CHECK_FALSE(memory.has(field));
  CHECK_FALSE(memory.has(MachineField::psi_full_total));  // the line contains it twice
  CHECK(odd.count() == 6);
}

TEST_CASE("odd lines: kinds are few, printable and truncated, and all are counted") {
  OddLines odd;
  for (int i = 0; i < 100; ++i)
    odd.note("meminfo", "Key\x1b" + std::to_string(i % 20), "\x1b[31m" + std::string(500, 'x'));
  odd.note_problem("status", "Uid", "has no Uid");
  CHECK(odd.count() == 101);
  REQUIRE(odd.kinds().size() == OddLines::kMaxKinds);
  CHECK(odd.kinds().front().key == "Key\\x1b0");
  CHECK(odd.kinds().front().count == 5);
  CHECK(odd.kinds().front().problem.size() < 120);
  CHECK(odd.kinds().front().problem.starts_with("cannot understand \"\\x1b[31mxxx"));
  OddLines sum;
  sum.note(malformed("smaps: none of its lines is known"));
  sum.add(odd);
  CHECK(sum.count() == 102);
  CHECK(sum.kinds().size() == OddLines::kMaxKinds);
  CHECK(sum.kinds().front() == OddLine{"smaps", "", "none of its lines is known", 1});
}
