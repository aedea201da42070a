// The built-in categories of server programs. Order matters: memoir itself first, then categories by service (a
// database written in Java is a database), then categories by language.

#include <string>

#include "collect/category/categoriser.h"

namespace memoir {
namespace {

// Returns a pattern for a program's base name in argv[0], or in a title that it set itself: "nginx: worker process".
std::string program(const std::string& names) {
  return "^(?:\\S*/)?(?:" + names + ")(?:[ :]|$)";
}

struct Row {
  const char* category;
  const char* programs;           // argument of program(), or nullptr
  const char* command = nullptr;  // pattern on the full command line if `programs` is nullptr
};

constexpr Row kRows[] = {
    {"memoir", "memoird?"},
    {"database",
     "postgres|postmaster|mysqld|mariadbd|mongo[ds]|clickhouse(?:-server|-keeper)?|influxd|cockroach|etcd|slapd|"
     "ns-slapd|sqlservr|scylla|tidb-server|tikv-server|arangod|surreal|questdb|meilisearch|typesense-server|qdrant|"
     "firebird|virtuoso-t"},
    {"database", nullptr, "^(?:ora|db|asm)_[a-z0-9]{4}_\\w+$"},
    {"database", nullptr,
     "^\\S*java .*\\b(?:org\\.elasticsearch\\.|org\\.opensearch\\.|org\\.apache\\.cassandra\\.|org\\.neo4j\\.|"
     "solr\\.|org\\.apache\\.hadoop\\.hbase\\.)"},
    {"database", nullptr, "^\\S*beam\\.smp .*couchdb"},
    {"cache", "redis-server|valkey-server|keydb-server|dragonfly|memcached|varnishd|cache-main"},
    {"messaging", "nats-server|mosquitto|nsqd|emqx|redpanda|qpidd"},
    {"messaging", nullptr,
     "^\\S*java .*\\b(?:kafka\\.Kafka|org\\.apache\\.(?:zookeeper|activemq|pulsar|kafka)\\.|activemq\\.jar)"},
    {"messaging", nullptr, "^\\S*beam\\.smp .*(?:rabbit|emqx)"},
    {"web-server", "nginx|openresty|apache2|httpd|caddy|lighttpd|litespeed|openlitespeed|h2o"},
    {"proxy",
     "haproxy|envoy|traefik|\\(?squid(?:-\\d+\\)?)?|pgbouncer|pgpool|proxysql|maxscale|mysqlrouter|mcrouter|"
     "twemproxy|nutcracker|privoxy|tinyproxy|oauth2-proxy|stunnel4?|trafficserver|traffic_server|hitch|cloudflared|"
     "linkerd2-proxy|pilot-agent"},
    {"kubernetes",
     "kubelet|kube-[a-z-]+|kubectl|k3s|k3s-[a-z]+|rke2|k0s|coredns|flanneld|calico-[a-z-]+|cilium-[a-z-]+|"
     "cloud-controller-manager|helm|argocd[a-z-]*|metrics-server|pause"},
    {"container",
     "dockerd|docker|docker-[a-z-]+|containerd|containerd-shim[a-z0-9-]*|ctr|runc|crun|crio|conmon|conmonrs|podman|"
     "buildkitd|buildah|lxc-[a-z]+|lxd|incusd|rootlesskit|slirp4netns|netavark|aardvark-dns|systemd-nspawn|catatonit"},
    {"monitoring",
     "prometheus|prometheus-[a-z-]+|[a-z]+_exporter|alertmanager|pushgateway|grafana|grafana-[a-z]+|loki|promtail|"
     "tempo|mimir|alloy|zabbix_[a-z]+|zabbix_agent2|telegraf|collectd|netdata|statsd|monit|nagios|nrpe|icinga2|"
     "munin-node|snmpd|atop|atopacctd|sar|sadc|below|[a-z]+beat|fluent-bit|fluentd|td-agent|vector|otelcol[a-z-]*|"
     "jaeger-[a-z-]+|victoria-metrics[a-z-]*|vmagent|vminsert|vmstorage|vmselect|check_mk_agent|newrelic-infra|"
     "amazon-cloudwatch-agent|google_cloud_ops_agent_engine|ossec-[a-z]+|wazuh-[a-z]+|auditd|node-problem-detector"},
    {"monitoring", nullptr, "^/opt/datadog-agent/"},
    {"cron", "cron|CRON|crond|atd|anacron|fcron"},
    {"ssh", "sshd|sshd-session|sshd-auth|ssh|ssh-agent|sftp-server|scp|sftp|dropbear|mosh-server|autossh"},
    {"systemd",
     "init|systemd|systemd-[a-z-]+|\\(sd-[a-z]+\\)|\\(systemd\\)|dbus-daemon|dbus-broker|dbus-broker-launch|polkitd|"
     "agetty|login|udevd|elogind|elogind-daemon|rsyslogd|syslog-ng|accounts-daemon|udisksd|upowerd|chronyd|ntpd|"
     "irqbalance|unattended-upgr[a-z]*|packagekitd|ModemManager|NetworkManager|wpa_supplicant|multipathd|lvmetad|"
     "dmeventd"},
    {"php", "php|php-?[0-9.]+|php-fpm[0-9.]*|php-cgi[0-9.]*|lsphp[0-9.]*|frankenphp"},
    {"ruby",
     "ruby|ruby[0-9.]+|puma|unicorn|unicorn_rails|sidekiq|resque|passenger|Passenger|bundle|rails|rake|irb|thin"},
    {"node", "node|nodejs|npm|npx|yarn|pnpm|pm2|PM2|next-server|bun|deno|ts-node"},
    {"python",
     "python|python[0-9.]+|pypy[0-9.]*|gunicorn|uwsgi|uwsgi-core|uvicorn|hypercorn|celery|ipython[0-9]*|jupyter|"
     "jupyter-[a-z]+|\\[celeryd"},
    {"jvm", "java|jsvc|jsvc\\.exec|kotlin|scala|groovy|clojure"},
};

}  // namespace

std::vector<CategoryRule> default_category_rules() {
  std::vector<CategoryRule> rules;
  for (const Row& row : kRows) {
    CategoryRule& rule = rules.emplace_back();
    rule.name = row.category;
    rule.command = row.programs == nullptr ? row.command : program(row.programs);
  }
  return rules;
}

}  // namespace memoir
