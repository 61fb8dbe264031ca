"""Floor 9: a corpus with known secrets, and the text of it that holds none: what `aforesaid bench secrets` measures on.

Deterministic: the same seed gives the same cases. `secret_kinds` draws the values, `look_alikes` the clean lines.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from aforesaid.cli.bench import secret_kinds
from aforesaid.cli.bench.secret_kinds import KINDS, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Wrap = Callable[[Kind, str], str]

SEED: Final = 20_261_130
SAMPLES: Final = 3
"""Values of each kind in each wrapping."""


class Case(Struct, frozen=True, kw_only=True):
    """A text with one secret in it.

    Attributes:
        kind, wrapping: what it is made of.
        text: the whole.
        start, end: where the secret stands in it.
    """

    kind: str
    wrapping: str
    text: str
    start: int
    end: int


def _camel(kind: Kind) -> str:
    first, *rest = kind.variable.lower().split("_")
    return first + "".join(map(str.title, rest))


def _lower(kind: Kind) -> str:
    return kind.variable.lower()


def _flag(kind: Kind) -> str:
    return _lower(kind).replace("_", "-")


def _header(kind: Kind) -> str:
    return "X-" + "-".join(map(str.title, kind.variable.split("_")))


def _escaped(value: str) -> str:
    return value.replace("\n", "\\n")


def _indented(value: str, by: str) -> str:
    return "\n".join(by + line for line in value.split("\n"))


_QUOTED: Final[dict[str, Wrap]] = {
    "shell-quoted": lambda kind, value: f'export {kind.variable}="{value}"\necho done',
    "env-quoted": lambda kind, value: f"DEBUG=1\n{kind.variable}='{_escaped(value)}'\nPORT=8080",
    "json": lambda kind, value: f'{{"name": "shop", "{_camel(kind)}": "{_escaped(value)}", "port": 8080}}',
    "json-escaped": lambda kind, value: f'{{"content": "{{\\"{_lower(kind)}\\": \\"{_escaped(value)}\\"}}"}}',
    "yaml-quoted": lambda kind, value: f'services:\n  app:\n    {_lower(kind)}: "{_escaped(value)}"\n    port: 80',
    "toml": lambda kind, value: f'[service]\n{_lower(kind)} = "{_escaped(value)}"\nport = 80',
    "python": lambda kind, value: f'client = connect(user="app", {_lower(kind)}="{_escaped(value)}", retries=3)',
    "python-constant": lambda kind, value: f'{kind.variable} = "{_escaped(value)}"  # set in March',
    "typescript": lambda kind, value: f"const {_camel(kind)}: string = '{_escaped(value)}';",
    "java": lambda kind, value: f'    private static final String {kind.variable} = "{_escaped(value)}";',
    "go": lambda kind, value: f'\t{_camel(kind)} := "{_escaped(value)}"',
    "php": lambda kind, value: f"    '{_lower(kind)}' => '{_escaped(value)}',",
    "environ": lambda kind, value: f'os.environ["{kind.variable}"] = "{_escaped(value)}"',
    "fallback": lambda kind, value: f'const key = process.env.{kind.variable} || "{_escaped(value)}"',
    "kubernetes": lambda kind, value: f'        - name: {kind.variable}\n          value: "{_escaped(value)}"',
    "definition": lambda kind, value: f'#define {kind.variable} "{_escaped(value)}"',
    "flag-quoted": lambda kind, value: f'deploy --env prod --{_flag(kind)} "{_escaped(value)}" --wait',
    "terraform": lambda kind, value: f'  {_lower(kind)}   = "{_escaped(value)}"\n  region = "eu-south-1"',
}
_BARE: Final[dict[str, Wrap]] = {
    "shell": lambda kind, value: f"export {kind.variable}={value}\nmake run",
    "env": lambda kind, value: f"DEBUG=1\n{kind.variable}={value}\nPORT=8080",
    "yaml": lambda kind, value: f"app:\n  {_lower(kind)}: {value}\n  port: 80",
    "ini": lambda kind, value: f"[app]\n{_lower(kind)} = {value}\nport = 80",
    "properties": lambda kind, value: f"app.{_lower(kind)}={value}\napp.port=80",
    "compose": lambda kind, value: f"    environment:\n      - {kind.variable}={value}\n      - PORT=80",
    "docker-run": lambda kind, value: f"docker run -d -e {kind.variable}={value} -p 80:80 shop/app:1.4",
    "flag": lambda kind, value: f"deploy --env prod --{_flag(kind)} {value} --wait",
    "flag-equals": lambda kind, value: f"deploy --env=prod --{_flag(kind)}={value} --wait",
    "header": lambda kind, value: (
        f"GET /v1/items HTTP/1.1\nHost: api.example.com\n{_header(kind)}: {value}\nAccept: */*"
    ),
    "curl-header": lambda kind, value: f"curl -s -H '{_header(kind)}: {value}' https://api.example.com/v1",
    "log": lambda kind, value: f"2026-11-30T02:14:36Z INFO app.boot loaded {_lower(kind)}={value} in 12ms",
    "log-colon": lambda kind, value: f"[boot] {kind.variable}: {value}",
    "xml": lambda kind, value: f"<config><{_camel(kind)}>{value}</{_camel(kind)}><port>80</port></config>",
    "diff": lambda kind, value: f"-{kind.variable}=\n+{kind.variable}={value}\n PORT=80",
    "markdown": lambda kind, value: f"Set `{kind.variable}` to `{value}` before you start.",
    "table": lambda kind, value: f"| {_lower(kind)} | {value} |\n| port | 80 |",
}
_PROSE: Final[dict[str, Wrap]] = {
    "english": lambda kind, value: f"ok, the {kind.english} is {value}, please use it for the import job.",
    "english-colon": lambda kind, value: f"Here is the {kind.english}: {value}",
    "english-ticked": lambda kind, value: f"Use the {kind.english} `{value}` for now.",
    "italian": lambda kind, value: f"la {kind.italian} è {value}, usala per l'importazione",
    "italian-colon": lambda kind, value: f"Ecco la {kind.italian}: {value}",
}
_ADDRESS: Final[dict[str, Wrap]] = {
    "query": lambda kind, value: f"GET https://api.example.com/v1/items?page=2&{_lower(kind)}={value}&sort=asc",
}
_BLOCK: Final[dict[str, Wrap]] = {
    "file": lambda _, value: f"$ cat key.pem\n{value}\n$ ls",
    "here-document": lambda _, value: f"cat > key.pem <<EOF\n{value}\nEOF\nchmod 600 key.pem",
    "fence": lambda _, value: f"Here it is:\n```\n{value}\n```\nThanks",
    "yaml-block": lambda kind, value: f"tls:\n  {_lower(kind)}: |\n{_indented(value, '    ')}\n  port: 443",
    "diff-block": lambda _, value: f"@@ -0,0 +1,9 @@\n{_indented(value, '+')}\n context",
    "quoted-mail": lambda _, value: f"On Monday you wrote:\n{_indented(value, '> ')}\n\nplease revoke it",
    "python-block": lambda kind, value: f'{kind.variable} = """\n{value}\n"""\n',
    "unfinished": lambda _, value: "\n".join(value.split("\n")[:-1]),
}
_HEADERS: Final[tuple[tuple[str, Callable[[Random], str], dict[str, str]], ...]] = (
    ("bearer-header", secret_kinds.opaque, {
        "header": "GET / HTTP/1.1\nAuthorization: Bearer {}\nAccept: */*",
        "curl": 'curl -H "Authorization: Bearer {}" https://api.example.com',
        "json": '{{"headers": {{"Authorization": "Bearer {}", "Accept": "*/*"}}}}',
        "json-escaped": '{{"args": "{{\\"Authorization\\": \\"Bearer {}\\"}}"}}',
        "python": "requests.get(url, headers={{'Authorization': 'Bearer {}'}})",
        "javascript": "xhr.setRequestHeader('Authorization', 'Bearer {}');",
        "log": "DEBUG http > authorization: Bearer {}",
        "yaml": "headers:\n  Authorization: Bearer {}\n",
        "prose": "It answers 401 with Bearer {} since this morning",
        "assignment": 'request.headers["Authorization"] = "Bearer {}"',
    }),
    ("basic-header", secret_kinds.basic, {
        "header": "GET / HTTP/1.1\nAuthorization: Basic {}\nAccept: */*",
        "curl": 'curl -H "Authorization: Basic {}" https://api.example.com',
        "json": '{{"headers": {{"Authorization": "Basic {}", "Accept": "*/*"}}}}',
        "json-escaped": '{{"args": "{{\\"Authorization\\": \\"Basic {}\\"}}"}}',
        "python": "requests.get(url, headers={{'Authorization': 'Basic {}'}})",
        "javascript": "xhr.setRequestHeader('Authorization', 'Basic {}');",
        "log": "DEBUG http > authorization: Basic {}",
        "yaml": "headers:\n  Authorization: Basic {}\n",
        "proxy": "Proxy-Authorization: Basic {}",
        "docker": '{{"auths": {{"registry.example.com": {{"auth": "{}"}}}}}}',
    }),
    ("session-cookie", secret_kinds.session_id, {
        "header": "GET / HTTP/1.1\nCookie: theme=dark; sessionid={}; lang=it\nAccept: */*",
        "set": "HTTP/1.1 200 OK\nSet-Cookie: sid={}; Path=/; HttpOnly; Secure",
        "curl": "curl -H 'Cookie: PHPSESSID={}' https://shop.example.com",
        "json": '{{"headers": {{"cookie": "connect.sid={}"}}}}',
        "json-escaped": '{{"args": "{{\\"Cookie\\": \\"session={}\\"}}"}}',
        "python": "requests.get(url, headers={{'Cookie': 'sessionid={}'}})",
        "log": "DEBUG http > cookie: JSESSIONID={}",
        "yaml": "headers:\n  Cookie: session={}\n",
    }),
    ("command-password", secret_kinds.password, {
        "mysql": "mysql -h db -u root -p{} shop < dump.sql",
        "mysqldump": "mysqldump --single-transaction -uroot -p{} shop",
        "curl": "curl -u admin:{} https://intranet.example.com/api",
        "curl-long": "curl --user 'admin:{}' https://intranet.example.com/api",
        "sshpass": "sshpass -p {} ssh root@10.0.0.4",
        "redis": "redis-cli -h cache -a {} ping",
        "docker": "docker login registry.example.com -u ci -p {}",
        "postgres": "PGPASSWORD={} psql -h db -U shop",
        "netrc": "machine git.example.org\n  login deploy\n  password {}\n",
        "sql": "CREATE USER 'app'@'%' IDENTIFIED BY '{}';",
        "sql-role": "CREATE ROLE app WITH LOGIN PASSWORD '{}';",
        "openssl": "openssl rsa -in key.pem -passin pass:{} -out plain.pem",
    }),
)  # fmt: skip


def wrappings(kind: Kind) -> dict[str, Wrap]:
    """The wrappings in which a kind occurs."""
    if kind.block:
        return _QUOTED | _BLOCK
    if kind.spaced:
        return _QUOTED
    if kind.address:
        return _QUOTED | _BARE | _PROSE
    return _QUOTED | _BARE | _PROSE | _ADDRESS


def cases(samples: int = SAMPLES, seed: int = SEED) -> Iterator[Case]:
    """Every kind in every wrapping that suits it."""
    for kind in KINDS:
        for name, wrap in wrappings(kind).items():
            random = Random(f"{seed} {kind.name} {name}")
            for _ in range(samples):
                value = kind.draw(random)
                whole = wrap(kind, value)
                core = kind.core(value) if kind.core is not None else value
                first, last = (part.strip() for part in (core.partition("\n")[0], core.rpartition("\n")[2]))
                start = whole.index(first)
                end = whole.index(last, start) + len(last)
                yield Case(kind=kind.name, wrapping=name, text=whole, start=start, end=end)
    for kind_name, draw, templates in _HEADERS:
        for name, template in templates.items():
            random = Random(f"{seed} {kind_name} {name}")
            for _ in range(samples):
                value = draw(random)
                whole = template.format(value)
                start = whole.index(value)
                yield Case(kind=kind_name, wrapping=name, text=whole, start=start, end=start + len(value))
