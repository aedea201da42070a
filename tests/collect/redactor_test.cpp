#include "collect/redact/redactor.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/version.h"
#include "support/catch.h"

using namespace memoir;

namespace {

struct Case {
  std::vector<std::string> arguments;
  const char* expected;
};

Redactor make(const RedactionOptions& options = {}) {
  auto made = Redactor::make(options);
  if (!made) FAIL(made.error().message);
  return *std::move(made);
}

std::string redact(const Redactor& redactor, const std::vector<std::string>& arguments, std::size_t max = 4096) {
  return redactor.command({arguments.begin(), arguments.end()}, max);
}

std::string joined(const std::vector<std::string>& arguments) {
  std::string out;
  for (const std::string& argument : arguments) {
    if (!out.empty()) out += ' ';
    out += argument;
  }
  return out;
}

std::vector<std::string> lines_of(const std::string& file) {
  std::ifstream in(std::string(MEMOIR_COMMAND_LINES) + "/" + file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.front() != '#') lines.push_back(line);
  }
  REQUIRE(lines.size() > 50);
  return lines;
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words{""};
  for (const char c : line) {
    if (c == ' ') {
      words.emplace_back();
    } else {
      words.back() += c == '~' ? ' ' : c;
    }
  }
  return words;
}

std::string with(std::string_view secret, std::string_view line) {
  std::string text(line);
  for (std::size_t at = text.find("$$"); at != std::string::npos; at = text.find("$$", at + secret.size()))
    text.replace(at, 2, secret);
  return text;
}

// The quotes are removed, because adjacent secrets and the quotes around them may be replaced together.
std::string without_quotes(std::string text) {
  std::erase_if(text, [](char c) { return std::string_view("'\"\\()[]{};").find(c) != std::string_view::npos; });
  const std::string_view two = "redacted redacted";
  for (std::size_t at = text.find(two); at != std::string::npos; at = text.find(two)) text.erase(at, 9);
  return text;
}

}  // namespace

TEST_CASE("every form of a secret argument is redacted") {
  const Redactor redactor = make();
  for (const std::string& line : lines_of("secrets.txt")) {
    const std::string redacted = redact(redactor, words_of(with("s3cr3t-X7", line)));
    CHECK(redacted.find("s3cr3t") == std::string::npos);
    CHECK(redacted.find("X7") == std::string::npos);
    CHECK(without_quotes(redacted) == without_quotes(joined(words_of(with("[redacted]", line)))));
  }
}

TEST_CASE("text that only resembles a secret stays") {
  const Redactor redactor = make();
  for (const std::string& line : lines_of("harmless.txt")) {
    CHECK(redact(redactor, words_of(line)) == joined(words_of(line)));
  }
}

TEST_CASE("command substitution as a value is a secret") {
  const Redactor redactor = make();
  CHECK(redact(redactor, {"app", "--secret", "db-pass", "s3cr3t"}).find("s3cr3t") == std::string::npos);
  for (const char* line :
       {R"_(mysql -p$(echo~$$))_", R"_(sh -c mysql~-p$(echo~$$)~shop)_", R"_(sh -c mysql~--password=$(echo~$$)~shop)_",
        R"_(sh -c mysql~--password="$(echo~$$)"~shop)_", R"_(sh -c PGPASSWORD=$(echo~$$)~psql)_",
        R"_(sh -c PGPASSWORD=`echo~$$`~psql)_"}) {
    const std::string redacted = redact(redactor, words_of(with("s3cr3t", line)));
    CHECK(redacted.find("s3cr3t") == std::string::npos);
  }
}

