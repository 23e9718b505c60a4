"""Builds the documentation site from the pages of docs. Run it with make site.

    build.py RLRUN OUT

RLRUN is the program, whose help texts become the command-line reference and whose schema
becomes a page. OUT is the directory of the site. The Python API is taken from the sources.
A link that leads nowhere is an error.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = "https://github.com/rlrun/rlrun/blob/main"
LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
PAGES = {
    "Start": ["index.md", "tutorial.md", "experiments.md", "choosing.md", "glossary.md"],
    "Guides": [
        "plugins.md",
        "python.md",
        "publishing.md",
        "isolation.md",
        "machines.md",
        "statistics.md",
        "library.md",
    ],
    "Exploration": ["theory.md", "exploration.md", "mixing.md", "paper.md", "agents.md", "classic-control.md"],
    "Reference": [
        "cli.md",
        "schema.md",
        "api.md",
        "protocol.md",
        "performance.md",
        "peers.md",
        "architecture.md",
        "changelog.md",
    ],
}
MODULES = ["rlrun", "rlrun.gym", "rlrun.adapters", "rlrun.testing", "rlrun.results"]


def main() -> None:
    """Write the pages into a directory and build the site."""
    program, out = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as directory:
        pages = Path(directory) / "pages"
        shutil.copytree(ROOT / "docs" / "images", pages / "images")
        for page in sorted((ROOT / "docs").rglob("*.md")):
            copy(page, pages / page.relative_to(ROOT / "docs"), pages)
        copy(ROOT / "README.md", pages / "index.md", pages)
        copy(ROOT / "CHANGELOG.md", pages / "changelog.md", pages)
        (pages / "cli.md").write_text("# Command line\n\n" + "\n".join(commands(program, [])))
        (pages / "schema.md").write_text(schema(program))
        (pages / "api.md").write_text("# Python API\n\n" + "\n".join(f"::: {name}\n" for name in MODULES))
        (pages / "wide.css").write_text(".md-grid { max-width: 76rem }\n")  # tables of 100 columns
        config = Path(directory) / "mkdocs.yml"
        config.write_text(json.dumps(settings(pages, out)))  # JSON is YAML
        subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", config], check=True)
    print(f"{out / 'index.html'}; for the search, which needs a server: python3 -m http.server -d {out}")


def copy(page: Path, to: Path, pages: Path) -> None:
    """Copy a page. Links to files that are not on the site lead to the repository."""

    def relink(link: re.Match[str]) -> str:
        begin, target, end = link.groups()
        if ":" in target:
            return link[0]
        file = (page.parent / target).resolve()
        if not file.exists():
            sys.exit(f"{page.relative_to(ROOT)}: {target} is not there")
        name = file.relative_to(ROOT)
        moved = {"README.md": "index.md", "CHANGELOG.md": "changelog.md"}.get(str(name))
        if moved is None and name.parts[0] == "docs" and file.suffix in {".md", ".svg", ".png"}:
            moved = str(name.relative_to("docs"))
        if moved is None:
            return f"{begin}{SOURCE}/{name}{end}"
        return f"{begin}{relative(pages / moved, to.parent)}{end}"

    text = re.sub(r"^<!-- test:.*-->\n", "", page.read_text(), flags=re.MULTILINE)
    text = re.sub(r"^```output$", "```text", text, flags=re.MULTILINE)
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(LINK.sub(relink, text))


def relative(file: Path, directory: Path) -> str:
    """Return the path of a file as seen from a directory."""
    up = 0
    while not file.is_relative_to(directory):
        directory, up = directory.parent, up + 1
    return "../" * up + file.relative_to(directory).as_posix()


def commands(program: Path, words: list[str]) -> list[str]:
    """Return the help of a command and of those below it."""
    text = subprocess.run([program, *words, "--help"], check=True, capture_output=True, text=True).stdout
    if words and f"  rlrun {' '.join(words)}" not in text.split("Usage:")[-1]:
        return []  # the help of another command: there is none of this name
    lines = [
        f"{'#' * min(2 + len(words), 4)} rlrun {' '.join(words)}".rstrip(),
        "",
        "```text",
        text.rstrip(),
        "```",
        "",
    ]
    inside = False
    for line in text.splitlines():
        if line.endswith("ommands:") or re.fullmatch(r"[A-Z][a-z ]+:", line):
            inside = line not in {"Usage:", "Examples:", "Flags:"}
        elif inside and (found := re.match(r"  ([a-z][a-z-]*)  +\S", line)) and found[1] not in {"help", "completion"}:
            lines += commands(program, [*words, found[1]])
    return lines


def schema(program: Path) -> str:
    """Return the page about the keys of configs."""
    text = subprocess.run([program, "schema"], check=True, capture_output=True, text=True).stdout
    lines = ["# Keys of a config", "", "`rlrun schema` prints the JSON schema. These are its keys.", ""]
    parts = json.loads(text)["$defs"]
    for name, part in {"Config": parts["Config"], **parts}.items():  # the whole first
        lines += [f"## {name}", "", "| key | type | meaning |", "|---|---|---|"]
        for key, value in part.get("properties", {}).items():
            kind = value.get("type") or value.get("$ref", "").removeprefix("#/$defs/")
            lines.append(f"| `{key}` | {kind} | {value.get('description', '').replace('|', chr(92) + '|')} |")
        lines.append("")
    return "\n".join(lines)


def settings(pages: Path, out: Path) -> dict[str, object]:
    """Return the configuration of mkdocs."""
    studies = sorted(p.relative_to(pages).as_posix() for p in (pages / "studies").glob("*.md"))
    listed = {page for group in PAGES.values() for page in group} | set(studies)
    others = sorted(p.relative_to(pages).as_posix() for p in pages.rglob("*.md"))
    rest = [page for page in others if page not in listed]
    python = {"paths": [str(ROOT / "python" / "src")], "options": {"show_bases": False, "show_source": False}}
    navigation = [{title: list(group)} for title, group in PAGES.items()] + [{"Studies": studies}]
    return {
        "site_name": "rlrun",
        "site_description": "When is it worth exploring?",
        "repo_url": "https://github.com/rlrun/rlrun",
        "docs_dir": str(pages),
        "site_dir": str(out),
        "use_directory_urls": False,  # so that it opens from a disk
        "theme": {"name": "material", "font": False, "features": ["navigation.indexes", "search.highlight"]},
        "plugins": ["search", {"mkdocstrings": {"handlers": {"python": python}}}],
        "extra_css": ["wide.css"],
        "markdown_extensions": ["tables", "toc", "pymdownx.superfences", "attr_list"],
        "nav": navigation + ([{"More": rest}] if rest else []),
        "validation": {"links": {"not_found": "warn", "anchors": "info"}, "nav": {"omitted_files": "warn"}},
    }


if __name__ == "__main__":
    main()
