package page

import (
	"fmt"
	"io"
	"strings"

	"github.com/rlrun/rlrun/framework/compare"
	"github.com/rlrun/rlrun/framework/output"
	"github.com/rlrun/rlrun/framework/result"
	"github.com/rlrun/rlrun/framework/store"
)

// File is the page of results in an output directory.
const File = "report.html"

// Output makes the page.
var Output = output.Output{
	Name: "report",
	Doc:  File + ": a page of curves and tables that opens offline",
	Write: func(r *output.Results, directory string) ([]string, error) {
		p, err := Of(r, true)
		if err != nil {
			return nil, err
		}
		return []string{File}, output.File(directory, File, func(w io.Writer) error { return WriteHTML(w, r.Summary, p) })
	},
}

// Of returns what the page of an experiment shows besides the summary. If compared is true,
// agents are compared as the config says, or else by their reward with the first one.
func Of(r *output.Results, compared bool) (p Page, err error) {
	p = Page{Smooth: r.Plan.Config.Report.Smooth, Metrics: r.Plan.Config.Report.Metrics, Sweeps: sweeps(r.Plan)}
	if p.Config, err = r.Dir.Text(store.ConfigFile); err != nil {
		return p, err
	}
	if p.Provenance, err = r.Dir.Text(store.ProvenanceFile); err != nil {
		return p, err
	}
	if compared && len(r.Summary.Meta.Agents) > 1 {
		found, err := r.Compare()
		if err != nil && r.Plan.Config.Compare == nil {
			return p, nil // as of runs without rewards
		}
		if err != nil {
			p.Notices = append(p.Notices, fmt.Sprintf("Agents were not compared: %v.", err))
		}
		p.Comparison = found
	}
	return p, nil
}

// Together returns the numbers and the page of several experiments, or of some agents of one. inputs
// are those of the experiments, and agents are called as compare.Agents says.
func Together(inputs []*compare.Input, all []*output.Results) (*result.Summary, Page, error) {
	if len(all) == 1 && inputs[0].Agents == nil {
		p, err := Of(all[0], false)
		return all[0].Summary, p, err
	}
	p := Page{Command: "rlrun compare", Together: true}
	var summaries []*result.Summary
	for _, r := range all {
		if was, is := all[0].Summary.Meta.Axis(), r.Summary.Meta.Axis(); was != is {
			return nil, p, fmt.Errorf("curves of %s are over %s, and those of %s over %s: make a page of each", all[0].Dir.Path, was, r.Dir.Path, is)
		}
		part, err := Of(r, false)
		if err != nil {
			return nil, p, err
		}
		p.Config += "# " + r.Dir.Path + "\n" + part.Config + "\n"
		p.Command += " " + r.Dir.Path
		summaries = append(summaries, r.Summary)
	}
	var err error
	p.Notices, err = apart(all)
	return result.Overlay(summaries, compare.Labels(inputs)), p, err
}

// apart says where numbers of experiments that are shown together mean other things.
func apart(all []*output.Results) (notices []string, err error) {
	type task struct {
		dir    string
		stream compare.Stream
	}
	first, environments := map[string]task{}, map[string][]string{}
	var texts []string
	for _, r := range all {
		streams, _, err := r.Dir.Tasks(r.Plan)
		if err != nil {
			return nil, err
		}
		for _, e := range r.Plan.Environments {
			is := task{r.Dir.Path, streams[e.Name]}
			was, known := first[e.Name]
			if !known {
				first[e.Name] = is
				continue
			}
			if parts := was.stream.Apart(is.stream); len(parts) > 0 {
				text := fmt.Sprintf("%s and %s: %s. Do not compare numbers that depend on it.", was.dir, is.dir, strings.Join(parts, ", "))
				if environments[text] == nil {
					texts = append(texts, text)
				}
				environments[text] = append(environments[text], e.Name)
			}
		}
	}
	for _, text := range texts {
		notices = append(notices, strings.Join(environments[text], ", ")+" in "+text)
	}
	return notices, nil
}
