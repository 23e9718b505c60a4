package docs_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// studyCell returns a cell of a study: of the first table after a text that has the
// row and the column.
func studyCell(t *testing.T, document, after, row, column string) string {
	t.Helper()
	_, text, ok := strings.Cut(read(t, document), after)
	if !ok {
		t.Fatalf("%s: there is no %q", document, after)
	}
	at, header := -1, ""
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case !strings.HasPrefix(line, "|"):
			at, header = -1, ""
		case header == "":
			header, at = line, slices.Index(cells, column)
		case at >= 0 && cells[0] == row:
			return plainNumber(cells[at])
		}
	}
	t.Fatalf("%s: after %q no table has the row %q and the column %q", document, after, row, column)
	return ""
}

// plainNumber writes a number of a page as a program does.
func plainNumber(s string) string {
	return strings.NewReplacer("−", "-", ",", "", "–", "-").Replace(strings.TrimSpace(s))
}

// The numbers of choosing.md are those of the studies. After a study was run
// again, this test shows which numbers of the page must change.
func TestChoosingQuotesStudies(t *testing.T) {
	page := read(t, "choosing.md")
	tables := []struct {
		section, document, after string
		rows, columns            map[string]string // of the page, as the study calls them; as on the page if not here
	}{
		{"Bandits", "paper.md", "is Bayes-optimal: its value is exact", nil, nil},
		{"Finite tasks", "studies/families.md", "## 10,000 steps", map[string]string{
			"`threshold-model`": "threshold model, sup", "`bootstrap-q`": "bootstrap-q", "`optimistic-model`": "optimistic model",
			"`mbie-eb`": "MBIE-EB", "`psrl`, tuned": "PSRL, tuned", "`ucrl2`, tuned": "UCRL2, tuned", "`dyna-q`": "Dyna-Q",
			"ε-greedy `q-learning`": "ε-greedy Q-learning",
		}, nil},
		{"Which rule", "studies/riverswim.md", "## Regret", map[string]string{
			"Algorithm 2 (`optimistic-stochastic`)": "Algorithm 2", "Algorithm 1 (`optimistic`)": "Algorithm 1", "`index`, U": "index U",
			"pairwise (`common-model`), U": "pairwise U",
		}, map[string]string{"pessimistic prior": "pessimistic, γ = 0.99", "optimistic prior": "optimistic, γ = 0.99"}},
	}
	for _, table := range tables {
		rows, _ := tableOf(t, "choosing.md", table.section)
		columns := header(t, page, table.section)
		if len(rows) == 0 {
			t.Fatalf("%s: there is no table", table.section)
		}
		for _, row := range rows {
			name := strings.TrimSpace(row[0])
			if name == "no rule: sampling" { // is not in the study's table of rules
				continue
			}
			if called, ok := table.rows[name]; ok {
				name = called
			}
			for i, column := range columns[1:] {
				if called, ok := table.columns[column]; ok {
					column = called
				}
				got := plainNumber(row[i+1])
				if want := studyCell(t, table.document, table.after, name, column); got != want {
					t.Errorf("%s: %s, %s: the page has %s, %s has %s", table.section, name, column, got, table.document, want)
				}
			}
		}
	}

	const families, river, sea, worth = "studies/families.md", "studies/riverswim.md", "studies/deepsea.md", "studies/worth.md"
	per, short := "The same per episode", "## 1,000 steps"
	for _, q := range []struct {
		says                         string // on the page; its first number is compared
		document, after, row, column string
	}{
		{"with 96 and", families, "## 10,000 steps", "optimistic model", "lock"},
		{"94 in\n", families, "## 10,000 steps", "MBIE-EB", "lock"},
		{"93 of `threshold-model`", families, "## 10,000 steps", "threshold model, sup", "lock"},
		{"−52 there", families, per, "threshold model, sup", "per episode"},
		{"84.7 in the mean", families, per, "threshold model, sup", "mean"},
		{"`optimistic-model` (89.4)", families, per, "optimistic model", "mean"},
		{"`mbie-eb` (82.8)", families, per, "MBIE-EB", "mean"},
		{"89.4 per episode", "studies/episodes.md", "## 10,000 steps", "threshold model, sup, episode", "mean"},
		{"`mbie-eb` 87.6", "studies/episodes.md", "## 10,000 steps", "MBIE-EB", "mean"},
		{"default 30.2", "studies/episodes.md", "## 10,000 steps", "threshold model, sup, step", "mean"},
		{"68.3 for `threshold-model`", families, short, "threshold model, sup", "mean"},
		{"59.2 for `optimistic-model`", families, short, "optimistic model", "mean"},
		{"57.1 for `mbie-eb`", families, short, "MBIE-EB", "mean"},
		{"42.0 for\n", families, short, "bootstrap-q", "mean"},
		{"`optimistic-model` has 92", families, short, "optimistic model", "goals"},
		{"`threshold-model` 59", families, short, "threshold model, sup", "goals"},
		{"0.00094 for `optimistic-model`", families, "The first agent against", "optimistic model", "p, Holm"},
		{"2.2e-05 for `bootstrap-q`", families, "The first agent against", "bootstrap-q", "p, Holm"},
		{"3.1e-09 for `mbie-eb`", families, "The first agent against", "MBIE-EB", "p, Holm"},
		{"35.9 to 72.3", families, "## 10,000 steps", "PSRL", "mean"},
		{"72.3.", families, "## 10,000 steps", "PSRL, tuned", "mean"},
		{"44 of `optimistic-model`", sea, "# ", "optimistic model", "N = 20"},
		{"44 of `optimistic-model`", sea, "# ", "R-MAX, m = 1", "N = 20"},
		{"44 of `optimistic-model`", sea, "# ", "MBIE-EB, β = 0.01", "N = 20"},
		{"591 of Q-learning", sea, "# ", "optimistic Q-learning", "N = 20"},
		{"2,360 of Algorithm 2", sea, "# ", "Algorithm 2 on 16 tables", "N = 20"},
		{"8,527 of εz-greedy", sea, "# ", "εz-greedy Q-learning", "N = 20"},
		{"900 ± 180 with it", river, "Others, regret", "PSRL", "regret"},
		{"456 ± 111 with the sparse prior", river, "Others, regret", "PSRL, sparse prior", "regret"},
		{"45 ± 16 if", river, "Others, regret", "greedy, optimistic", "regret"},
		{"3,540 ± 316 if", river, "Others, regret", "greedy, pessimistic", "regret"},
		{"167 to 281", river, "## Regret", "Algorithm 2", "pessimistic, γ = 0.9"},
		{"281.", river, "## Regret", "Algorithm 2", "pessimistic, γ = 0.999"},
		{"177 ± 51 | 76", river, "Others, regret", "sampling, pessimistic", "regret"},
		{"76 ± 16 |", river, "Others, regret", "sampling, optimistic", "regret"},
	} {
		if !strings.Contains(page, q.says) {
			t.Errorf("the page does not say %q", q.says)
			continue
		}
		got, want := figures(q.says), figures(studyCell(t, q.document, q.after, q.row, q.column))
		if len(got) == 0 || len(want) == 0 || got[0] != want[0] {
			t.Errorf("the page says %q; %s has %v for %s, %s", q.says, q.document, want, q.row, q.column)
		}
	}
	if !strings.Contains(read(t, "paper.md"), "by 294 [268, 320]") || !strings.Contains(page, "by 294 [268, 320]") {
		t.Error("Thompson sampling against ε-greedy: choosing.md and paper.md differ")
	}
	// One row of worth.md, rounded: the optimum, never exploring, the threshold, Thompson sampling.
	for column, want := range map[string]string{"optimum": "33.509", "never exploring": "3.509", "threshold, sup": "0.049", "Thompson sampling": "3.365 ± 0.345"} {
		if got := studyCell(t, worth, "# ", "60", column); got != want {
			t.Errorf("%s: %s is now %s: choosing.md says 33.5, 3.5, 0.05, 3.4", worth, column, got)
		}
	}
}

// header returns the cells of the first line of the table in a section.
func header(t *testing.T, page, section string) (cells []string) {
	t.Helper()
	_, text, _ := strings.Cut(page, "\n## "+section+"\n")
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "|") {
			for cell := range strings.SplitSeq(strings.Trim(line, "|\n"), "|") {
				cells = append(cells, strings.TrimSpace(cell))
			}
			return cells
		}
	}
	t.Fatalf("%s: there is no table", section)
	return nil
}

// figures returns the numbers in a text.
func figures(s string) []string {
	return regexp.MustCompile(`-?\d+(?:\.\d+)?`).FindAllString(plainNumber(s), -1)
}
