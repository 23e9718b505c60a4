package report

import "github.com/rlrun/rlrun/framework/report/reporttest"

var demo, invented = reporttest.Demo, reporttest.Invented
