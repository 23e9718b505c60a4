#!/usr/bin/env bash
# A real Slurm of three nodes on this machine, and an experiment of 20 shards on it: a
# task is requeued, a node dies, a task is cancelled and its shard submitted again. The
# report has the same bytes as one process makes. Two minutes at most.
#   .ci/slurm.sh RLRUN
# It needs root, and slurm-wlm and munge of Debian, which it installs by apt. Where it
# cannot, it says so and succeeds. Everything else is in a temporary directory.
set -euo pipefail
rlrun=$(readlink -f "$1")

skip() { echo "skipped: $*"; exit 0; }

[ "$(id -u)" = 0 ] || skip "Slurm's daemons need root"
missing() { for tool in sbatch slurmctld slurmd munged; do command -v "$tool" >/dev/null || echo "$tool"; done; }
if [ -n "$(missing)" ]; then
  command -v apt-get >/dev/null || skip "there is no $(missing | xargs) and no apt-get"
  log=$(mktemp)
  { timeout 60 apt-get update -qq &&
    DEBIAN_FRONTEND=noninteractive timeout 120 apt-get -o DPkg::Lock::Timeout=60 install -y -qq --no-install-recommends slurm-wlm munge; } >"$log" 2>&1 || true
  why=$(tail -n 1 "$log")
  rm "$log"
  [ -z "$(missing)" ] || skip "slurm-wlm and munge cannot be installed: $why"
fi

S=$(mktemp -d)
chmod 755 "$S"
export SLURM_CONF=$S/slurm.conf
host=$(uname -n)
host=${host%%.*}

