package result

import "testing"

// No cell of a table starts a formula; numbers stay numbers.
func TestNotFormula(t *testing.T) {
	for in, want := range map[string]string{
		"=cmd|'/c calc'!A0": "'=cmd|'/c calc'!A0", "+1+1": "'+1+1", "@SUM(A1)": "'@SUM(A1)", "-x": "'-x", "\t=1": "'\t=1",
		"\n=1": "'\n=1", " \u200b=1": " \ufffd=1", "a\x1b]52;c;x\a\u202eb": "a\ufffd]52;c;x\ufffd\ufffdb", "＝1": "'＝1", "＋a": "'＋a", " a": " a",
		"-0.5": "-0.5", "+1e3": "+1e3", "": "", "γ=0.9": "γ=0.9", "-Inf": "-Inf", "-0.5 1e-3 -2": "-0.5 1e-3 -2", "-1 -a": "'-1 -a",
	} {
		if got := CSVCell(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}
