"""Floor 3: words at the beginning of a shell command: programs that are known everywhere, and words too plain to keep.

`query.commands` asks here. Data only.
"""

from __future__ import annotations

from typing import Final

PLAIN: Final = frozenset(
    """
alias awk basename bg break case cat cd chmod chown clear command continue cp cut date declare df dirname do done du echo
elif else esac eval exec exit export expr false fg fi file find for function getopts grep head help history if jobs kill less
let ln local ls man mkdir more mv nano open print printf ps pushd popd pwd read readonly return rev rg egrep fgrep rm rmdir
sed select seq set shift shopt sleep sort source stat tail tee test then time times touch tr trap tree true type ulimit umask
unalias uniq unset until vi vim view wait watch wc which while xargs yes
""".split()
)
"""Words of the shell and programs that only look, move or print: anybody writes such a command anew."""

PROGRAMS: Final = frozenset(
    """
ansible ansible-playbook apt apt-get aws az bash biome black brew bun bundle bunx cargo cmake codex composer conda consul
cosign cross curl cypress deno devbox direnv django-admin docker docker-compose dotnet duckdb electron-builder eslint
ffmpeg firebase flake8 flutter fly forge gcc gcloud gem gh git glab go gofmt golangci-lint gradle gulp helm heroku hugo hyperfine
isort java javac jest jq just k6 k9s kind kubectl lerna make mage mise mix mkdocs mocha mongosh mvn mypy mysql mysqldump
netlify next nginx ninja nix node nohup npm npx nx openssl packer pdm perl pg_dump pg_restore php phpunit pip pip3 pipenv
playwright pnpm podman poetry pre-commit prettier psql pulumi pwsh pylint pyright pytest python python3 rails rake redis-cli
rsync rspec ruby ruff rustc rustup sam scp serverless sh shellcheck sqlite3 ssh sudo swift systemctl tailscale tar task
terraform tflint tmux tox trivy tsc tsx turbo twine uv uvicorn uvx vagrant vault vercel vite vitest wget wrangler xcodebuild
yarn zig zip zsh
""".split()
)
"""Programs by which a command is recognised where nobody ran it: in prose and in blocks."""
