#!/bin/bash
# A shard that fails is tried three times; the report is made in any case.
cd '/home/ada/my work' || exit 1
{ seq 0 3; seq 7 7; } | parallel --quote --retries 3 --jobs 25% --joblog '/home/ada/50% done/it'\''s/submit/parallel.log' --timeout 7200 \
  /opt/rlrun run '/home/ada/50% done/it'\''s/submit/config.yaml' --out '/home/ada/50% done/it'\''s' --lock /home/ada/rlrun.lock.yaml --scratch /scratch --quiet --shard {}/50 --workers 4
status=$?
/opt/rlrun report '/home/ada/50% done/it'\''s' && exit $status
