"""Floor 3: what looks like the name of a file."""

from __future__ import annotations

from typing import Final

WELL_KNOWN: Final = frozenset((
    "Makefile", "GNUmakefile", "Dockerfile", "Containerfile", "Jenkinsfile", "Vagrantfile", "Gemfile", "Rakefile",
    "Procfile", "Brewfile", "Justfile", "Caddyfile", "Pipfile", "Podfile", "Cartfile", "Fastfile", "Guardfile",
    "Tiltfile", "Earthfile", "Snakefile", "SConstruct", "WORKSPACE", "CODEOWNERS", "LICENSE", "COPYING",
    "AUTHORS", "CHANGELOG", "CONTRIBUTING", "README",
))  # fmt: skip
"""Names without an extension that are files where they are written like this. "TODO" and "VERSION" are words too often."""

EXTENSIONS: Final = frozenset(
    """
py pyi pyx ipynb js mjs cjs jsx ts mts cts tsx vue svelte astro java kt kts scala sc groovy gradle clj cljs rb erb rs go php
pl pm hs erl ex exs ml mli lua jl f90 cob m mm swift dart c h cc cpp cxx hpp hxx cs fs vb asm s sh bash zsh fish ps1 psm1 bat
cmd sql psql html htm xhtml css scss sass less xml xsl xsd svg json jsonl json5 ndjson yaml yml toml ini cfg conf config env
properties csv tsv parquet avro proto graphql gql thrift md mdx rst adoc txt tex bib log lock sum mod pem crt cer key pub p12
jks pdf doc docx xls xlsx ppt pptx odt png jpg jpeg gif webp ico bmp tiff mp3 mp4 wav mov zip tar gz tgz bz2 xz zst 7z rar jar
war whl egg deb rpm dmg exe dll so dylib o a lib bin wasm map snap patch diff rej orig bak tmp swp db sqlite sqlite3 tf tfvars
tfstate hcl nomad cmake mk service socket timer j2 tmpl tpl hbs ejs pug njk liquid ttf woff woff2 po pot mo plist storyboard
xib sln csproj fsproj vcxproj props targets
""".split()
)
"""Extensions, folded."""

HIDDEN: Final = frozenset(("env", "envrc", "gitignore", "gitattributes", "gitmodules", "dockerignore", "editorconfig", "npmrc",
                 "nvmrc", "bashrc", "zshrc", "profile", "vimrc", "eslintrc", "prettierrc", "babelrc", "htaccess",
                 "pre-commit-config", "gitlab-ci", "travis", "python-version", "node-version", "tool-versions",
                 "pypirc", "netrc", "ssh", "aws", "kube", "github", "vscode", "idea", "cursorrules", "claude",
                 "cursor", "husky", "circleci", "devcontainer", "npm", "cargo", "config", "cache", "local", "venv", "git"))  # fmt: skip
"""Names of hidden files and folders behind their dot."""

FOLDERS: Final = frozenset(
    """
src lib libs app apps bin cmd pkg packages internal test tests spec specs docs doc scripts tools config configs conf etc usr
var opt home tmp api web www public static assets dist build out target node_modules vendor modules components pages routes
views models controllers services utils helpers core common shared server client backend frontend infra deploy migrations
db sql data examples fixtures templates styles images
""".split()
)
"""Folders that make two words with a slash between them a path."""

ROLES: Final = frozenset(
    """
client server frontend backend web api mobile test tests build deploy docs examples data code config tools services models views
controllers input output read write dev prod staging core common shared
""".split()
)
"""Folders whose names are words for parts of a system: two of them with a slash between are no path."""

WORDS_AS_DOMAINS: Final = frozenset("it de at us co app local cloud info es".split())
"""Ends of host names that are words: "fix.it" is the border of two sentences."""

NO_HOSTS: Final = frozenset(
    "line lines row rows riga righe step note notes todo page error errors errore warning status code exit http col column fix option".split()
)
"""Words that a number follows behind a colon, and which are no hosts; folded."""
