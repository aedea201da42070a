// The built-in redaction rules: the ways in which servers' command lines carry secrets.

#include <string>

#include "collect/redactor.h"

namespace memoir {
namespace {

// Words that a secret follows, as the last part of a name: `--db-password=`, `GITHUB_TOKEN=`,
// `-Dssl.keyStorePassword=`.
// `--password-file=`, `--token-ttl` and `--max-tokens` end otherwise and are left alone, as are PWD and `--bypass`.
constexpr const char* kSecretWord =
    "(?:password|passwd|passphrase|passcode|passwort|requirepass|masterauth|secret|token|psk|credential"
    "|(?:api|access|secret|account|auth|encryption|master|license)[_.-]?key"
    "|[a-z0-9][_-]pwd|\\bpass|(?:db|sql|user|root|admin|store|_|http|proxy|ftp|smtp|ldap)pass)";

constexpr const char* kMysql =
    "^(?:mysql|mysql(?:dump|admin|import|show|check|binlog|slap|pump|sh|_upgrade)|"
    "mariadb(?:-[a-z-]+)?|mariabackup|xtrabackup|innobackupex|mytop|pt-[a-z-]+)$";

std::string secret(const char* before, const char* after) {
  return std::string("(?i)") + before + kSecretWord + after;
}

// The pattern's group is the secret.
RedactionRule within(std::string pattern, std::string program = {}) {
  return {std::move(pattern), std::move(program), false, 0};
}

// The word after the one that matches is the secret.
RedactionRule next(std::string pattern, std::string program = {}) {
  return {std::move(pattern), std::move(program), true, 0};
}

// Options and assignments that name what they hold.
void add_named(std::vector<RedactionRule>& rules) {
  // The whole rest of the argument: a password may hold any character.
  rules.push_back(within(secret("(?s)^(?:--?[\\w.-]+=)?-{0,2}[\\w.-]*", "=(.+)$")));
  // Inside a longer text: query strings, JDBC and libpq connection strings, mount options.
  rules.push_back(within(secret("[?&;,\\s\"'=:{(][\\w.-]*", "\\s?=\\s?(\"[^\"]*\"|'[^']*'|[^\\s&;,'\"]+)")));
  rules.push_back(within(secret("\"[\\w.-]*", "\"\\s*:\\s*\"((?:[^\"\\\\]|\\\\.)*)\"")));
  rules.push_back(within(secret("(?s)^(?:-H)?[\\w-]*", ":\\s*(.+)$")));
  rules.push_back(next(secret("^--?[\\w.-]*", "$")));
  rules.push_back(next(secret("^[\\w-]*", ":$")));
}

void add_headers(std::vector<RedactionRule>& rules) {
  rules.push_back(within(R"((?is)\bauthorization\s*[:=]\s*(?:[a-z]+\s+)?(\S.*)$)"));
  rules.push_back(within(R"((?i)\bbearer\s+([\w.~+/=-]{16,}))"));
  rules.push_back(within(R"((?is)^(?:-H)?(?:set-)?cookie:\s*(.+)$)"));
  rules.push_back(next(R"((?i)^(?:-H)?(?:proxy-)?authorization:$)"));
  rules.push_back(next(R"(^(?:Bearer|Basic|Digest|Negotiate)$)"));
}

void add_urls(std::vector<RedactionRule>& rules) {
  rules.push_back(within(R"(://[^/\s:@'"]*:([^/\s'"]+)@)"));
  // A password with a bare slash in it; what begins like a port and its path is none.
  rules.push_back(within(R"(://[^/\s:@'"]+:([0-9]*[^0-9/\s@'"][^\s'"]*)@)"));
  // A token in the place of the user.
  rules.push_back(within(R"(://([^/\s:@'"]{20,})(?::[^/\s@'"]*)?@)"));
  rules.push_back(within(R"((?i)jdbc:oracle:\w+:[^/\s@]*/([^@\s]+)@)"));
  // The data source names of Go's MySQL driver.
  rules.push_back(within(R"([\w.-]+:([^\s@'"]+)@(?:tcp|unix)\()"));
}

// What is a secret by its own shape.
void add_shapes(std::vector<RedactionRule>& rules) {
  rules.push_back(within(R"(\b((?:AKIA|ASIA|AIDA|AROA|ABIA|ACCA)[A-Z0-9]{16})\b)"));
  rules.push_back(within(R"(\b(eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?))"));  // JSON Web Token
  rules.push_back(
      within(R"(\b((?:gh[pousr]_|github_pat_|glpat-|npm_|hvs\.|xox[abeoprs]-|[rs]k_live_|AIza)[\w-]{16,}))"));
  rules.push_back(within(R"(\b(sk-[\w-]{20,}))"));
  rules.push_back(within(R"((?s)-----BEGIN [A-Z ]*PRIVATE KEY-----(.*))"));
  // Long hexadecimal or base64 text after a word that smells of keys.
  rules.push_back(within(
      R"((?i)(?:key|auth|cred|credentials|sig|signature|salt|seed|cookie|session|jwt|license|pw)["']?[=: ]\s*["']?)"
      R"(((?:[0-9a-f]{32,}|[a-z0-9+][a-z0-9+/]{31,}={0,2}))(?:[\s&;,'"]|$))"));
}

// Short options that hold a secret in one program and something harmless in others.
void add_programs(std::vector<RedactionRule>& rules) {
  rules.push_back(within("(?s)^-p(.+)$", kMysql));
  rules.push_back(within("(?s)^-p(.+)$", "^(?:sshpass|mydumper|myloader|7z[arz]?|rar|unrar|mongo[a-z]*)$"));
  rules.push_back(next("^-p$", "^(?:sshpass|mydumper|myloader|mongo[a-z]*|login)$"));
  rules.push_back(within(R"((?s)^(?:-[sSLkfvigGIN#0-9]*[uU]|--user|--proxy-user)[= ]?[^:\s]*:(.+)$)", "^curl$"));
  rules.push_back(within(R"((?s)^--?(?:[\w-]*-)?auth[= ][^:\s/]+:([^/].*)$)"));
  rules.push_back(next("^-a$", "^(?:redis|valkey|keydb)-(?:cli|benchmark)$"));
  rules.push_back(within("(?s)^-[wW](.+)$", "^ldap[a-z]+$"));
  rules.push_back(next("^-w$", "^ldap[a-z]+$"));
  rules.push_back(next("^-P$", "^(?:ipmitool|sqlcmd|bcp|isql|tsql|zip|unzip)$"));
  rules.push_back(within("(?s)^-P(.+)$", "^(?:sqlcmd|bcp|isql|tsql|unzip)$"));
  rules.push_back(next("^-[AXc]$", "^snmp[a-z]+$"));
  rules.push_back(within(R"((?s)^(?:-U|--user)[= ]?[^%\s]*%(.+)$)", "^(?:smbclient|rpcclient|net|smbget)$"));
  rules.push_back(within("(?s)^[^/\\s]+/([^@\\s]+)(?:@.*)?$", "^(?:sqlplus|rman|expdp|impdp|sqlldr)$"));
  rules.push_back(within("(?s)^pass:(.+)$", "^openssl$"));
  rules.push_back(within("(?s)^/p:(.+)$", "^(?:x|wl)?freerdp[0-9]?$"));
}

}  // namespace

std::vector<RedactionRule> default_redaction_rules() {
  std::vector<RedactionRule> rules;
  add_named(rules);
  add_headers(rules);
  add_urls(rules);
  add_shapes(rules);
  add_programs(rules);
  return rules;
}

}  // namespace memoir