TEST_CASE("a command line is redacted in the same way inside any other command") {
  // Text before and after the command line, and whether the line is a single argument that quotes inside it would end.
  const struct {
    const char* before;
    const char* after;
    bool quoted;
  } forms[] = {{"sudo -u app ", "", false},
               {"nice -n 5 timeout 60 ", "", false},
               {"docker exec -it web ", "", false},
               {"ssh -p 22 db.example.com ", "", false},
               {"kubectl exec pod -- ", "", false},
               {"sh -c ", "", true},
               {"bash -c cd~/srv~&&~", "", true},
               {"sh -c nohup~", "~>/var/log/x.log~2>&1~&", true},
               {"su - app -c ", "", true},
               {"ssh host ", "~|~tee~log", true},
               {"sh -c for~i~in~1~2;~do~", ";~done", true},
               {"watch -n 5 ", "", true}};
  const Redactor redactor = make();
  // The secret differs for each commit, so that no rule can be written for it.
  const std::string secret = "q" + std::to_string(std::hash<std::string>{}(version_commit())) + "X";
  INFO(secret);
  std::size_t secrets = 0;
  std::size_t leaked = 0;
  std::size_t harmless = 0;
  std::size_t changed = 0;
  for (const auto& form : forms) {
    const auto run = [&](std::string line) {
      if (form.quoted) std::replace(line.begin(), line.end(), ' ', '~');
      return words_of(form.before + line + form.after);
    };
    const auto taken = [&](const std::string& line) {
      return !form.quoted || line.find_first_of("~'\"`<|;&()") == std::string::npos;
    };
    for (const std::string& line : lines_of("secrets.txt")) {
      if (!taken(line)) continue;
      ++secrets;
      if (redact(redactor, run(with(secret, line))).find(secret) == std::string::npos) continue;
      if (++leaked <= 20) UNSCOPED_INFO("leaked: " << form.before << line << form.after);
    }
    for (const std::string& line : lines_of("harmless.txt")) {
      if (!taken(line)) continue;
      ++harmless;
      const std::vector<std::string> arguments = run(line);
      const std::string redacted = redact(redactor, arguments);
      if (redacted == joined(arguments)) continue;
      if (++changed <= 20) UNSCOPED_INFO("changed: " << redacted);
    }
  }
  CHECK(leaked * 50 <= secrets);
  CHECK(changed * 50 <= harmless);
}

