package result

import (
	"bytes"
	"hash/crc32"
)

// A line of a record file ends in a CRC-32C (Castagnoli et al. 1993) of the bytes
// before it, ,"crc32c":"0123abcd"}, in eight hexadecimal digits.
const (
	checksumKey    = `,"crc32c":"`
	checksumLength = len(checksumKey) + 8 + len(`"}`)
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendLine is AppendJSON with the checksum.
func (r *Record) appendLine(dst []byte) []byte {
	start := len(dst)
	dst = r.AppendJSON(dst)
	dst = dst[:len(dst)-1] // the brace
	sum := checksum(dst[start:])
	return append(append(append(dst, checksumKey...), sum[:]...), `"}`...)
}

// checksum returns the CRC-32C of a record's bytes as hexadecimal digits.
func checksum(body []byte) (digits [8]byte) {
	sum := crc32.Checksum(body, castagnoli)
	for i := range digits {
		digits[i] = "0123456789abcdef"[sum>>(28-4*i)&15]
	}
	return digits
}

// splitChecksum returns a line's bytes before its checksum. The line has no line feed.
// The error is errNotOurs if it has no checksum, errChecksum if it has a wrong one.
func splitChecksum(line []byte) (body []byte, err error) {
	cut := len(line) - checksumLength
	if cut < 0 || !bytes.HasSuffix(line, []byte(`"}`)) || !bytes.HasPrefix(line[cut:], []byte(checksumKey)) {
		return nil, errNotOurs
	}
	want := checksum(line[:cut])
	if !bytes.HasPrefix(line[cut+len(checksumKey):], want[:]) {
		return nil, errChecksum
	}
	return line[:cut], nil
}
