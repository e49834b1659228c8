"""Write the address of the repository into the files of a release.

``python packaging/set_repository.py https://github.com/OWNER/vicinal`` adds the project's addresses to
pyproject.toml, and makes the links of the README absolute, as the page of the package index needs them. The
release workflow runs it on its own copy; the repository keeps relative links, which work in every clone.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

# [text](target) and ![text](target), without addresses and without anchors of the same page.
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)")


def with_absolute_links(text: str, repository: str, version: str) -> str:
    """Links to the files of the tagged version; images to their content."""

    def absolute(match: re.Match[str]) -> str:
        image, label, target = match.groups()
        view = "raw" if image else "blob"
        return f"{image}[{label}]({repository}/{view}/v{version}/{target.removeprefix('./')})"

    return LINK.sub(absolute, text)


def with_addresses(text: str, repository: str) -> str:
    """pyproject.toml with the table of the project's addresses."""
    if "[project.urls]" in text:
        raise SystemExit("pyproject.toml has [project.urls] already.")
    table = f"""[project.urls]
Homepage = "{repository}"
Documentation = "{repository}/tree/main/docs"
Changelog = "{repository}/blob/main/CHANGELOG.md"
Issues = "{repository}/issues"

"""
    before, heading, after = text.partition("[project.optional-dependencies]")
    return before + table + heading + after


def main(root: Path, repository: str) -> None:
    repository = repository.rstrip("/")
    if not re.fullmatch(r"https://[^\s/]+/\S+/\S+", repository):
        raise SystemExit(
            f"{repository!r} is not an address such as https://github.com/OWNER/vicinal."
        )
    project, readme = root / "pyproject.toml", root / "README.md"
    text = project.read_text(encoding="utf-8")
    version = tomllib.loads(text)["project"]["version"]
    changed = with_addresses(text, repository)
    page = with_absolute_links(readme.read_text(encoding="utf-8"), repository, version)
    project.write_text(changed, encoding="utf-8")
    readme.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(Path(__file__).parents[1], sys.argv[1])
