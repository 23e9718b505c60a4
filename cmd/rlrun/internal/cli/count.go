package cli

import (
	"fmt"
	"math/big"

	"github.com/spf13/pflag"
)

// CountVar adds a flag for a whole number that may be written as 1e12, as in configs.
func CountVar(fs *pflag.FlagSet, p *int, name string, value int, usage string) {
	*p = value
	fs.Var((*count)(p), name, usage)
}

type count int

func (c *count) String() string { return fmt.Sprint(int(*c)) }
func (c *count) Type() string   { return "int" }

func (c *count) Set(s string) error {
	if len(s) > 40 { // 1e999999999 would take all memory
		return fmt.Errorf("is too long")
	}
	f, _, err := big.ParseFloat(s, 10, 256, big.ToNearestEven)
	if err != nil {
		return err
	}
	n, exact := f.Int64()
	if exact != big.Exact || int64(int(n)) != n {
		return fmt.Errorf("is not a whole number of 64 bits")
	}
	*c = count(n)
	return nil
}
