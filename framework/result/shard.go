package result

import (
	"context"
	"slices"
)

// OpenShard is OpenRuns for the runs of a shard alone, which has tells. It does not open files
// that another shard of the same division made. It ends with the context's cause when that is
// done.
func OpenShard(ctx context.Context, dir string, shard, shards int, has func(Key) bool) (*Runs, error) {
	return again(func() (*Runs, error) {
		names, err := RecordFiles(dir)
		if err != nil {
			return nil, err
		}
		names = slices.DeleteFunc(names, func(name string) bool {
			o, _ := ParseRecordsName(name)
			return o.Shards == shards && o.Shard != shard
		})
		r, err := OpenFiles(ctx, names)
		if err != nil {
			return nil, err
		}
		r.Entries = slices.DeleteFunc(r.Entries, func(e Entry) bool { return !has(e.Key) })
		return r, nil
	})
}
