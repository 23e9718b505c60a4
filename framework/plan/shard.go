package plan

import (
	"fmt"
	"strconv"
	"strings"
)

// Shard is a part of the runs of an experiment: shard Index, counted from 0, of Of.
// The zero value is the whole experiment.
type Shard struct{ Index, Of int }

// MostShards is the largest number of shards of an experiment.
const MostShards = 1_000_000

// ParseShard reads I/N, with I from 0 to N-1.
func ParseShard(text string) (Shard, error) {
	index, of, ok := strings.Cut(text, "/")
	i, err1 := strconv.Atoi(index)
	n, err2 := strconv.Atoi(of)
	switch {
	case !ok || err1 != nil || err2 != nil || n < 1 || i < 0:
		return Shard{}, fmt.Errorf("a shard is I/N such as 0/50, not %q", text)
	case n > MostShards:
		return Shard{}, fmt.Errorf("an experiment has at most %d shards, not %d", MostShards, n)
	case i >= n:
		return Shard{}, fmt.Errorf("there is no shard %s: shards count from 0, so the last of %d is %d/%d", text, n, n-1, n)
	}
	return Shard{i, n}, nil
}

// String is I/N.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Of) }

// runs lists the runs of the shard from first to last of a cell whose run 0 has a number,
// in increasing order. Runs are numbered cell by cell: run r of cell c of an experiment
// with n runs is c·n + r. So each shard has runs of every cell, and slow agents are
// spread.
func (s Shard) Runs(number, first, last int) (list []int) {
	step := max(1, s.Of)
	first += ((s.Index-number-first)%step + step) % step
	list = make([]int, 0, max(0, last-first+step)/step)
	for run := first; run <= last; run += step {
		list = append(list, run)
	}
	return list
}

// Ranges writes increasing numbers as 0-3,7, as Slurm reads them.
func Ranges(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		part := strconv.Itoa(numbers[i])
		if j > i {
			part += "-" + strconv.Itoa(numbers[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ",")
}
