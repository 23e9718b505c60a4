#!/bin/bash
#SBATCH --job-name=rlrun-exp
#SBATCH --output='/home/ada/50%% done/it'\''s/submit/shard-%a.log'
#SBATCH --open-mode=append
#SBATCH --partition=cpu
#SBATCH --exclusive
#SBATCH --array=0-3,7
#SBATCH --cpus-per-task=4
#SBATCH --time=02:00:00
#SBATCH --requeue
#SBATCH --signal=B:TERM@120
# exec: the signal reaches rlrun itself. The number of shards is written out, as
# SLURM_ARRAY_TASK_COUNT is that of one submission.
cd '/home/ada/my work' || exit 1
exec env 'RLRUN_PLUGIN_PATH=/opt/my plugins' RLRUN_RUNS= RLRUN_STEPS= RLRUN_SEED= RLRUN_WORKERS= RLRUN_LANES= RLRUN_TRANSPORT= RLRUN_OUTPUT= /opt/rlrun run '/home/ada/50% done/it'\''s/submit/config.yaml' --out '/home/ada/50% done/it'\''s' --lock /home/ada/rlrun.lock.yaml --quiet --shard "$SLURM_ARRAY_TASK_ID/50" --workers "$SLURM_CPUS_PER_TASK"
