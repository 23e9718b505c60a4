package submitcmd

import (
	"embed"
	"encoding/json"
	"strings"
	"text/template"

	"go.yaml.in/yaml/v3"

	"github.com/rlrun/rlrun/cmd/rlrun/internal/cli"
)

//go:embed templates
var templateFiles embed.FS

// templates are those of the files of DIR/submit, named TARGET-FILE.tmpl. Words of a shell come quoted;
// yaml writes a text as a scalar, and entry a key with a text of several lines.
var templates = template.Must(template.New("").Funcs(template.FuncMap{"sbatch": directive, "yaml": scalar, "entry": entry}).ParseFS(templateFiles, "templates/*.tmpl"))

// render makes a file of a target.
func render(target, name string, data map[string]any) file {
	var b strings.Builder
	cli.Must(templates.ExecuteTemplate(&b, target+"-"+name+".tmpl", data))
	return file{name, b.String()}
}

// scalar writes a text in one line of YAML.
func scalar(text string) string {
	data, err := yaml.Marshal(text)
	if line := strings.TrimSuffix(string(data), "\n"); err == nil && !strings.Contains(line, "\n") {
		return line
	}
	data, err = json.Marshal(text)
	cli.Must(err)
	return string(data)
}

// entry writes a key and a text, two columns in.
func entry(key, text string) string {
	var b strings.Builder
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	cli.Must(enc.Encode(map[string]string{key: text}))
	cli.Must(enc.Close())
	return "  " + strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\n", "\n  ")
}