TEST_CASE("secrets in the arguments of common programs are redacted") {
  const Redactor redactor = make();
  const std::vector<Case> cases = {
      {{"app", "--password=hunter2"}, "app --password=[redacted]"},
      {{"app", "--password=a&b, c=d"}, "app --password=[redacted]"},
      {{"app", "--password", "hunter2"}, "app --password [redacted]"},
      {{"app", "-password", "hunter2"}, "app -password [redacted]"},
      {{"app", "--db-password", "--token", "t0k"}, "app --db-password --token [redacted]"},
      {{"app", "--password", "--x'y"}, "app --password [redacted]"},
      {{"app", "--token", "abc", "--port", "80"}, "app --token [redacted] --port 80"},
      {{"app", "--api-key=abc"}, "app --api-key=[redacted]"},
      {{"app", "--api-key", "abc"}, "app --api-key [redacted]"},
      {{"app", "--apikey", "abc"}, "app --apikey [redacted]"},
      {{"app", "--aws-secret-access-key", "abc"}, "app --aws-secret-access-key [redacted]"},
      {{"env", "PASSWORD=hunter2", "app"}, "env PASSWORD=[redacted] app"},
      {{"env", "PGPASSWORD=hunter2", "psql"}, "env PGPASSWORD=[redacted] psql"},
      {{"env", "MYSQL_PWD=x y", "mysql"}, "env MYSQL_PWD=[redacted] mysql"},
      {{"docker", "run", "-e", "GITHUB_TOKEN=abc", "nginx"}, "docker run -e GITHUB_TOKEN=[redacted] nginx"},
      {{"docker", "run", "--env=DB_SECRET=abc", "nginx"}, "docker run --env=DB_SECRET=[redacted] nginx"},
      {{"docker", "run", "-eDB_PASS=abc", "nginx"}, "docker run -eDB_PASS=[redacted] nginx"},
      {{"docker", "login", "-u", "me", "-p", "abc"}, "docker login -u me -p [redacted]"},
      {{"mysql", "-uroot", "-phunter2", "shop"}, "mysql -uroot -p[redacted] shop"},
      {{"/usr/bin/mysqldump", "-phunter2", "shop"}, "/usr/bin/mysqldump -p[redacted] shop"},
      {{"sudo", "mariadb-dump", "-phunter2"}, "sudo mariadb-dump -p[redacted]"},
      {{"sshpass", "-p", "hunter2", "ssh", "-p", "22", "h"}, "sshpass -p [redacted] ssh -p [redacted] h"},
      {{"sshpass", "-phunter2", "ssh", "h"}, "sshpass -p[redacted] ssh h"},
      {{"curl", "-u", "me:hunter2", "https://h/"}, "curl -u me:[redacted] https://h/"},
      {{"curl", "-sSume:hunter2", "https://h/"}, "curl -sSume:[redacted] https://h/"},
      {{"curl", "--user", "me:hunter2", "https://h/"}, "curl --user me:[redacted] https://h/"},
      {{"curl", "--user=me:hunter2", "https://h/"}, "curl --user=me:[redacted] https://h/"},
      {{"curl", "-H", "Authorization: Bearer abc.def"}, "curl -H Authorization: Bearer [redacted]"},
      {{"curl", "-H", "Authorization: Basic bWU6aHVudGVyMg=="}, "curl -H Authorization: Basic [redacted]"},
      {{"curl", "-H", "X-Api-Key: abc"}, "curl -H X-Api-Key: [redacted]"},
      {{"curl", "-HX-Auth-Token: abc"}, "curl -HX-Auth-Token: [redacted]"},
      {{"curl", "-H", "Cookie: sid=1; b=2"}, "curl -H Cookie: [redacted]"},
      {{"curl", "-d", R"({"user":"me","password":"a\"b"})"}, R"(curl -d {"user":"me","password":"[redacted]"})"},
      {{"redis-cli", "-h", "cache", "-a", "hunter2"}, "redis-cli -h cache -a [redacted]"},
      {{"redis-server", "--requirepass", "hunter2"}, "redis-server --requirepass [redacted]"},
      {{"app", "postgres://me:hunter2@db:5432/shop"}, "app postgres://me:[redacted]@db:5432/shop"},
      {{"app", "--url=redis://:hunter2@cache/0"}, "app --url=redis://:[redacted]@cache/0"},
      {{"app", "amqp://me:p@ss@mq/"}, "app amqp://me:[redacted]@mq/"},
      {{"app", "postgres://me:pa/ss@db/"}, "app postgres://me:[redacted]@db/"},
      {{"git", "clone", "https://0123456789abcdef01234567@github.com/x"}, "git clone https://[redacted]@github.com/x"},
      {{"git", "clone", "https://0123456789abcdef01234567:x-oauth-basic@github.com/x"},
       "git clone https://[redacted]:[redacted]@github.com/x"},
      {{"java", "-Dspring.datasource.password=x", "-jar", "a.jar"},
       "java -Dspring.datasource.password=[redacted] -jar a.jar"},
      {{"java", "-Djavax.net.ssl.keyStorePassword=x"}, "java -Djavax.net.ssl.keyStorePassword=[redacted]"},
      {{"java", "-Durl=jdbc:mysql://db/shop?user=me&password=x&ssl=1"},
       "java -Durl=jdbc:mysql://db/shop?user=me&password=[redacted]&ssl=1"},
      {{"app", "jdbc:sqlserver://db;user=sa;password=x;encrypt=true"},
       "app jdbc:sqlserver://db;user=sa;password=[redacted];encrypt=true"},
      {{"app", "jdbc:oracle:thin:scott/tiger@db:1521:xe"}, "app jdbc:oracle:thin:scott/[redacted]@db:1521:xe"},
      {{"app", "root:hunter2@tcp(db:3306)/shop"}, "app root:[redacted]@tcp(db:3306)/shop"},
      {{"psql", "host=db password=hunter2 user=me"}, "psql host=db password=[redacted] user=me"},
      {{"psql", "host=db password='hunter 2' user=me"}, "psql host=db password=[redacted] user=me"},
      {{"mount", "-o", "username=me,password=x,vers=3"}, "mount -o username=me,password=[redacted],vers=3"},
      {{"app", "--id", "AKIAIOSFODNN7EXAMPLE"}, "app --id [redacted]"},
      {{"app", "ghp_0123456789abcdefghijABCDEFGHIJ012345"}, "app [redacted]"},
      {{"app", "--jwt=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"}, "app --jwt=[redacted]"},
      {{"app", "--key=9f86d081884c7d659a2feaa0c55ad015"}, "app --key=[redacted]"},
      {{"app", "--signing-key", "9f86d081884c7d659a2feaa0c55ad015"}, "app --signing-key [redacted]"},
      {{"app", "--key", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}, "app --key [redacted]"},
      {{"ldapsearch", "-D", "cn=admin", "-w", "hunter2"}, "ldapsearch -D cn=admin -w [redacted]"},
      {{"smbclient", "-U", "me%hunter2", "//h/s"}, "smbclient -U me%[redacted] //h/s"},
      {{"sqlplus", "scott/tiger@orcl"}, "sqlplus scott/[redacted]@orcl"},
      {{"app", "--http-auth", "me:hunter2"}, "app --http-auth me:[redacted]"},
      {{"kubectl", "create", "--from-literal=password=x"}, "kubectl create --from-literal=password=[redacted]"},
      {{"curl", "-b", "sid=abc; x=1", "https://h/"}, "curl -b [redacted] https://h/"},
      {{"curl", "-sb", "sid=abc", "https://h/"}, "curl -sb [redacted] https://h/"},
      {{"curl", "--cookie=sid=abc", "https://h/"}, "curl --cookie=[redacted] https://h/"},
      {{"curl", "https://hooks.slack.com/services/T0AB/B0CD/x1y2"}, "curl https://hooks.slack.com/services/[redacted]"},
      {{"app", "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"}, "app [redacted]"},
      {{"app", "xoxb-123456789012-abcdefghijkl"}, "app [redacted]"},
      {{"app", "smtp://me@example.org:a@b@mail.example.org"}, "app smtp://me@example.org:[redacted]@mail.example.org"},
      // Process titles and shell scripts: one argument contains a whole command line.
      {{"worker --password hunter2 --port 80"}, "worker --password [redacted] --port 80"},
      {{"mysql -uroot -phunter2 shop"}, "mysql -uroot -p[redacted] shop"},
      {{"curl -H Authorization: Bearer abc https://h/"}, "curl -H Authorization: Bearer [redacted] https://h/"},
      {{"sh", "-c", "PGPASSWORD=hunter2 pg_dump shop"}, "sh -c PGPASSWORD=[redacted] pg_dump shop"},
      {{"bash", "-lc", "mysql -p'hunter 2' shop"}, "bash -lc mysql -p[redacted] shop"},
      {{"ssh", "h", "mysql -phunter2 shop"}, "ssh h mysql -p[redacted] shop"},
      {{"sh", "-c", "(echo hunter2; echo hunter2) | passwd me"}, "sh -c (echo [redacted] | passwd me"},
      {{"git", "clone", "https://abc123def456:x-oauth-basic@github.com/x"},
       "git clone https://[redacted]:[redacted]@github.com/x"},
      {{"curl", "-u", "abc123def456:api_token", "https://h/"}, "curl -u [redacted]:[redacted] https://h/"},
      {{"streamlink", "--http-header=Authorization=OAuth hunter2", "u"},
       "streamlink --http-header=Authorization=[redacted] [redacted] u"},
      {{"rabbitmqctl", "add_user", "me", "-hunter2"}, "rabbitmqctl add_user me [redacted]"},
      {{"curl", "https://chat.example.org/hooks/xqd9w8e7r6t5y4u3i2o1p0a9s8"},
       "curl https://chat.example.org/hooks/[redacted]"},
      {{"sh", "-c", "ssh h \"mysql -phunter2 shop\""}, "sh -c ssh h \"mysql -p[redacted] shop\""},
      {{"sh", "-c", "curl -H \"Authorization: Bearer abc\" h"}, "sh -c curl -H \"Authorization: Bearer [redacted]\" h"},
  };
  for (const Case& c : cases) {
    CAPTURE(joined(c.arguments));
    CHECK(redact(redactor, c.arguments) == c.expected);
  }
}

