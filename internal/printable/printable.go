// Package printable replaces characters in texts of others that a terminal would obey, or
// that would change how their neighbours are shown, and breaks long lines.
package printable

import (
	"encoding/hex"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"
)

// colours are the escape sequences that only change how text looks.
var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Text replaces hidden characters, and bytes that are no UTF-8, by U+FFFD. Sequences that
// only set colours are removed.
func Text(s string) string {
	plain := true
	for i := 0; i < len(s) && plain; i++ {
		plain = s[i] >= ' ' && s[i] < 0x7f || s[i] == '\n' || s[i] == '\t'
	}
	if plain {
		return s
	}
	if strings.Contains(s, "\x1b") { // the expression takes long to find none
		s = colours.ReplaceAllString(s, "")
	}
	return strings.Map(func(r rune) rune {
		if Hidden(r) {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
}

// Hidden tells control characters and Unicode's format characters, such as those that
// reverse the direction of text. Line breaks and tabs are none.
func Hidden(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || r > unicode.MaxASCII && unicode.Is(unicode.Cf, r))
}

// escapes are those of JSON; of two backslashes the second begins none.
var escapes = regexp.MustCompile(`\\(u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)`)

// JSON replaces hidden characters in JSON, also escaped ones.
func JSON(text string) string {
	return escapes.ReplaceAllStringFunc(Text(text), func(escape string) string {
		if escape == `\b` || escape == `\f` || escape == `\r` || escape[1] == 'u' && Hidden(unescape(escape)) {
			return string(utf8.RuneError)
		}
		return escape
	})
}

// unescape returns the character of \uXXXX, or of two that are a surrogate pair.
func unescape(escape string) rune {
	unit := func(s string) rune {
		b, _ := hex.DecodeString(s)
		return rune(b[0])<<8 | rune(b[1])
	}
	if len(escape) > 6 {
		return utf16.DecodeRune(unit(escape[2:6]), unit(escape[8:12]))
	}
	return unit(escape[2:6])
}

// Wrap breaks a text that is wider than width characters into lines, between words where it
// can. All lines but the first begin with indent, which does not count.
func Wrap(s string, width int, indent string) string {
	lines := strings.Split(text.WrapSoft(s, width), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ") // with which WrapSoft fills lines
	}
	return strings.Join(lines, "\n"+indent)
}
