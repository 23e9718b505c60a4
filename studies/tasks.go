package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rlrun/rlrun/mdp"
)

// task is a task of a study whose config is generated: its environment in the config, without
// its name, and its model.
type task struct {
	name, kind  string
	environment map[string]any
	model       *mdp.Tabular
}

// modelsDir is where a study whose config is generated keeps its models and its config.
func modelsDir(study string) string { return filepath.Join("results", study+"-models") }

// modelTask returns a task that the environment "model" plays from a file.
func modelTask(study, name, kind string, m *mdp.Tabular) task {
	file := filepath.ToSlash(filepath.Join(modelsDir(study), strings.ReplaceAll(name, " ", "-")+".json"))
	return task{name, kind, map[string]any{"plugin": "model", "params": map[string]any{"file": file}}, m}
}

// writeExperiment writes the models and the config of a study whose config is generated, and
// returns the path of the config.
func writeExperiment(study, description string, runs int, tasks []task, agents []map[string]any, metrics ...string) (string, error) {
	if err := os.MkdirAll(modelsDir(study), 0o755); err != nil {
		return "", err
	}
	var environments []map[string]any
	for _, t := range tasks {
		t.environment["name"] = t.name
		environments = append(environments, t.environment)
		file, ok := t.environment["params"].(map[string]any)["file"].(string)
		if !ok {
			continue
		}
		raw, err := json.Marshal(t.model)
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.FromSlash(file), raw, 0o644); err != nil {
			return "", err
		}
	}
	record := map[string]any{"points": 20, "metrics": append([]string{"reward"}, metrics...)}
	if slices.ContainsFunc(agents, func(a map[string]any) bool { return a["exploration"] != nil }) {
		record["decisions"] = 0
	}
	raw, err := json.MarshalIndent(map[string]any{ // JSON is YAML
		"name": study, "description": description,
		"seed": 1, "runs": runs, "steps": 10_000,
		"environments": environments, "agents": agents,
		"record": record,
		"output": filepath.ToSlash(filepath.Join("results", study)),
	}, "", "  ")
	if err != nil {
		return "", err
	}
	path := filepath.Join(modelsDir(study), "experiment.yaml")
	return path, os.WriteFile(path, raw, 0o644)
}