TEST_CASE("harmless arguments stay as they are") {
  const Redactor redactor = make();
  const std::vector<std::vector<std::string>> cases = {
      {"app", "--password-file=/run/secrets/db"},
      {"app", "--password-file", "/run/secrets/db"},
      {"app", "--token-ttl", "30"},
      {"app", "--token-ttl=30"},
      {"llm", "--max-tokens=4096", "--max-tokens", "12"},
      {"app", "--tokenizer", "bpe"},
      {"app", "--key-size", "2048"},
      {"app", "--key", "/etc/ssl/server.key"},
      {"app", "--private-key=/etc/ssl/private/server.example.com.pem"},
      {"app", "--cache-key-prefix", "prod"},
      {"psql", "--no-password", "shop"},
      {"ansible-playbook", "--ask-become-pass", "site.yml"},
      {"restic", "--password-command", "pass show backup"},
      {"ssh", "-p", "22", "git@github.com"},
      {"mkdir", "-p", "dir"},
      {"docker", "run", "-p", "80:80", "nginx"},
      {"mysql", "-u", "root", "-p", "shop"},
      {"cp", "-a", "from", "to"},
      {"env", "PWD=/srv", "OLDPWD=/", "PATH=/usr/bin", "app"},
      {"env", "SSH_AUTH_SOCK=/tmp/agent", "app"},
      {"app", "http://host:8080/users/@me"},
      {"app", "https://a-rather-long-host-name.example.com:8443/path"},
      {"git", "clone", "ssh://git@github.com/memoir/memoir.git"},
      {"curl", "-o", "file:1", "-H", "User-Agent: me", "https://h/"},
      {"python3", "-m", "http.server", "8000"},
      {"containerd-shim-runc-v2", "-id", "9f86d081884c7d659a2feaa0c55ad0159f86d081884c7d659a2feaa0c55ad015"},
      {"postgres: shop shop 10.0.0.1(5432) idle"},
      {"nginx: master process /usr/sbin/nginx -g daemon on; master_process on;"},
      {"sshd: root@pts/0"},
      {"java", "-Xmx4g", "-Dfoo.password.file=/x", "-jar", "/opt/app.jar"},
      {"app", "--bypass=1", "--compass=north"},
      {"app", "don't", "it's quoted 'badly"},
  };
  for (const auto& arguments : cases) {
    CAPTURE(joined(arguments));
    CHECK(redact(redactor, arguments) == joined(arguments));
  }
}

