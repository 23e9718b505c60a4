package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rlrun/rlrun/framework/internal/disk"
	"github.com/rlrun/rlrun/framework/internal/tempfile"
	"github.com/rlrun/rlrun/framework/plan"
	"github.com/rlrun/rlrun/internal/lockfile"
)

// Claim makes the output directory if it does not exist. Then it makes sure that
// no other process writes to it until release is called or the process ends. It
// removes temporary files that a process left there when it was killed. If
// another process holds the lock, the error wraps ErrInUse and names it. If the
// lock's name belongs to another file, or to a link, the error says so, and
// nothing is changed.
func (d Dir) Claim() (release func() error, err error) {
	if err := disk.MkdirAll(d.fileSystem(), d.Path); err != nil {
		return nil, err
	}
	if err := d.CheckLinks(); err != nil {
		return nil, err
	}
	lock, err := lockfile.Take(d.path(lockFile))
	var held *lockfile.HeldError
	if errors.As(err, &held) {
		return nil, fmt.Errorf("%s is %w by another rlrun (%s)",
			d.Path, ErrInUse, cmp.Or(held.Holder, "a shard, or one that is just starting"))
	}
	if err != nil {
		return nil, err
	}
	tempfile.RemoveLeft(d.Path)
	return lock.Release, nil
}

// lockWait is how long a shard waits for a process that does it, which may be one
// that a scheduler is just ending.
const lockWait = 30 * time.Second

// claimShard takes the locks of a shard: the lock of the output directory together with
// other shards, its own lock alone. On file systems without locks every process gets
// both: two processes that do one shard write equal records. It waits for a process that
// holds one of them; waiting, if not nil, is then called once with its holder.
func (d Dir) claimShard(ctx context.Context, s plan.Shard, waiting func(held error)) (release func() error, err error) {
	if err := disk.MkdirAll(d.fileSystem(), d.Path); err != nil {
		return nil, err
	}
	if err := d.CheckLinks(); err != nil {
		return nil, err
	}
	all, err := awaitLock(ctx, lockfile.Share, d.path(lockFile), waiting, func(holder string) error {
		return fmt.Errorf("%s is %w by another rlrun (%s), which is no shard", d.Path, ErrInUse, holder)
	})
	if err != nil {
		return nil, err
	}
	var own *lockfile.Lock
	if err = disk.MkdirAll(d.fileSystem(), d.path(shardsDir)); err == nil {
		own, err = awaitLock(ctx, lockfile.Take, d.path(shardsDir+"/"+shardFile(s, ".lock")), waiting, func(holder string) error {
			return fmt.Errorf("shard %s: %w (%s)", s, ErrShardInUse, holder)
		})
	}
	if err != nil {
		return nil, errors.Join(err, all.Release())
	}
	return func() error { return errors.Join(own.Release(), all.Release()) }, nil
}

// awaitLock takes a lock that others may have for a while. held makes the error for one that is not
// free in time.
func awaitLock(ctx context.Context, take func(path string) (*lockfile.Lock, error), path string, waiting func(error), held func(holder string) error) (*lockfile.Lock, error) {
	for began, told := time.Now(), false; ; {
		lock, err := take(path)
		var h *lockfile.HeldError
		if !errors.As(err, &h) {
			return lock, err
		}
		err = held(cmp.Or(h.Holder, "which is just starting"))
		if time.Since(began) > lockWait {
			return nil, err
		}
		if waiting != nil && !told {
			waiting(err)
		}
		told = true
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(200 * time.Millisecond):
		}
	}
}
