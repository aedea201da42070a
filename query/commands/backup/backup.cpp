// memoir backup: copies the whole file, while the recorder continues.

#include "query/copies/copies.h"
#include "query/state/command.h"

namespace memoir::query {

Command backup_command() {
  return {
      .name = "backup",
      .summary = "copy of the whole database, while recording",
      .options = {Option::output, Option::force},
      .examples = {{"memoir extract --all -o memoir-backup.db", "everything recorded so far, in one file"},
                   {"memoir extract --all -o memoir-backup.db --force",
                    "the same every night, replacing the previous copy"}},
      .run =
          [](const Context& context) { return copy_to_output(context.file.path, context.options, "backup", back_up); },
      .full_name = "extract --all"};
}

}  // namespace memoir::query
