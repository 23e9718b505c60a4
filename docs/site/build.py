"""Builds the documentation site from the pages of docs. Run it with make site.

    build.py RLRUN OUT

RLRUN is the program, whose help texts become the command-line reference and whose schema
becomes a page. OUT is the directory of the site. The Python API is taken from the sources.
Formulas become MathML, which browsers draw without a script. A link that leads nowhere is an error.
"""

import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert

ROOT = Path(__file__).resolve().parents[2]
SOURCE = "https://github.com/rlrun/rlrun/blob/main"
LINK = re.compile(r"\[([^][]*)\]\(([^)\s#]*)((?:#[^)\s]*)?)\)")
CODE = re.compile(r"^ *```.*?^ *```$", re.DOTALL | re.MULTILINE)
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
UNKNOWN = {r"\lvert": "|", r"\rvert": "|", r"\arg": r"\operatorname{arg}"}  # to latex2mathml
CSS = """
.md-grid { max-width: 76rem }  /* tables of 100 columns */
.md-typeset td code { word-break: normal }
.md-typeset td:first-child code { white-space: nowrap }
math[display=block] { margin: .5em 0; padding: .5em 0; overflow-x: auto }
"""
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
    "Exploration": ["theory.md", "exploration.md", "mixing.md", "paper.md", "agents.md", "classic-control.md", "deep.md"],
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
SLUGS = "!!python/object/apply:pymdownx.slugs.slugify {kwds: {case: lower}}"  # those of GitHub
MODULES = ["rlrun", "rlrun.to_gymnasium", "rlrun.adapters", "rlrun.testing", "rlrun.results"]


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
        (pages / "site.css").write_text(CSS)
        config = Path(directory) / "mkdocs.yml"
        config.write_text(json.dumps(settings(pages, out)).replace('"SLUGS"', SLUGS))  # JSON is YAML
        build = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", config]  # --quiet would hide dead links
        done = subprocess.run(build, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            sys.exit(done.stderr)
    for page in out.rglob("*.html"):
        page.write_text(FORMULA.sub(formula, page.read_text()))
    print(f"{out / 'index.html'}; for the search, which needs a server: python3 -m http.server -d {out}")


def copy(page: Path, to: Path, pages: Path) -> None:
    """Copy a page. Links to files that are not on the site lead to the repository."""

    def relink(link: re.Match[str]) -> str:
        text, target, anchor = link.groups()
        if ":" in target or not target:
            return link[0]
        file = (page.parent / target).resolve()
        if not file.exists():
            sys.exit(f"{page.relative_to(ROOT)}: {target} is not there")
        name = file.relative_to(ROOT)
        moved = {"README.md": "index.md", "CHANGELOG.md": "changelog.md"}.get(str(name))
        if moved is None and name.parts[0] == "docs" and file.suffix in {".md", ".svg", ".png"}:
            moved = str(name.relative_to("docs"))
        if moved is None:
            return f"[{text}]({SOURCE}/{name}{anchor})"
        if text.endswith(".md") and target.endswith(text):
            text = title(file)
        return f"[{text}]({relative(pages / moved, to.parent)}{anchor})"

    text = re.sub(r"^<!-- test:.*-->\n", "", page.read_text(), flags=re.MULTILINE)
    text = re.sub(r"^( *)```math\n(.*?)^ *```$", r"\1$$\n\2\1$$", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^```output$", "```text", text, flags=re.MULTILINE)
    parts, code = CODE.split(text), CODE.findall(text)
    if len(re.findall(r"^# ", "".join(parts), flags=re.MULTILINE)) > 1:  # the contents are of one chapter
        first, *others = re.split(r"(?=^#+ )", parts[0], flags=re.MULTILINE)[1:]
        parts[0] = first + re.sub(r"^#+ ", r"#\g<0>", "".join(others), flags=re.MULTILINE)
        parts[1:] = [re.sub(r"^#+ ", r"#\g<0>", part, flags=re.MULTILINE) for part in parts[1:]]
    parts = [LINK.sub(relink, part) for part in parts]
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text("".join(a + b for a, b in zip(parts, [*code, ""], strict=True)))


def title(page: Path) -> str:
    """Return the heading of a page."""
    return next(line[2:] for line in page.read_text().splitlines() if line.startswith("# "))


def formula(found: re.Match[str]) -> str:
    """Return a formula of a page as MathML."""
    tex = html.unescape(found[2])
    for name, known in UNKNOWN.items():
        tex = tex.replace(name, known)
    drawn: str = convert(tex, display="block" if found[1] == "div" else "inline")
    if left := re.search(r"\\[a-zA-Z]+", drawn):
        sys.exit(f"no MathML for {left[0]} in {tex}")
    return drawn


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
            meaning = html.escape(value.get("description", ""), quote=False)
            lines.append("| " + " | ".join(c.replace("|", "\\|") for c in (f"`{key}`", kind(value), meaning)) + " |")
        lines.append("")
    return "\n".join(lines)


def kind(value: dict[str, Any] | bool) -> str:
    """Return what a key takes, types that have a section with a link to it."""
    if isinstance(value, bool):
        return "anything"
    if name := value.get("$ref", "").removeprefix("#/$defs/"):
        return f"[{name}](#{name.lower()})"
    if parts := value.get("oneOf") or value.get("anyOf"):
        return " or ".join(dict.fromkeys(map(kind, parts)))
    if choices := value.get("enum") or ([value["const"]] if "const" in value else None):
        return ", ".join(f"`{json.dumps(c).strip(chr(34))}`" for c in choices)
    if value.get("type") == "array" and "items" in value:
        return f"list of {kind(value['items'])}"
    return {"object": "mapping", "array": "list"}.get(value.get("type", ""), value.get("type", "anything"))


def settings(pages: Path, out: Path) -> dict[str, object]:
    """Return the configuration of mkdocs."""
    studies = sorted(p.relative_to(pages).as_posix() for p in (pages / "studies").glob("*.md"))
    listed = {page for group in PAGES.values() for page in group} | set(studies)
    others = sorted(p.relative_to(pages).as_posix() for p in pages.rglob("*.md"))
    rest = [page for page in others if page not in listed]
    shown = {"show_bases": False, "show_source": False, "show_root_heading": True, "show_root_full_path": True}
    signatures = {"separate_signature": True, "show_signature_annotations": True, "annotations_path": "brief"}
    options = shown | signatures | {"heading_level": 2}
    python = {"paths": [str(ROOT / "python" / "src")], "options": options}
    navigation = [{title: list(group)} for title, group in PAGES.items()] + [{"Studies": studies}]
    return {
        "site_name": "rlrun",
        "site_description": "When is it worth exploring?",
        "repo_url": "https://github.com/rlrun/rlrun",
        "docs_dir": str(pages),
        "site_dir": str(out),
        "use_directory_urls": False,  # so that it opens from a disk
        "theme": {
            "name": "material",
            "font": False,
            "features": ["navigation.indexes", "navigation.footer", "search.highlight", "content.code.copy"],
        },
        "plugins": ["search", {"mkdocstrings": {"handlers": {"python": python}}}],
        "extra_css": ["site.css"],
        "markdown_extensions": [
            "tables",
            {"toc": {"slugify": "SLUGS"}},
            "pymdownx.superfences",
            {"pymdownx.arithmatex": {"generic": True, "inline_syntax": ["dollar"], "block_syntax": ["dollar"]}},
            "attr_list",
        ],
        "nav": navigation + ([{"More": rest}] if rest else []),
        "validation": {"links": {"not_found": "warn", "anchors": "warn"}, "nav": {"omitted_files": "warn"}},
    }


if __name__ == "__main__":
    main()
