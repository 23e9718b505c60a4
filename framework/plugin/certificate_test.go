package plugin

import (
	"crypto/x509"
	"testing"
	"time"

	"github.com/rlrun/rlrun/internal/must"
)

// A plugin accepts the certificate whatever its clock says.
func TestCertificateOfAnyClock(t *testing.T) {
	secure, _, err := clientTLS()
	must.Do(t, err)
	own := must.Get(x509.ParseCertificate(secure.Certificates[0].Certificate[0]))(t)
	roots := x509.NewCertPool()
	roots.AddCert(own)
	for _, year := range []int{2001, 2048} {
		if _, err := own.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC), DNSName: "localhost"}); err != nil {
			t.Errorf("a clock in %d: %v", year, err)
		}
	}
}
