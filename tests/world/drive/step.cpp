#include "world/drive/step.h"

#include <map>
#include <sstream>
#include <stdexcept>

namespace memoir::world {
namespace {

PageKind page_kind(const std::string& word) {
  if (word == "anon") return PageKind::anon;
  return word == "shmem" ? PageKind::shmem : PageKind::file;
}

using Change = bool (*)(World&, const Step&, std::int64_t boot_ms);

const std::map<std::string, Change>& changes() {
  static const std::map<std::string, Change> list{
      {"object",
       [](World& w, const Step& s, std::int64_t) { return w.add_object(s.serial(0), page_kind(s.word(1)), s.kib(2)); }},
      {"start",
       [](World& w, const Step& s, std::int64_t boot_ms) {
         return w.start(s.serial(0), s.serial(1), s.word(2), s.kib(3), static_cast<std::uint32_t>(s.number(4)),
                        s.word(5), boot_ms);
       }},
      {"fork", [](World& w, const Step& s, std::int64_t boot_ms) { return w.fork(s.serial(0), s.serial(1), boot_ms); }},
      {"exec", [](World& w, const Step& s, std::int64_t) { return w.exec(s.serial(0), s.word(1), s.kib(2)); }},
      {"exit", [](World& w, const Step& s, std::int64_t) { return w.exit(s.serial(0)); }},
      {"oom", [](World& w, const Step& s, std::int64_t) { return w.kill(s.serial(0)) && w.exit(s.serial(0)); }},
      {"resize", [](World& w, const Step& s, std::int64_t) { return w.resize(s.serial(0), s.kib(1)); }},
      {"write", [](World& w, const Step& s, std::int64_t) { return w.copy_on_write(s.serial(0)); }},
      {"map", [](World& w, const Step& s, std::int64_t) { return w.map(s.serial(0), s.serial(1)); }},
      {"unmap", [](World& w, const Step& s, std::int64_t) { return w.unmap(s.serial(0), s.serial(1)); }},
      {"swap-out", [](World& w, const Step& s, std::int64_t) { return w.swap_out(s.serial(0), s.kib(1)); }},
      {"swap-in", [](World& w, const Step& s, std::int64_t) { return w.swap_in(s.serial(0)); }},
      {"swap-object", [](World& w, const Step& s, std::int64_t) { return w.swap_object(s.serial(0), s.kib(1)); }},
  };
  return list;
}

}  // namespace

Step::Step(const std::string& line) {
  std::istringstream in(line);
  for (std::string word; in >> word;) words_.push_back(word);
  if (words_.empty()) throw std::invalid_argument("a step without a verb");
}

bool apply(World& world, const Step& step, std::int64_t boot_ms) {
  const auto found = changes().find(step.verb());
  return found != changes().end() && found->second(world, step, boot_ms);
}

}  // namespace memoir::world
