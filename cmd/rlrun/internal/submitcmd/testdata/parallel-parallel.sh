#!/bin/bash
# A shard that fails is tried three times; the report is made in any case.
for shard in $(seq 0 3) $(seq 7 7); do
  printf 'cd %q && exec' '/home/ada/my work'
  printf ' %q' env 'RLRUN_PLUGIN_PATH=/opt/my plugins' RLRUN_RUNS= RLRUN_STEPS= RLRUN_SEED= RLRUN_WORKERS= RLRUN_LANES= RLRUN_TRANSPORT= RLRUN_OUTPUT= /opt/rlrun run '/home/ada/50% done/it'\''s/submit/config.yaml' --out '/home/ada/50% done/it'\''s' --lock /home/ada/rlrun.lock.yaml --quiet --shard "$shard/50" --workers 4
  printf '\0'
done | parallel --null --retries 3 --termseq TERM,60000,KILL --jobs 25% --joblog '/home/ada/50% done/it'\''s/submit/parallel.log' --timeout 7200
status=$?
/opt/rlrun report '/home/ada/50% done/it'\''s' || exit
exit $status
