// memoir backup: all of the file, while it is recorded into.

#include "query/copies/copies.h"
#include "query/state/command.h"

namespace memoir::query {

Command backup_command() {
  return {.name = "backup",
          .summary = "a copy of the whole file, made while it is recorded into; whole or not at all",
          .options = {Option::output, Option::force},
          .examples = {{"memoir backup -o memoir-backup.db", "all that is recorded until now, in one file"},
                       {"memoir backup -o memoir-backup.db --force", "the same every night, over the one before"}},
          .run = [](const Context& context) {
            return copy_to_output(context.file.path, context.options, "backup", back_up);
          }};
}

}  // namespace memoir::query