down() {
  scancel --user=root 2>/dev/null || true
  for pid in "$S"/slurmd.*.pid "$S/slurmctld.pid" "$S/munged.pid"; do
    if [ -s "$pid" ]; then kill "$(cat "$pid")" 2>/dev/null || true; fi
  done
  sleep 1
  rm -rf "$S"
}
trap down EXIT
die() {
  echo "$*"
  squeue -a 2>/dev/null || true
  sinfo -N 2>/dev/null || true
  tail -n 20 "$S"/*.log "$S"/out/submit/*.log 2>/dev/null || true
  exit 1
}

# Four ports that nobody listens on.
for _ in $(seq 50); do
  port=$((20000 + RANDOM % 10000))
  for p in $port $((port + 1)) $((port + 2)) $((port + 3)); do
    if (: >"/dev/tcp/127.0.0.1/$p") 2>/dev/null; then continue 2; fi
  done
  break
done

mkdir "$S/state" "$S"/spool.n{1,2,3}
cat >"$S/slurm.conf" <<CONF
ClusterName=tiny
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$S/munge.socket.2
CredType=cred/munge
SlurmctldPort=$port
StateSaveLocation=$S/state
SlurmdSpoolDir=$S/spool.%n
SlurmctldPidFile=$S/slurmctld.pid
SlurmdPidFile=$S/slurmd.%n.pid
SlurmctldLogFile=$S/slurmctld.log
SlurmdLogFile=$S/slurmd.%n.log
# no systemd, no cgroup plugin, no accounting
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SwitchType=switch/none
MpiDefault=none
# 20 tasks are two arrays
MaxArraySize=12
ReturnToService=2
KillWait=5
MinJobAge=600
SlurmdTimeout=10
JobRequeue=1
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
NodeName=n[1-3] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + 3))] CPUs=2 RealMemory=2000 State=UNKNOWN
PartitionName=main Nodes=n[1-3] Default=YES MaxTime=INFINITE State=UP
CONF
(umask 077; head -c 1024 /dev/urandom >"$S/munge.key")
munged --force --key-file="$S/munge.key" --socket="$S/munge.socket.2" --pid-file="$S/munged.pid" \
  --log-file="$S/munged.log" --seed-file="$S/munged.seed" 2>>"$S/start.log" || die "munged does not start"
slurmctld -c 2>>"$S/start.log" || die "slurmctld does not start"
for n in n1 n2 n3; do slurmd -N "$n" 2>>"$S/start.log" || die "slurmd of $n does not start"; done

# until SECONDS WHAT COMMAND...: waits for the command to succeed
until_true() {
  local most=$1 what=$2
  shift 2
  for _ in $(seq $((most * 5))); do
    if "$@" 2>/dev/null; then return; fi
    sleep 0.2
  done
  die "not in $most s: $what"
}
nodes_up() { [ "$(sinfo -h -N -t idle -o %N | wc -l)" = 3 ]; }
until_true 60 "three nodes are up" nodes_up

cat >"$S/exp.yaml" <<CONF
runs: 100
steps: 8000
lanes: 1
record: {points: 20}
outputs: [csv]
environments:
  - plugin: bernoulli-bandit
    params: {arms: 16}
agents:
  - name: greedy
    plugin: bandit
    params: {policy: {kind: greedy}}
  - name: bayes-ucb
    plugin: bandit
    params: {policy: {kind: bayes-ucb}}
CONF

echo "one process, for comparison"
time "$rlrun" run "$S/exp.yaml" --out "$S/one" --quiet
echo "20 tasks on 6 cores, in two arrays"
out=$S/out
submit() { "$rlrun" submit "$S/exp.yaml" --to slurm --tasks 20 --cpus 1 --time 10m --slurm mem=100 --out "$out" "$@"; }
submit
read -r array second _ <<<"$(sed -n '/"jobs"/,/]/p' "$out/submit/submission.json" | tr -dc '0-9\n' | xargs)"
running() { squeue -h -t running -o %i -j "$array" | grep -q .; }
until_true 60 "a task runs" running

# A task is put back into the queue while it runs, and the last is cancelled before it begins.
requeue() {
  task=$(squeue -h -t running -o %i -j "$array" | head -n 1)
  [ -n "$task" ] && scontrol requeue "$task"
}
until_true 20 "a task is requeued" requeue
scancel "${second}_9"
echo "requeued $task, cancelled ${second}_9"

# A node dies: its daemon, and the shards on it.
echo "node n3 dies with: $(squeue -h -w n3 -t running -o %i | xargs)"
on_n3=$(squeue -h -w n3 -t running -o '%F %K' | while read -r job index; do [ "$job" = "$array" ] && echo "$index" || echo "1$index"; done)
kill -9 "$(cat "$S/slurmd.n3.pid")"
for shard in $on_n3; do
  status=$out/.shards/$shard-of-20.json
  if [ -s "$status" ]; then kill -9 "$(grep '"process"' "$status" | tr -dc 0-9)" 2>/dev/null || true; fi
done

# Slurm puts tasks back that lost their node or were to be requeued, and holds them for two minutes: not here. Shards
# that lost their task are submitted again until none lacks runs.
complete() { [ "$("$rlrun" status "$out" --json | grep -m1 '"missing"' | tr -dc 0-9)" = 0 ]; }
queue_idle() {
  for held in $(squeue -h --array -t pending -o '%i %r' | sed -n 's/ BeginTime$//p'); do scontrol update JobId="$held" StartTime=now; done
  [ -z "$(squeue -h -t running,pending,completing -o '%i %r' | grep -v Dependency)" ]
}
for attempt in 1 2 3; do
  until_true 90 "the queue is empty" queue_idle
  if complete; then break; fi
  echo "submit again ($attempt):"
  "$rlrun" status "$out" | tail -n 4
  submit --missing
done
grep -l restarted "$out"/provenance/shard-*.json >/dev/null || die "no task was requeued"
complete || die "runs are missing"
# The report is that of the job which depends on the last array.
queue_empty() { [ -z "$(squeue -h)" ]; }
until_true 60 "the report is made" queue_empty
for f in curves.csv summary.csv; do
  cmp "$S/one/$f" "$out/$f" || die "$f differs"
  echo "same $f"
done