TEST_CASE("a command line is truncated between characters, with its original length") {
  const Redactor redactor = make();
  CHECK(redact(redactor, {"app", std::string(100, 'x')}, 10) == "app xxxxxx …[cut: 104 bytes]");
  CHECK(redact(redactor, {"a\u00e4b"}, 2) == "a …[cut: 4 bytes]");
  CHECK(redact(redactor, {"0123456789"}, 10) == "0123456789");
  CHECK(redact(redactor, {std::string(131072, 'x')}, 4096).ends_with(" …[cut: 131072 bytes]"));
}

TEST_CASE("a secret across the truncation is redacted first") {
  const Redactor redactor = make();
  const std::string cut = redact(redactor, {"app", "postgres://me:hunter2@db/shop", "--more"}, 20);
  CHECK(cut.find("hunter") == std::string::npos);
}

TEST_CASE("text that redaction shortens is searched no further than other text") {
  const Redactor redactor = make();
  const std::string cut = redact(redactor, std::vector<std::string>(6000, "--password=" + std::string(1000, 'x')));
  CHECK(cut.ends_with(" …[cut: 6071999 bytes]"));
  CHECK(cut.size() < 2000);
  CHECK(cut.find("xx") == std::string::npos);
  // Text across the end of the searched part is dropped, because a secret in it could not be recognised.
  const std::string crossing = redact(redactor, {"--password=" + std::string(4096 + Redactor::kLookAhead - 1000, 'x'),
                                                 "postgres://me:hunter2" + std::string(2000, 'y') + "@db/shop"});
  CHECK(crossing.starts_with("--password=[redacted]"));
  CHECK(crossing.find("hunter") == std::string::npos);
}

