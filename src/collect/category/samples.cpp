#include "collect/category/samples.h"

#include <array>

namespace memoir {
namespace {

constexpr auto kSamples = std::to_array<CategorySampleLine>({
    {"memoir", "memoird", "/usr/bin/memoird", "/usr/bin/memoird --config /etc/memoir/memoir.toml"},
    {"memoir", "memoir", "/usr/bin/memoir", "memoir top"},

    {"database", "postgres", "/usr/lib/postgresql/15/bin/postgres",
     "/usr/lib/postgresql/15/bin/postgres -D /var/lib/postgresql/15/main -c "
     "config_file=/etc/postgresql/15/main/postgresql.conf"},
    {"database", "postgres", "/usr/lib/postgresql/15/bin/postgres", "postgres: 15/main: checkpointer "},
    {"database", "postgres", "/usr/lib/postgresql/15/bin/postgres", "postgres: shop shop 10.0.0.1(5432) idle"},
    {"database", "mysqld", "/usr/sbin/mysqld", "/usr/sbin/mysqld"},
    {"database", "mariadbd", "/usr/sbin/mariadbd", "/usr/sbin/mariadbd"},
    {"database", "mongod", "/usr/bin/mongod", "/usr/bin/mongod --config /etc/mongod.conf"},
    {"database", "clickhouse-serv", "/usr/bin/clickhouse", "/usr/bin/clickhouse-server --config-file=/etc/x.xml"},
    {"database", "influxd", "/usr/bin/influxd", "/usr/bin/influxd"},
    {"database", "etcd", "/usr/bin/etcd", "etcd --advertise-client-urls=https://10.0.0.1:2379"},
    {"database", "slapd", "/usr/sbin/slapd", "/usr/sbin/slapd -h ldap:/// ldapi:/// -g openldap -u openldap"},
    {"database", "ora_pmon_xe", "/opt/oracle/product/21c/dbhomeXE/bin/oracle", "ora_pmon_XE"},
    {"database", "sqlservr", "/opt/mssql/bin/sqlservr", "/opt/mssql/bin/sqlservr"},
    {"database", "java", "/usr/lib/jvm/java-17-openjdk-amd64/bin/java",
     "/usr/share/elasticsearch/jdk/bin/java -Xms4g -Xmx4g --module-path /usr/share/elasticsearch/lib -m "
     "org.elasticsearch.server/org.elasticsearch.bootstrap.Elasticsearch"},
    {"database", "java", "/usr/lib/jvm/java-11-openjdk-amd64/bin/java",
     "java -ea -Xms8G -Dcassandra.logdir=/var/log/cassandra org.apache.cassandra.service.CassandraDaemon"},
    {"database", "java", "/usr/lib/jvm/java-17/bin/java",
     "/usr/share/opensearch/jdk/bin/java org.opensearch.bootstrap.OpenSearch"},

    {"cache", "redis-server", "/usr/bin/redis-check-rdb", "/usr/bin/redis-server 127.0.0.1:6379"},
    {"cache", "redis-server", "/usr/bin/redis-check-rdb", "redis-server *:6379 [cluster]"},
    {"cache", "valkey-server", "/usr/bin/valkey-server", "/usr/bin/valkey-server *:6379"},
    {"cache", "memcached", "/usr/bin/memcached", "/usr/bin/memcached -m 64 -p 11211 -u memcache -l 127.0.0.1"},
    {"cache", "varnishd", "/usr/sbin/varnishd", "/usr/sbin/varnishd -j unix,user=vcache -F -a :6081"},

    {"messaging", "java", "/usr/lib/jvm/java-17/bin/java",
     "java -Xmx1G -cp /opt/kafka/libs/* kafka.Kafka /opt/kafka/config/server.properties"},
    {"messaging", "java", "/usr/lib/jvm/java-17/bin/java",
     "java -cp /opt/zk org.apache.zookeeper.server.quorum.QuorumPeerMain zoo.cfg"},
    {"messaging", "beam.smp", "/usr/lib/erlang/erts-13.1.5/bin/beam.smp",
     "/usr/lib/erlang/erts-13.1.5/bin/beam.smp -W w -MBas ageffcbf -- -root /usr/lib/erlang -s rabbit boot"},
    {"messaging", "nats-server", "/usr/bin/nats-server", "/usr/bin/nats-server -c /etc/nats.conf"},
    {"messaging", "mosquitto", "/usr/sbin/mosquitto", "/usr/sbin/mosquitto -c /etc/mosquitto/mosquitto.conf"},

    {"web-server", "nginx", "/usr/sbin/nginx",
     "nginx: master process /usr/sbin/nginx -g daemon on; master_process on;"},
    {"web-server", "nginx", "/usr/sbin/nginx", "nginx: worker process"},
    {"web-server", "apache2", "/usr/sbin/apache2", "/usr/sbin/apache2 -k start"},
    {"web-server", "httpd", "/usr/sbin/httpd", "/usr/sbin/httpd -DFOREGROUND"},
    {"web-server", "caddy", "/usr/bin/caddy", "/usr/bin/caddy run --environ --config /etc/caddy/Caddyfile"},
    {"web-server", "lighttpd", "/usr/sbin/lighttpd", "/usr/sbin/lighttpd -D -f /etc/lighttpd/lighttpd.conf"},

    {"proxy", "haproxy", "/usr/sbin/haproxy", "/usr/sbin/haproxy -Ws -f /etc/haproxy/haproxy.cfg"},
    {"proxy", "envoy", "/usr/bin/envoy", "envoy -c /etc/envoy/envoy.yaml"},
    {"proxy", "traefik", "/usr/bin/traefik", "traefik --providers.docker"},
    {"proxy", "squid", "/usr/sbin/squid", "(squid-1) --kid squid-1 --foreground -sYC"},
    {"proxy", "pgbouncer", "/usr/sbin/pgbouncer", "/usr/sbin/pgbouncer /etc/pgbouncer/pgbouncer.ini"},

    {"kubernetes", "kubelet", "/usr/bin/kubelet", "/usr/bin/kubelet --config=/var/lib/kubelet/config.yaml"},
    {"kubernetes", "kube-apiserver", "/usr/local/bin/kube-apiserver", "kube-apiserver --advertise-address=10.0.0.1"},
    {"kubernetes", "kube-proxy", "/usr/local/bin/kube-proxy", "/usr/local/bin/kube-proxy --config=/x.conf"},
    {"kubernetes", "coredns", "/coredns", "/coredns -conf /etc/coredns/Corefile"},
    {"kubernetes", "k3s-server", "/usr/local/bin/k3s", "/usr/local/bin/k3s server"},
    {"kubernetes", "flanneld", "/opt/bin/flanneld", "/opt/bin/flanneld --ip-masq --kube-subnet-mgr"},
    {"kubernetes", "pause", "/pause", "/pause"},

    {"container", "dockerd", "/usr/bin/dockerd", "/usr/bin/dockerd -H fd://"},
    {"container", "containerd", "/usr/bin/containerd", "/usr/bin/containerd"},
    {"container", "containerd-shim", "/usr/bin/containerd-shim-runc-v2",
     "/usr/bin/containerd-shim-runc-v2 -namespace moby -id 9f86d081884c -address /run/containerd/containerd.sock"},
    {"container", "docker-proxy", "/usr/bin/docker-proxy", "/usr/bin/docker-proxy -proto tcp -host-ip 0.0.0.0"},
    {"container", "conmon", "/usr/bin/conmon", "/usr/bin/conmon --api-version 1 -c 9f86d081884c"},
    {"container", "crio", "/usr/bin/crio", "/usr/bin/crio"},

    {"monitoring", "node_exporter", "/usr/bin/node_exporter", "/usr/bin/node_exporter --web.listen-address=:9100"},
    {"monitoring", "prometheus", "/usr/bin/prometheus", "/usr/bin/prometheus --storage.tsdb.retention=30d"},
    {"monitoring", "prometheus-node", "/usr/bin/prometheus-node-exporter", "/usr/bin/prometheus-node-exporter"},
    {"monitoring", "grafana", "/usr/share/grafana/bin/grafana",
     "/usr/share/grafana/bin/grafana server --config=/etc/grafana/grafana.ini"},
    {"monitoring", "zabbix_agentd", "/usr/sbin/zabbix_agentd", "/usr/sbin/zabbix_agentd: listener #1 [waiting]"},
    {"monitoring", "telegraf", "/usr/bin/telegraf", "/usr/bin/telegraf -config /etc/telegraf/telegraf.conf"},
    {"monitoring", "netdata", "/usr/sbin/netdata", "/usr/sbin/netdata -P /run/netdata/netdata.pid -D"},
    {"monitoring", "agent", "/opt/datadog-agent/bin/agent/agent", "/opt/datadog-agent/bin/agent/agent run"},
    {"monitoring", "filebeat", "/usr/share/filebeat/bin/filebeat", "/usr/share/filebeat/bin/filebeat -c x.yml"},
    {"monitoring", "atop", "/usr/bin/atop", "/usr/bin/atop -w /var/log/atop/atop_20261120 600"},
    {"monitoring", "snmpd", "/usr/sbin/snmpd", "/usr/sbin/snmpd -LOw -u Debian-snmp -f"},

    {"cron", "cron", "/usr/sbin/cron", "/usr/sbin/cron -f"},
    {"cron", "cron", "/usr/sbin/cron", "/usr/sbin/CRON -f"},
    {"cron", "crond", "/usr/sbin/crond", "/usr/sbin/crond -n"},
    {"cron", "atd", "/usr/sbin/atd", "/usr/sbin/atd -f"},

    {"ssh", "sshd", "/usr/sbin/sshd", "sshd: /usr/sbin/sshd -D [listener] 0 of 10-100 startups"},
    {"ssh", "sshd", "/usr/sbin/sshd", "sshd: deploy@pts/0"},
    {"ssh", "sshd-session", "/usr/lib/openssh/sshd-session", "sshd-session: deploy [priv]"},
    {"ssh", "ssh", "/usr/bin/ssh", "ssh -p 22 web1"},
    {"ssh", "sftp-server", "/usr/lib/openssh/sftp-server", "/usr/lib/openssh/sftp-server"},

    {"systemd", "systemd", "/usr/lib/systemd/systemd", "/sbin/init"},
    {"systemd", "systemd", "/usr/lib/systemd/systemd", "/lib/systemd/systemd --user"},
    {"systemd", "systemd-journal", "/usr/lib/systemd/systemd-journald", "/lib/systemd/systemd-journald"},
    {"systemd", "(sd-pam)", "/usr/lib/systemd/systemd", "(sd-pam)"},
    {"systemd", "dbus-daemon", "/usr/bin/dbus-daemon", "/usr/bin/dbus-daemon --system --address=systemd: --nofork"},
    {"systemd", "polkitd", "/usr/lib/polkit-1/polkitd", "/usr/lib/polkit-1/polkitd --no-debug"},
    {"systemd", "agetty", "/usr/sbin/agetty", "/sbin/agetty -o -p -- \\u --noclear - linux"},
    {"systemd", "rsyslogd", "/usr/sbin/rsyslogd", "/usr/sbin/rsyslogd -n -iNONE"},

    {"php", "php-fpm8.2", "/usr/sbin/php-fpm8.2", "php-fpm: master process (/etc/php/8.2/fpm/php-fpm.conf)"},
    {"php", "php-fpm8.2", "/usr/sbin/php-fpm8.2", "php-fpm: pool www"},
    {"php", "php", "/usr/bin/php8.2", "/usr/bin/php8.2 artisan queue:work"},

    {"ruby", "ruby", "/usr/bin/ruby3.1", "puma 5.6.5 (tcp://0.0.0.0:3000) [shop]"},
    {"ruby", "ruby", "/usr/bin/ruby3.1", "sidekiq 6.5.12 shop [0 of 10 busy]"},
    {"ruby", "ruby", "/usr/bin/ruby3.1", "/usr/bin/ruby3.1 /usr/bin/puppet agent"},
    {"ruby", "bundle", "/usr/bin/ruby3.1", "unicorn master -c config/unicorn.rb"},

    {"node", "node", "/usr/bin/node", "node /srv/app/server.js"},
    {"node", "node", "/usr/bin/node", "/usr/bin/node --max-old-space-size=4096 dist/main.js"},
    {"node", "PM2 v5.3.0: God", "/usr/bin/node", "PM2 v5.3.0: God Daemon (/root/.pm2)"},
    {"node", "npm start", "/usr/bin/node", "npm start"},
    {"node", "next-server", "/usr/bin/node", "next-server (v14.1.0)"},

    {"python", "python3", "/usr/bin/python3.11", "/usr/bin/python3 -m http.server 8000"},
    {"python", "python3.11", "/usr/bin/python3.11", "python3.11 /srv/app/manage.py runserver"},
    {"python", "gunicorn", "/usr/bin/python3.11", "/srv/venv/bin/python /srv/venv/bin/gunicorn shop.wsgi"},
    {"python", "gunicorn: maste", "/usr/bin/python3.11", "gunicorn: master [shop.wsgi]"},
    {"python", "uwsgi", "/usr/bin/uwsgi-core", "/usr/bin/uwsgi --ini /etc/uwsgi/app.ini"},
    {"python", "celery", "/usr/bin/python3.11", "[celeryd: celery@web1:MainProcess] -active- (worker)"},

    {"jvm", "java", "/usr/lib/jvm/java-17-openjdk-amd64/bin/java", "/usr/bin/java -Xmx2g -jar /opt/app/app.jar"},
    {"jvm", "java", "/usr/lib/jvm/java-17-openjdk-amd64/bin/java",
     "/usr/lib/jvm/java-17-openjdk-amd64/bin/java -Dcatalina.home=/usr/share/tomcat10 "
     "org.apache.catalina.startup.Bootstrap start"},
    {"jvm", "jenkins", "/usr/lib/jvm/java-17/bin/java", "java -jar /usr/share/java/jenkins.war --httpPort=8080"},

    // Samples of ChromeOS, for the rules of systemd/examples/chromeos.toml.
    {"other", "crosvm", "/usr/bin/crosvm", "/usr/bin/crosvm run --android-fstab /run/arcvm/host_generated/fstab"},
    {"other", "crosvm", "/usr/bin/crosvm", "/usr/bin/crosvm --extended-status run --cpus 8 --socket /run/vm/vm.x"},
    {"other", "chrome", "/opt/google/chrome/chrome", "/opt/google/chrome/chrome --type=renderer --lang=en"},
    {"other", "chrome", "/opt/google/chrome/chrome", "/opt/google/chrome/chrome --type=gpu-process --x"},
    {"other", "chrome", "/opt/google/chrome/chrome", "/opt/google/chrome/chrome --type=utility --x"},
    {"other", "chrome", "/opt/google/chrome/chrome", "/opt/google/chrome/chrome --ozone-platform=drm"},

    {"other", "bash", "/usr/bin/bash", "-bash"},
    {"other", "sleep", "/usr/bin/sleep", "sleep 60"},
    {"other", "vim", "/usr/bin/vim.basic", "vim /etc/nginx/nginx.conf"},
    {"other", "less", "/usr/bin/less", "less postgres: x"},
});

}  // namespace

std::span<const CategorySampleLine> category_samples() {
  return kSamples;
}

}  // namespace memoir
