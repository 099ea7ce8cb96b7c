#!/bin/bash
# vaglio shard plan pipeline.yaml --of 16 ledger
# sbatch --array=0-15 slurm.sh ledger
# vaglio shard merge ledger
#SBATCH --cpus-per-task=4
#SBATCH --requeue
exec vaglio shard run "$1" --index "$SLURM_ARRAY_TASK_ID" --threads "$SLURM_CPUS_PER_TASK" --wait 1d
