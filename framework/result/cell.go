package result

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rlrun/rlrun/internal/printable"
)

// CSVCell returns a cell of a CSV file. Control characters and format characters are
// replaced by U+FFFD. A text that a spreadsheet would take for a formula gets an apostrophe
// in front. Some spreadsheets leave out what cannot be seen before a formula, and some take
// wide signs for narrow ones.
func CSVCell(field string) string {
	field = printable.Text(field)
	begin := strings.TrimLeftFunc(field, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) })
	if r, _ := utf8.DecodeRuneInString(begin); begin == "" || !strings.ContainsRune("=+-@＝＋－＠", r) {
		return field
	}
	for word := range strings.FieldsSeq(field) {
		if _, err := strconv.ParseFloat(word, 64); err != nil {
			return "'" + field
		}
	}
	return field // numbers
}

// CSVNumber returns a number as a cell of a CSV file.
func CSVNumber(x float64) string {
	if math.IsNaN(x) {
		return "NaN"
	}
	return string(appendFloat(nil, x))
}
