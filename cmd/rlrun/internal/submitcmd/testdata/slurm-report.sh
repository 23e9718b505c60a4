#!/bin/bash
#SBATCH --job-name=rlrun-exp-report
#SBATCH --output='/home/ada/50%% done/it'\''s/submit/report.log'
#SBATCH --open-mode=append
#SBATCH --partition=cpu
#SBATCH --exclusive
exec /opt/rlrun report '/home/ada/50% done/it'\''s'
