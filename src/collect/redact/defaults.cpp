// The built-in redaction rules, for common forms of secrets in the command lines of servers. memoir.toml(5) describes
// how a rule is applied. In this file a blank in a pattern means the end of an argument. <secret>, <keys>, <path> and
// <scheme> are replaced by the patterns below.

#include <string>
#include <utility>
#include <vector>

#include "collect/redact/redactor.h"

namespace memoir {
namespace {

struct Row {
  const char* program;  // pattern on the program's name; empty: any program
  bool next;
  const char* pattern;
  const char* unless = "";
};

constexpr bool kGroup = false;
constexpr bool kNext = true;

// Words that mark a secret as the last part of a name: `--db-password=`, `GITHUB_TOKEN=`, `--password2=`. They do not
// match `--password-file=`, `--token-ttl` and `--max-tokens`, which end differently, nor PWD and `--bypass`.
constexpr const char* kSecret =
    "(?:password|passwd|passphrase|passcode|passwort|requirepass|masterauth|secret|token|psk|credential|oauth2-bearer"
    "|(?:api|access|secret|account|auth|encryption|master|license|subscription|application|shared|storage|setup|psk"
    "|registration|activation)[_.-]?key"
    "|secret[_-]string|(?:root|admin)pw|(?:\\b|_)[th]?otp|(?:mfa|token)[_-]code|[a-z0-9](?:[_-]pwd?|\\.pwd)|\\bpass|-"
    "Dpass"
    "|(?:db|sql|user|root|admin|store|_|http|proxy|ftp|smtp|smb|rpc|ssh|ldap|key|become|vault|bind|login|cert|remote"
    ")pass)[0-9]?";

// Names of keys and key files. Their value is a secret unless it is a path.
constexpr const char* kKeys =
    "(?:private[_.-]?key|credentials|(?:signing|ssh|tls|hmac|deploy|session|certificate)[_.-]key|(?:\\b|_)jwt)";
constexpr const char* kPath =
    "[=\\n](?:~|\\.{1,2})?/?[\\w.@-]*(?:/[\\w.@-]+)+/?$|\\.(?:pem|key|crt|json|ya?ml|p12|jks|txt)$";

constexpr const char* kScheme =
    "(?:(?:bearer|basic|digest|negotiate|[\\w-]*token|api-?key|bot|key|ntlm|oauth|geniekey|ssws|splunk)\\s+)?";

#define MEMOIR_MYSQL                                                                    \
  "^(?:mysql|mysql(?:dump|admin|import|show|check|binlog|slap|pump|sh|_upgrade)|mycli|" \
  "mariadb(?:-[a-z-]+)?|mariabackup|xtrabackup|innobackupex|mytop|pt-[a-z-]+)$"

constexpr Row kRows[] = {
    // The pattern takes the whole remainder of the argument, because a password may contain any character.
    {"", kGroup, R"((?i)^(?:(?:--?[\w.-]+=)?-{0,2}[\w.-]*<secret>=|/[\w-]*<secret>:)(.+)$)",
     "^/.*?:/|(?i)pass=[0-9]{1,3}$|existing[_-]?secret="},
    {"", kGroup, R"((?i)^(?:--?[\w.-]+=)?-{0,2}[\w.-]*<keys>=(.+)$)", "<path>|=(?:true|false|yes|no)$"},
    {"", kNext, R"((?i)^(?:--?|\+)[\w.-]*<secret>$)",
     "^(?i)--(?:no|ask|prompt|require|show|allow|skip|disable|enable)-|\\nid=[\\w.-]+(?:,|$)"
     "|(?i)^--?pass\\n(?:[0-9]|stdin)$|existing[_-]?secret\\n|--auth-user-pass\\n"},
    // `--secret NAME VALUE`
    {"", kGroup, R"(^--secret [A-Za-z]+(?:[_-][A-Za-z]+)+ ([^-\n].*)$)"},
    {"", kNext, R"((?i)^--?[\w.-]*<keys>$)", "<path>"},
    {"", kNext, R"((?i)^(?:--?[a-z]{0,2}pwd?|-hashes)$)"},
    {"", kGroup, R"((?i)^(?:--?[a-z]{0,2}pwd?|pw)=(.+)$)"},
    {"", kGroup, R"(^pwd=([^/\n].*)$)"},
    {"", kGroup, R"((?i)^(?:-H|--header=)?[\w-]*(?:<secret>|x-auth|authentication):\s*(.+)$)"},
    {"", kNext, R"((?i)^(?:-H)?[\w]+-[\w-]*<secret>:$)"},
    {"^(?:echo|printf)$", kNext, R"((?i)^[\w-]*<secret>:$)"},
    // Environment variables.
    {"", kGroup,
     R"(^(?:-e|-D|--?[\w-]+=)?[A-Z0-9_]*_(?:KEY|KEY_BASE64|SALT|PW|PWD|PASS|AUTH|CREDS?|SK|PAT|PIN|SEED|MNEMONIC)=(.+?);?$)",
     "(?:PUBLIC|PRIMARY|FOREIGN|PARTITION|SORT|CACHE|GROUP|ORDER|ROUTING|INDEX|UNIQUE|SHARD|REGISTRY|HOT|HOST)_KEY="
     "|=(?:true|false|yes|no|on|off|[0-9]{1,4})$|_SEED=[0-9]+$|<path>"
     "|_AUTH=(?:none|basic|digest|ntlm|negotiate|kerberos|ldap|oauth2?|oidc|saml|bearer|jwt|token|cert|tls|mtls|trust"
     "|peer|md5|scram[a-z0-9-]*|plain|login|default|required|optional|enabled|disabled)$"},
    {"", kGroup, R"(^(?:-e|-D|--?[\w-]+=)?[A-Z0-9_]*(?:PASSWORD|PASSWD|PASSPHRASE|TOKEN|SECRET)_[A-Z0-9_]+=(.+?);?$)",
     "_(?:FILE|PATH|DIR|URL|URI|HOST|PORT|TTL|EXP[A-Z]*|TIMEOUT|LENGTH|LEN|MIN|MAX|NAME|TYPE|COUNT|LIMIT|SIZE|POLICY"
     "|ISSUER|AUDIENCE|ENDPOINT|HASHERS?|RESET|PROVIDER|BACKEND|STORE|MANAGER|ALGORITHM|LIFETIME|AGE|DURATION|INTERVAL"
     "|ENABLED|REQUIRED|PROMPT|COMMAND|CMD)=|=(?:true|false|yes|no)$"},
    // Within a longer text: query strings, JDBC and libpq connection strings, mount options, program texts.
    {"", kGroup, R"((?i)[?&;,\s"'=:{(\[$][\w.-]*<secret>\s*=>?\s*("[^"]*"|'[^']*'|[^\s&;,'"\]]+))"},
    {"", kGroup,
     R"((?i)["'][\w.-]*(?:<secret>|<keys>|pwd|pass|\bpin)[\\\x01]*["']\]?\s*(?:[:=]|=>)\s*[\\\x01]*["']((?:[^"'\\\x01]|\\.)*))"},
    {"", kGroup, R"((?i)[{(,\s][\w.-]*(?:<secret>|pwd)\s*:\s*["']([^"']+)["'])"},
    {"", kGroup, R"((?i)["'][\w.-]*(?:<secret>|pwd)["']\s*:\s*([^\s"'{}\[\],]+))",
     ":\\s*(?:true|false|null|[0-9]{1,4}|\\\\)$"},
    {"", kGroup, R"((?i)["']auth\w*["']\s*:\s*\{[^{}]*["']key["']\s*:\s*["']([^"']+)["'])"},
    {"", kGroup, R"((?i)<[\w:.-]*<secret>[^<>]*>([^<]+)<)"},
    {"", kGroup,
     R"((?i)(?:key|name)["']?[=:]\s*["']?[\w./-]*<secret>["']?,\s*["']?\w*value["']?[=:]\s*["']?([^\s"',}]+))"},
    {"", kGroup, R"([?&]key=([^\s&;,'"]{16,}))"},
    {"", kGroup, R"((?i)\w*(?:login|connect|auth|password|create_\w*user)\w*\s*\([^()]*,\s*["']([^"']+)["']\s*\))"},
    {"", kGroup, R"((?i)set_?\w*(?:password|passwd|passphrase|secret|token)\w*\s*\(\s*\\?["']([^"']+)["'])"},
    {"", kGroup, R"((?i)\bauth\s*=\s*\(\s*["'][^"']*["']\s*,\s*["']([^"']+)["'])"},
    {"", kGroup, R"((?i)(?:[?&;,\s"'](?:pw|sig|x-(?:amz|goog)-signature|code|auth)|[?&]pwd)=([^\s&;,'"]{6,}))"},
    {"", kGroup, R"((?i)\b(?:identified\s+by|password|passphrase)\s*[\s(=]\s*(?:[a-z]&?)?'([^']+)')"},
    {"", kGroup, R"((?i)\bpragma\s+(?:\w+\.)?(?:re|hex|hexre|text)?key\s*=\s*["']*([^"';]+))"},
    {"", kGroup, R"((?i)(?:user|role|to|exists)\s+\S+\s+identified\s+(?:with\s+\S+\s+)?by\s+[\\"']*([^\s\\"';]+))"},
    // Commands that print a secret where its value is expected.
    {"", kGroup, R"((?i)(?:^-p|(?:<secret>|pwd)=)["']?(?:\$\(|`)(?:echo|printf) (?:-[a-z]+ )*([^\n)`]+))"},
    // Logon strings of Teradata.
    {"", kGroup, R"((?i)logon[\s\n]+[^\s,"']+,([^\s;"']+))"},
    {"", kGroup, R"((?i)(?:;\s*|^|["'=])(?:pwd|uid)\s*=\s*([^;"']+);)",
     "(?i)(?:^|[\"'=])(?:pwd|uid)\\s*=\\s*(?:/|[0-9]+;$)"},
    {"", kGroup, R"((?i);\s*pwd\s*=\s*([^;"']+))"},
    // Commands that set a value in a configuration.
    {"", kGroup,
     R"((?i)^(?:set|config|put|add|--global|--add|--define) (?:-.+ )*[\w./:@-]*(?:<secret>|<keys>) ([^-\n].*)$)",
     "(?i)\\nset-credentials\\n|\\n(?:for|is|to|=|on|off|true|false)$"},
    {"", kNext, R"((?i)^(?:[\w.]*\.)?aws_(?:secret_access_key|session_token)$)"},
    {"", kGroup, R"((?i)^(?:\S*:)?_(?:auth|authToken|password)(?:=| )(.+)$)"},
    {"", kNext, R"((?i)^(?:set|reset)[_-](?:\w+[_-])?pass(?:word|wd)$)"},
    {"", kNext, R"((?i)^(?:add-|set)?(?:authtoken|apikey)$)"},

    // HTTP headers.
    {"", kGroup, R"((?i)^(?:-H|--?[\w-]+=)?(?:proxy-)?authorization:\s*<scheme>(\S.*)$)"},
    {"", kGroup, R"((?i)\bauthorization["']?\s*[:=]\s*["']?<scheme>([^\s'"]+))"},
    {"", kGroup, R"((?i)\bbearer\s+([\w.~+/=-]{16,}))"},
    {"", kGroup, R"((?i)^(?:-H|--header=)?(?:set-)?cookie:\s*(.+)$)"},
    {"", kNext, R"((?i)^(?:-H)?(?:proxy-)?authorization:$)", R"((?i)\n(?:bearer|basic|digest|negotiate|token)$)"},
    {"", kNext, R"(^(?:Bearer|Basic|Digest|Negotiate)$)"},

    // Passwords in URLs.
    {"", kGroup, R"(://[^/\s:'"]*:([^/\s'"]+)@)"},
    // A password that contains a slash. Text that starts like a port and a path is not a password.
    {"", kGroup, R"(://[^/\s:@'"]+:([0-9]*[^0-9/\s@'"][^\s'"]*)@)"},
    // A token in place of the user.
    {"", kGroup, R"(://([^/?#\s:@'"]{20,})(?::[^/\s@'"]*)?@)"},
    // A short token: a user name has letters, and at most four digits at its end.
    {"", kGroup, R"(https?://([^/?#\s:@'"]{8,})(?::(?:x-oauth-basic)?)?@)",
     R"((?i)//(?:[a-z._+-]|%[0-9a-f]{2})*[0-9]{0,4}$)"},
    // URLs without a scheme: `-x me:X@proxy`.
    {"", kGroup, R"(^(?:-x|--[\w-]+=)?[\w./\\-]+:([^@/\s:]+)@[\w.-]+(?::[0-9]+)?(?:/.*)?$)",
     R"((?:^|=)(?:npm|file|workspace|patch|jsr|pkg|git):|@v?[0-9.]+$)"},
    {"", kGroup, R"(:pserver:[^:@\s]+:([^@\s]+)@)"},
    {"", kGroup, R"((?i)jdbc:oracle:\w+:[^/\s@]*/([^@\s]+)@)"},
    // Data source names of Go's MySQL driver.
    {"", kGroup, R"([\w.-]+:([^\s@'"]+)@(?:tcp|unix)\()"},
    // Webhooks of Slack, Zapier, Discord and Office; of Mattermost and Rocket.Chat; of IFTTT.
    {"", kGroup,
     R"(hook(?:s\.(?:slack|zapier)\.com/(?:services|workflows|triggers|hooks/catch)|s/[0-9]+|b2)/([\w/@-]+))"},
    {"", kGroup, R"(://[^\s'"]*/hooks/([\w/]{24,}))"},
    {"", kGroup, R"(/with/key/([\w-]+))"},
    {"", kGroup, R"(api\.telegram\.org/bot[0-9]+:([\w-]+))"},
    {"", kGroup, R"(^rtmps?://\S+/([\w?=&-]+)$)"},

    // Secrets that have a format of their own.
    {"", kGroup, R"(\b((?:AKIA|ASIA|AIDA|AROA|ABIA|ACCA)[A-Z0-9]{16})\b)"},
    {"", kGroup, R"(\b(eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?|eyJ[\w+/=-]{60,}))"},  // JSON Web Token
    {"", kGroup,
     R"(\b((?:gh[pousr]_|github_pat_|glpat-|glptt-|gldt-|npm_|hvs\.|hvb\.|xox[abeoprs]-|xapp-|[rs]k_(?:live|test)_|AIza|ya29\.|hf_|dop_v1_|shp(?:at|ca|pa|ss)_|sq0[a-z]{3}-|pypi-|dckr_pat_|NRAK-|lin_api_|rubygems_|whsec_|tskey-|figd_|PMAK-|ATATT3|AGE-SECRET-KEY-1|SWMTKN-)[\w-]{16,}))"},
    {"", kGroup, R"(\b(sk-[\w-]{20,}))"},
    {"", kGroup, R"(\b(SG\.[\w-]{10,}\.[\w-]{10,}))"},
    {"", kGroup, R"(-----BEGIN\s[A-Z\s]*PRIVATE\sKEY-----(.*))"},
    // Long hexadecimal or base64 text after a word that suggests a key. Hashes that identify something are excluded.
    {"", kGroup,
     R"((?i)(?:(?:^|[^a-z0-9_.-]|^--?|(?:sign(?:ing)?|encrypt(?:ion)?|decrypt(?:ion)?|hmac|private|auth|session|shared|license|master|api|ssl|tls|crypto|aes|data|admin|client|server|app|secret|access|consumer|gossip|root)[_.-]?)key)"
     R"(|\bauth|cred|credentials|seed|cookie|jwt|[_-]pw)["']?[=:\s\n]\s*["']?)"
     R"(([a-z0-9+][a-z0-9+/]{31,}={0,2})(?:[\s\n&;,'"]|$))"},

    // Options that are followed by a secret in these programs, and harmless in others.
    {MEMOIR_MYSQL, kGroup, R"(^-p(.+)$)"},
    {MEMOIR_MYSQL, kGroup, R"((?:^|,)p=([^,\n]+))"},
    {"^(?:mysqladmin|mariadb-admin)$", kNext, R"(^password$)"},
    {"^(?:(?:ProxyCommand=)?sshpass|mydumper|myloader|7z[arz]*|rar|unrar|mongo[a-z]*|login|openfortivpn|cqlsh|hydra|"
     "medusa|ncrack|twine"
     "|check_mysql[a-z_]*|supervisorctl|rabbitmqadmin|(?:x|wl)freerdp[0-9]?)$",
     kGroup, R"(^-p(.+)$)"},
    {"^(?:(?:ProxyCommand=)?sshpass|mydumper|myloader|mongo[a-z]*|login|mycli|twine|poetry|az|cqlsh|fetchmail|rdesktop|"
     "(?:user|group)(?:"
     "add|mod)|knife"
     "|racadm|ilorest|redfishtool(?:\\.py)?|ipmi-?[a-z]+|bmc-[a-z]+|fence_[a-z]+|upscmd|upsrw|hydra|medusa|ncrack|"
     "crackmapexec|nxc|evil-winrm|smbmap"
     "|openfortivpn|f5fpc|veracrypt|steghide|sendxmpp|ncftp[a-z]*|esxcli|ovftool|vim-cmd|testsaslauthd|saslpasswd2|"
     "doveadm"
     "|check_(?:mysql[a-z_]*|pgsql|mssql[a-z_]*)|elasticsearch-users|mosquitto_passwd|impala-shell|supervisorctl|"
     "rabbitmqadmin|unar|aescrypt|(?:x|wl)freerdp[0-9]?|beeline|sqlline|add-user\\.sh|ksql|sqoop|couchbase-cli|cb[a-z]+"
     "|influx|cypher-shell|"
     "hdbsql|dumpling|dsbulk|maxctrl|hammer|spacecmd|yt-dlp|youtube-dl|vncdo(?:tool)?|bloodhound-python|"
     "ldapdomaindump|cntlm|librespot|mcrcon|vsce|ovsx|zuluCrypt-cli|mutool|msoffcrypto-tool|"
     "register_new_matrix_user|netexec|zmmailbox|fs_cli|pkcs11-tool|clogin)$",
     kNext, R"(^-p$)"},
    {"^(?:check_[\\w.]+|airflow)$", kNext, R"(^-p$)", R"(\n(?:[0-9]{1,5}|/.*)$)"},
    {"^ipa-(?:server|replica)-install$", kNext, R"(^-[ap]$)"},
    {"^(?:uv|hatch|pdm)$", kGroup, R"(^publish (?:.+ )*?(?:-[tpaP]|--auth) (.+)$)"},
    {"^(?:dotnet|nuget)$", kGroup, R"(^source (?:.+ )*?-p (.+)$)"},
    {"^(?:isql-fb|gbak|gfix|gsec|nbackup)$", kNext, R"(^-p(?:as?)?$)"},
    {"^rdesktop$", kGroup, R"(^-p([^-\n].*)$)"},
    {"^(?:plink|pscp|psftp|nodetool|kadmin(?:\\.local)?)$", kNext, R"(^-pw$)"},
    {"^(?:ipmitool|sqlcmd|osql|bcp|isql|tsql|zip|unzip|mosquitto_(?:pub|sub|rr)|knife|ssh-keygen|gpg-preset-passphrase|"
     "ipmiutil|mssql-[a-z]+|microsocks|gobuster|kdb5_util|p4|check_(?:smtp|ldaps?))$",
     kNext, R"(^-P$)"},
    {"^(?:ipmitool|sqlcmd|bcp|isql|tsql|zip|unzip|mosquitto_(?:pub|sub|rr)|mssql-[a-z]+|p4)$", kGroup, R"(^-P(.+)$)"},
    {"^ipmitool$", kNext, R"(^-[ky]$)"},
    {"^ssh-keygen$", kNext, R"(^-N$)"},
    {"^ssh-keygen$", kGroup, R"(^-[NP](.+)$)"},
    {"^keytool$", kNext, R"(^-new$)"},
    {"^(?:vsql|check_ldap|db2look|squidclient|ipa-[a-z-]+|smbpasswd)$", kNext, R"(^-w$)"},
    // Arguments of smbpasswd: `[USER [PASSWORD]]` as root, otherwise `[PASSWORD]`.
    {"^smbpasswd$", kGroup, R"(^(?:-[rUDcR] .+ |-.+ )*[^-\n].* ([^-\n&|;<>].*)$)"},
    {"^smbpasswd$", kGroup, R"(^(?:-[rUDcR] .+ |-.+ )*-[a-zA-Z]*s[a-zA-Z]* (?:-[rUDcR] .+ |-.+ )*([^-\n&|;<>].*)$)",
     "^-[a-zA-Z]*[adeimnx]"},
    {"^vmrun$", kNext, R"(^-[gv]p$)"},
    {"^(?:ccrypt|ccencrypt|ccdecrypt|mcrypt)$", kGroup, R"(^-[Kk](?: )?(.+)$)"},
    {"^ansible-vault$", kGroup, R"(^encrypt_string (?:(?:-n|--name|--vault-id) .+ |-.+ )*([^-\n].*)$)"},
    {"^(?:rar|unrar)$", kGroup, R"(^-hp(.+)$)"},
    {"^curl$", kGroup, R"(^(?:-[a-zA-Z#0-9]*[uU]|--user|--proxy-user)(?:=| )?[^:\s]*:(.+)$)"},
    {"^curl$", kGroup, R"(^(?:-[a-zA-Z#0-9]*u|--user)(?:=| )?([^:\s]+):(?:api_token|x-oauth-basic)?$)",
     R"((?i)(?:[\n=]|-[a-z#0-9]*u)[a-z._@-]*[0-9]{0,4}\z)"},
    {"^curl$", kGroup, R"(^(?:-[a-zA-Z#0-9]*b|--cookie)(?:=| )?([^-\n][^\n=]*=.*)$)"},
    {"^curl$", kGroup, R"(^(?:-[a-zA-Z#0-9]*E|--cert|--proxy-cert)(?:=| )?[^:\n]+:(.+)$)"},
    {"", kGroup, R"(^--?[\w-]*creds(?:=| )[^:\s/]+:(.+)$)"},
    {"", kGroup, R"((?:^|\.|proxy)auth=[^:\s/]+:([^/\n].*)$)"},
    {"^(?:nats-server|netlify)$", kGroup, R"(^--auth(?:=| )(.+)$)"},
    {"^check_http$", kNext, R"(^-a$)"},
    {"", kGroup, R"(^--?(?:[\w-]*[_-]|p|proxy)?auth(?:-cred)?(?:=| )[^:\s/]+:([^/\n].*)$)"},
    {"^(?:https?|xhs?)$", kGroup, R"(^-a(?: )?[^:\s/]+:(.+)$)"},
    {"^(?:ab|hey|miniserve|dufs|ttyd|gotty|dirb|nikto|proxytunnel|wfuzz)$", kGroup,
     R"(^-(?:[acuAP]|id|-basic)(?:=| )?[^:\s/]+:(.+)$)"},
    {"^(?:etcdctl|influx|wget|clickhouse-client|lftp|curlftpfs)$", kGroup,
     R"((?:^(?:--?)?|,)user(?:=| )[^:,\s/]+[:,](.+)$)"},
    {"^lftp$", kGroup, R"(^-u(?: )?[^,\n]+,(.+)$)"},
    {"^transmission-(?:remote|cli|daemon)$", kGroup, R"(^-n(?: )?[^:\n]+:(.+)$)"},
    {"^(?:redis|valkey|keydb)-(?:cli|benchmark)$", kGroup, R"(^-a(?: )?(.+)$)"},
    {"^(?:redis|valkey|keydb)-(?:cli|benchmark)$", kGroup, R"((?i)^auth (.+(?: .+)?)$)"},
    {"^(?:redis|valkey|keydb)-(?:cli|benchmark)$", kGroup, R"((?i)^(?:requirepass|masterauth) (.+)$)"},
    {"^(?:redis|valkey|keydb)-(?:cli|benchmark)$", kGroup, R"(^>(.+)$)"},
    {"^ldap[a-z]+$", kGroup, R"(^-w(.+)$)"},
    {"^(?:ldap[a-z]+|irssi|certutil|pk12util|kadmin|dsconf)$", kNext, R"(^-[a-zA-Z]*w$)"},
    {"^(?:ldappasswd|slappasswd|check_nt|eapol_test)$", kNext, R"(^-[sa]$)"},
    {"^(?:snmp[a-z]+|net-snmp-[a-z0-9-]+)$", kGroup, R"(^-[AXc][\s\n]*(\S.*)$)"},
    {"^smbclient$", kGroup, R"(^//\S+ ([^-\n].*)$)"},
    {"^(?:check_snmp|snmp-check|onesixtyone)$", kNext, R"(^-[CcAX]$)"},
    {"^(?:smb[a-z]+|rpcclient|net|winexe|wmic|nmblookup|wbinfo|samba-tool|pth-[a-z]+)$", kGroup,
     R"(^(?:-U|-a|--user|--authenticate|--username)(?:=| )?[^%\s]*%(.+)$)"},
    {"^samba-tool$", kGroup, R"(^(?:create|add|setpassword) [^-\n].* ([^-\n].*)$)"},
    {"^(?:sqlplus|rman|expdp|impdp|sqlldr|exp|imp|dgmgrl)$", kGroup, R"(^(?:userid=)?[^/\s]+/([^@\s]+)(?:@.*)?$)"},
    {"^db2$", kNext, R"(^using$)"},
    {"", kGroup, R"(^(?:\S*/)?isql (?:-.+ )*[^-\n].* [^-\n].* ([^-\n].*)$)"},
    {"^(?:openssl|easyrsa)$", kGroup, R"(^(?:--?\w+=)?pass:(.+)$)"},
    {"^(?:openssl|swift)$", kNext, R"(^-(?:k|K|hmac)$)"},
    {"^openssl$", kGroup, R"(^(?:hex)?key:(.+)$)"},
    {"^openssl$", kGroup, R"(^passwd (?:-salt .+ |-.+ )*([^-\n].*)$)"},
    {"", kGroup, R"(^(?:\S*/)?mkpasswd (?:-[mSR] .+ |-.+ )*([^-\n].*)$)"},
    {"^(?:x|wl)?freerdp[0-9]?$", kGroup, R"(^/(?:p|pth):(.+)$)"},
    {"", kGroup,
     R"(^(?:\S*/)?(?:htpasswd|mosquitto_passwd) (?:-.+ )*-[a-zA-Z]*b[a-zA-Z]* (?:-C [0-9]+ |-.+ )*[^-\n].* (.+(?: [^-\n].*)?)$)"},
    {"", kGroup, R"(^(?:\S*/)?wpa_passphrase .+ (.+)$)"},
    {"", kGroup, R"(^(?:\S*/)?radtest (?:-.+ )*[^-\n].* (.+)$)"},
    {"", kGroup, R"(^(?:\S*/)?radtest (?:-[\w]+ )*.+ .+ .+ [0-9]+ (.+)$)"},
    // Commands followed by a name and its secret, by two names and a secret, or by a secret.
    {"^(?:rabbitmqctl|filebrowser|doveadm|drush|cf|b2|net|glab|netlify|sapcontrol)$", kGroup,
     R"(^(?:add_user|change_password|authenticate_user|users? add|auth(?: test| login)?|user[:-]password|upwd|password|authorize-account|account authorize|variable set|env:set|-user) (?:-.+ )*[^-\n].* (.+)$)"},
    {"^(?:kamctl|opensipsctl|zmprov|credstash)$", kGroup, R"(^(?:add|ca|sp|put) (?:-.+ )*[^-\n].* (.+)$)"},
    {"^(?:ejabberdctl|prosodyctl|chamber|mc)$", kGroup,
     R"(^(?:register|change_password|check_password|write|user add) [^-\n].* [^-\n].* (.+)$)"},
    {"^(?:cargo|heroku|snyk|pro|ua|ubuntu-advantage|pm2|warp-cli|teamviewer|radclient)$", kGroup,
     R"(^(?:login|auth|auth:token|attach|link|license|passwd) (?:-.+ )*([^-\n].*)$)"},
    {"^(?:canonical-livepatch|cloudflared)$", kGroup, R"(^(?:enable|service install) (?:-.+ )*([^-\n].*)$)"},
    {"^hdbuserstore$", kGroup, R"(^set .+ .+ .+ (.+)$)"},
    {"^microk8s$", kGroup, R"(^join (?:-.+ )*[^/\n]+/(.+)$)"},
    {"^steamcmd(?:\\.sh)?$", kGroup, R"(^\+login .+ ([^+\n].*)$)"},
    {"^ftp$", kGroup, R"((?i)^(?:user [^-\n].*|pass) ([^-\n].*)$)"},
    {"^nmcli$", kNext, R"((?i)^(?:[\w.-]*password[0-9]?|[\w.-]*psk|[\w.-]*wep-key[0-9]?|[\w.-]*pin)$)"},
    {"^wpa_cli$", kNext, R"(^(?:psk|password)$)"},
    {"^vault$", kGroup, R"(^token (?:revoke|lookup|renew) (?:-.+ )*([^-\n].*)$)"},
    {"^(?:iw|iwconfig)$", kNext, R"(^keys?$)"},
    {"^vault$", kGroup, R"(^(?:login|unseal|unwrap|rekey) (?:-.+ )*([^-=\n][^=\n]*)$)"},
    {"^vault$", kGroup, R"(^[\w.][\w.-]*=([^@\n].*)$)"},
    {"^bw$", kGroup, R"(^(?:unlock|login [^-\n].*) ([^-\n].*)$)"},
    {"^(?:gem|nuget|sonar-scanner|ss-[a-z]+|sslocal|ssserver|logdna-agent|coap-client)$", kGroup, R"(^-k(?: )?(.+)$)"},
    {"^(?:gem|mix|ceph|rbd|rados)$", kGroup, R"(^--key(?:=| )(.+)$)"},
    {"^(?:doctl|influx|vercel|codecov|k3s|anaconda)$", kNext, R"(^-t$)"},
    {"^(?:gitlab-runner|SUSEConnect)$", kGroup, R"(^(?:-r|--regcode)(?:=| )(.+)$)"},
    {"^(?:bw|op|virsh|icinga2)$", kGroup, R"(^--(?:session|base64|ticket)(?:=| )(.+)$)"},
    {"^(?:aws|az|gh|hadoop|occ)$", kGroup,
     R"(^(?:put-parameter|secret set|credential create|config:\w+:set) (?:.+ )*?(?:--?value|--body|-b)(?:=| )(.+)$)"},
    {"^iscsiadm$", kGroup, R"(^(?:-n|--name)(?:=| )\S*password\S* (?:-v|--value)(?:=| )(.+)$)"},
    {"^(?:pkcs1[15]-[a-z]+|softhsm2-util|p11tool|ykman|yubico-piv-tool)$", kGroup,
     R"(^--(?:[a-z]+-)?(?:pin|puk)(?:=| )(.+)$)"},
    {"^(?:evil-winrm|crackmapexec|nxc|netexec)$", kNext, R"(^-H$)"},
    {"^(?:mpc|nats)$", kGroup, R"(^(?:-h|-s|--host|--server)(?:=| )(?:nats://)?([^@:\s/]+)@)"},
    {"^(?:qemu-[\\w-]+|kvm)$", kGroup, R"(^secret,(?:.*,)?data=([^,\n]+))"},
    {"^pwsh$", kGroup, R"((?i)ConvertTo-SecureString\s+(?:-String\s+)?["']?([^\s"']+))"},
    {"", kGroup, R"(sonar\.login=(\S+))"},
    {"^bundle$", kGroup, R"(^config (?:set )?(?:-.+ )*[^-\n].* [^:\s]+:(.+)$)"},
    {"^(?:composer|poetry)$", kGroup, R"(^(?:--auth )?http-basic\.\S+ .+ (.+)$)"},
    {"^(?:composer|poetry)$", kGroup, R"(^(?:github-oauth|gitlab-token|gitlab-oauth|bearer|pypi-token)\.\S+ (.+)$)"},
    {"^kubectl$", kGroup, R"(^--from-literal(?:=| )[^=\n]+=(.+)$)"},
    {"^(?:heroku|fly|flyctl|doppler|railway|wrangler|vercel|dokku|eb|supabase|travis|act)$", kGroup,
     R"(^[A-Z_][A-Z0-9_]*=(.+)$)"},
    {"^(?:consul|nomad|serf)$", kGroup, R"(^--?encrypt(?:=| )(.+)$)"},
    {"^(?:mc|maas)$", kGroup, R"(^(?:alias set|config host add|login) .+ .+ (.+(?: [^-\n].*)?)$)"},
    {"^rclone$", kNext, R"((?i)^(?:obscure|pass|password2?|\w*(?:<secret>|<keys>))$)"},
    {"^sops$", kGroup, R"(^(?:set [^-\n].* )?\[.*\](?: |\s+)(.+)$)"},
    // Programs of macOS.
    {"^security$", kNext, R"(^-[wpP]$)", R"(\n(?:/|.*\.keychain))"},
    {"^security$", kGroup, R"(^set-key-partition-list (?:.+ )*?-k (.+)$)"},
    {"^zookeeper-shell(?:\\.sh)?$|^zkCli(?:\\.sh)?$", kGroup, R"(^addauth \w+ [^:\n]+:(.+)$)"},
    {"^grafana(?:-cli)?$", kGroup, R"(^reset-admin-password (?:-.+ )*([^-\n].*)$)"},
    {"^pppd$", kNext, R"(^password$)"},
    {"^(?:swaks|send[eE]mail|ssmtp)$", kNext, R"(^-(?:ap|xp)$)"},
    {"^caddy$", kNext, R"(^-(?:p|-plaintext)$)"},
    {"^openconnect$", kGroup, R"(^(?:-C|--cookie)(?:=| )(.+)$)"},
    {"^pdftk$", kNext, R"(^(?:user|owner|input)_pw$)"},
    {"^qpdf$", kGroup, R"(^--encrypt (.+ .+) [0-9]+$)"},
    {"^expect$", kGroup, R"((?i)assword.*?\bsend\s+(?:--\s+)?\\*["{]([^"\\}]+))"},
    // Secrets that are passed through a pipe or a here-string within a script.
    {"^[({]*(?:echo|printf|yes)$", kGroup,
     R"(^(?:-[a-zA-Z]+ )*([^\n|]+(?: [^\n|]+){0,8}?) \| (?:.+ )*?(?:\S*/)?(?:sudo (?:-.+ )*?-[a-zA-Z]*S[a-zA-Z]*|sudo (?:-.+ )*--stdin|(?:smb|vnc)?passwd|su|cryptsetup|kinit|base64|pass insert|realm|adcli|encfs|gocryptfs|keepassxc-cli|systemd-creds|secret-tool|wg|zfs load-key|login|fscrypt|veracrypt|(?:gh|docker|podman|wrangler|gcloud|fly|flyctl) secrets?|htpasswd -[a-zA-Z]*i[a-zA-Z]*|anydesk|openssl (?:.+ )*?stdin|(?:\S+ )*?\S*(?:--password-stdin|--passphrase-fd|--with-token|--passwd-on-stdin|-i2p|pass:stdin|passwd=stdin))(?:[ =]|$))"},
    {"^[({]*(?:echo|printf)$", kGroup,
     R"(^(?:-[a-zA-Z]+ )*([^\n|>]+(?: [^\n|>]+){0,8}?) >>? ?\S*(?:\.pgpass|\.netrc|passwo?r?d|secrets?|token|credentials|[_.-]key)(?:\.txt)?$)"},
    {"", kGroup, R"(([^:\s"'\\]+)(?:\\n)?["']?\s*\|\s*(?:sudo\s+)?(?:\S*/)?chpasswd)"},
    {"^(?:sudo|su|passwd|cryptsetup|kinit|chpasswd|gpg2?|openssl|docker|podman|smbpasswd|gh|openvpn|wg-quick|age|read)"
     "$",
     kGroup, R"(^<<<(?: )?(.+)$)"},
    {"^(?:sudo|su|passwd|cryptsetup|kinit|chpasswd|gpg2?|openssl|docker|podman|smbpasswd|gh)$", kGroup,
     R"(^<<-?["']?\w+["']? ((?:.|\n)+)\z)"},
};

const std::pair<std::string, const char*> kPlaceholders[] = {
    {" ", "\\n+"}, {"<secret>", kSecret}, {"<keys>", kKeys}, {"<path>", kPath}, {"<scheme>", kScheme}};

std::string expanded(std::string text) {
  for (const auto& [placeholder, meaning] : kPlaceholders) {
    const std::string_view replacement(meaning);
    for (std::size_t at = text.find(placeholder); at != std::string::npos;
         at = text.find(placeholder, at + replacement.size())) {
      text.replace(at, placeholder.size(), replacement);
    }
  }
  return text;
}

}  // namespace

std::vector<RedactionRule> default_redaction_rules() {
  std::vector<RedactionRule> rules;
  for (const Row& row : kRows) {
    rules.push_back({expanded(row.pattern), row.program, row.next, expanded(row.unless)});
  }
  return rules;
}

}  // namespace memoir