TEST_CASE("any bytes become valid text") {
  const Redactor redactor = make();
  CHECK(redact(redactor, {"a\xff", "b\nc"}) == "a\\xff b\nc");
  CHECK(redact(redactor, {"app", "--password=\xff\xfe"}) == "app --password=[redacted]");
  CHECK(redact(redactor, {}).empty());
}

TEST_CASE("hostile arguments take bounded time") {
  const Redactor redactor = make();
  std::string quotes;
  for (int i = 0; i < 20000; ++i) quotes += i % 2 == 0 ? "' \"" : "\" '";
  CHECK_FALSE(redact(redactor, {"sh", "-c", quotes}).empty());
  CHECK_FALSE(redact(redactor, {std::string(131072, '=')}).empty());
  CHECK_FALSE(redact(redactor, std::vector<std::string>(60000, "--password")).empty());
}

// Each word before a bar may be the input of the pipe's last program. So there are as many matches as words, and each
// extends to the end.
TEST_CASE("overlapping matches are followed up to a limit, and the remainder is truncated") {
  const Redactor redactor = make();
  std::vector<std::string> arguments{"echo"};
  for (int i = 0; i < 1000; ++i) arguments.insert(arguments.end(), {"s3cr3t", "|"});
  arguments.insert(arguments.end(), {"su", "-"});
  const std::string redacted = redact(redactor, arguments, 4 * 1024);
  CHECK(redacted.find("s3cr3t") == std::string::npos);
  CHECK(redacted.ends_with(" …[cut: 9009 bytes]"));
  CHECK(redacted.size() < 2 * 1024);
}

TEST_CASE("arguments can be dropped altogether") {
  RedactionOptions options;
  options.drop_arguments = true;
  const Redactor redactor = make(options);
  CHECK(redact(redactor, {"/usr/bin/app", "--secret-thing", "x"}) == "/usr/bin/app");
  CHECK(redact(redactor, {"worker: user me, plan 9"}) == "worker:");
}

TEST_CASE("custom rules add to the built-in ones or replace them") {
  RedactionOptions options;
  options.rules = {{"^--pin=(.*)$", "", false, "", 3}, {"^-q$", "^vault$", true, "", 4}};
  CHECK(redact(make(options), {"app", "--pin=1234", "--token=x"}) == "app --pin=[redacted] --token=[redacted]");
  CHECK(redact(make(options), {"vault", "-q", "abc"}) == "vault -q [redacted]");
  CHECK(redact(make(options), {"app", "-q", "abc"}) == "app -q abc");
  options.defaults = false;
  CHECK(redact(make(options), {"app", "--pin=1234", "--token=x"}) == "app --pin=[redacted] --token=x");
  options.rules = {{"^PIN\\n(.+)$", "", false, "", 5}, {"^--pin=(.*)$", "", false, "=none$", 6}};
  CHECK(redact(make(options), {"app", "PIN", "12 34", "x"}) == "app PIN [redacted] x");
  CHECK(redact(make(options), {"app", "--pin=none", "--pin=1"}) == "app --pin=none --pin=[redacted]");
  options.rules = {{"customer-[0-9]+", "", false, "", 5}};
  CHECK(redact(make(options), {"app", "a,customer-1,customer-22"}) == "app a,[redacted],[redacted]");
}

TEST_CASE("a rule that does not compile is refused with its line") {
  RedactionOptions options;
  options.rules = {{"(", "", false, "", 41}};
  const auto bad = Redactor::make(options);
  REQUIRE_FALSE(bad.ok());
  CHECK(bad.error().kind == ErrorKind::malformed);
  CHECK(bad.error().message.find("line 41") != std::string::npos);
  for (const RedactionRule& rule : {RedactionRule{"x", "[", false, "", 42}, RedactionRule{"x", "", false, "[", 42}}) {
    options.rules = {rule};
    const auto refused = Redactor::make(options);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().message.find("line 42") != std::string::npos);
  }
}
