"""Links of a page to files and folders of the repository that are not pages: ../tests/parity, ../src/unisono/data.

They lead to `repository_url`, or, while it is empty, to pages of the site that show the files.
"""

import html
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from docutils import nodes
from pygments.lexers import get_lexer_for_filename
from pygments.util import ClassNotFound
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform
from sphinx.util.osutil import relative_uri

FOLDER = "repository"  # of the pages, in the site


class MarkRepositoryLinks(SphinxTransform):
    """Marks links to existing files that are not pages, before Sphinx copies such files as downloads."""

    default_priority = 5

    def apply(self, **kwargs: Any) -> None:
        for kind in (addnodes.download_reference, addnodes.pending_xref):
            for node in list(self.document.findall(kind)):
                path = self._repository_path(node)
                if path is not None:
                    mark = addnodes.pending_xref(
                        "", *node.children, reftype="repository", reftarget=path, refdomain="", refdoc=self.env.docname
                    )
                    node.replace_self(mark)

    def _repository_path(self, node: nodes.Element) -> str | None:
        if node.get("reftype") != "myst" or node["reftarget"] in self.env.found_docs:
            return None
        target = node["reftarget"].partition("#")[0]
        if not target:
            return None
        if node.get("refdomain") == "doc":  # a Markdown file outside the site
            path = self.env.srcdir / (target + ".md")
        else:
            path = (self.env.srcdir / self.env.docname).parent / target
        path = Path(path).resolve()
        if not path.exists() or not path.is_relative_to(self.env.srcdir):
            return None
        return path.relative_to(self.env.srcdir).as_posix()


def resolve_repository_link(
    app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, contents: nodes.Element
) -> nodes.reference | None:
    """The link of a node that `MarkRepositoryLinks` made."""
    if node["reftype"] != "repository":
        return None
    path = node["reftarget"]
    if app.config.repository_url:
        uri = f"{app.config.repository_url}/{path}"
    else:
        _linked_paths(app).add(path)
        uri = app.builder.get_relative_uri(node["refdoc"], _page_name(path))
    return nodes.reference("", "", contents, internal=not app.config.repository_url, refuri=uri)


def make_pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """A page for each linked file and folder, and for what is in the folders."""
    paths = sorted(_linked_paths(app))
    done = set()
    while paths:
        path = paths.pop(0)
        if path in done:
            continue
        done.add(path)
        file = app.srcdir / path
        if Path(file).is_dir():
            children = _children(app, path)
            paths += [child for child in children if child.removesuffix(".md") not in app.env.found_docs]
            body = _list_of_links(app, path, children)
        else:
            body = _highlighted(app, Path(file))
        yield _page_name(path), {"title": path, "body": f"<h1>{html.escape(path)}</h1>\n{body}"}, "page.html"


def _linked_paths(app: Sphinx) -> set[str]:
    if not hasattr(app, "linked_repository_paths"):
        app.linked_repository_paths = set()  # type: ignore[attr-defined]
    return app.linked_repository_paths  # type: ignore[attr-defined, no-any-return]


def _page_name(path: str) -> str:
    return f"{FOLDER}/{path}"


def _children(app: Sphinx, path: str) -> list[str]:
    hidden = {"__pycache__", "__init__.py"}
    names = sorted(child.name for child in Path(app.srcdir / path).iterdir())
    return [f"{path}/{name}" for name in names if name not in hidden and not name.startswith(".")]


def _list_of_links(app: Sphinx, path: str, children: list[str]) -> str:
    items = []
    here = app.builder.get_target_uri(_page_name(path))
    for child in children:
        document = child.removesuffix(".md")
        page = document if document in app.env.found_docs else _page_name(child)
        uri = relative_uri(here, app.builder.get_target_uri(page))
        items.append(f'<li><a href="{html.escape(uri)}"><code>{html.escape(PurePosixPath(child).name)}</code></a></li>')
    return "<ul>" + "\n".join(items) + "</ul>"


def _highlighted(app: Sphinx, file: Path) -> str:
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return f"<p>A file of {file.stat().st_size:,} bytes that is not text.</p>"
    try:
        language = get_lexer_for_filename(file.name).aliases[0]
    except ClassNotFound:
        language = "text"
    return str(app.builder.highlighter.highlight_block(text, language, force=True))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_config_value("repository_url", "", "html")
    app.add_transform(MarkRepositoryLinks)
    app.connect("missing-reference", resolve_repository_link)
    app.connect("html-collect-pages", make_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": False}  # the linked paths are collected while writing
