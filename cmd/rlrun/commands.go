package main

import (
	"github.com/spf13/cobra"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/compactcmd"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/comparecmd"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/explaincmd"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/exportcmd"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/host"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/licensescmd"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/mdpcmd"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/plugincmd"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/runcmd"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/servecmd"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/statuscmd"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/submitcmd"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/thresholdcmd"
	"github.com/rlrun/rlrun/cmd/rlrun/internal/tunecmd"
)

// groups are the headings of the help.
var groups = []*cobra.Group{
	{ID: "experiments", Title: "Experiments:"},
	{ID: "questions", Title: "Questions:"},
	{ID: "plugins", Title: "Environments and agents:"},
}

// commands lists all commands of rlrun. A new one is a package in internal and a
// line here.
var commands = []struct {
	group string // ID of the heading; "" for none
	make  func(*host.App) *cobra.Command
	keeps bool // an interrupt waits until what is finished is kept
}{
	{"experiments", runcmd.New, true},
	{"experiments", tunecmd.New, true},
	{"experiments", tunecmd.NewSensitivity, false},
	{"experiments", runcmd.NewEvaluate, true},
	{"experiments", runcmd.NewReport, false},
	{"experiments", submitcmd.New, true},
	{"experiments", runcmd.NewDecide, false},
	{"experiments", statuscmd.New, false},
	{"experiments", explaincmd.New, false},
	{"experiments", compactcmd.New, true},
	{"experiments", comparecmd.New, false},
	{"experiments", comparecmd.NewPower, false},
	{"experiments", servecmd.New, true},
	{"experiments", exportcmd.New, false},
	{"questions", thresholdcmd.New, false},
	{"questions", mdpcmd.New, false},
	{"plugins", plugincmd.New, false},
	{"plugins", plugincmd.NewSchema, false},
	{"", newVersion, false},
	{"", licensescmd.New, false},
}
