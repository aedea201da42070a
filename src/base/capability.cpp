#include "base/capability.h"

#include <array>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace memoir {
namespace {

struct Sets {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> words{};

  bool read() { return ::syscall(SYS_capget, &header, words.data()) == 0; }
  bool apply() { return ::syscall(SYS_capset, &header, words.data()) == 0; }
  __user_cap_data_struct& word(std::uint32_t number) { return words.at(CAP_TO_INDEX(number)); }
};

}  // namespace

bool Capability::enable(bool effective) const {
  Sets sets;
  if (!sets.read()) return false;
  const std::uint32_t bit = CAP_TO_MASK(number_);
  std::uint32_t& word = sets.word(number_).effective;
  word = effective ? word | bit : word & ~bit;
  return sets.apply();
}

bool Capability::give_up() const {
  Sets sets;
  if (!sets.read()) return false;
  const std::uint32_t others = ~CAP_TO_MASK(number_);
  __user_cap_data_struct& word = sets.word(number_);
  word.effective &= others;
  word.permitted &= others;
  word.inheritable &= others;
  return sets.apply();  // this removes it from the ambient set as well
}

void clear_inheritable_caps() {
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  Sets sets;
  if (!sets.read()) return;
  for (__user_cap_data_struct& word : sets.words) word.inheritable = 0;
  sets.apply();
}

}  // namespace memoir
