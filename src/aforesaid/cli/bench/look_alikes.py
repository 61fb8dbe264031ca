"""Floor 9: lines that hold no secret and look as if they did, for measuring false alarms.

Each template gives as many different lines as are asked for. What stands in braces is drawn: `{hex40}` is 40 digits of a
hash, `{word}` a word, and so on (`_DRAWN`).
"""

from __future__ import annotations

import re
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Final

from aforesaid.cli.bench.secret_kinds import ALNUM, DIGITS, HEX, UPPER, text, uuid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LINES: Final = 6_000
"""Clean lines that are made by default."""

_NOUNS: Final = (
    "user order invoice cart session report cache worker queue upload image filter widget parser token".split()
)
_VERBS: Final = "load parse render fetch update remove check build merge sort read encode".split()

_DRAWN: Final[dict[str, Callable[[Random], str]]] = {
    "word": lambda random: random.choice(_NOUNS),
    "verb": lambda random: random.choice(_VERBS),
    "uuid": uuid,
    "n": lambda random: str(random.randint(2, 9999)),
    "version": lambda random: f"{random.randint(0, 9)}.{random.randint(0, 30)}.{random.randint(0, 30)}",
    "base64": lambda random: text(random, ALNUM + "+/", random.choice((64, 76, 120))),
    "sha512": lambda random: text(random, ALNUM + "+/", 86) + "==",
    "date": lambda random: f"2026-{random.randint(1, 12):02}-{random.randint(1, 28):02}",
    "camel": lambda random: random.choice(_VERBS) + random.choice(_NOUNS).title() + random.choice(_NOUNS).title() + "s",
    "upper": lambda random: f"{random.choice(_NOUNS)}_{random.choice(_VERBS)}".upper(),
    "mini": lambda random: "".join(random.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(random.randint(1, 2))),
    "pod": lambda random: text(random, "bcdfghjklmnpqrstvwxz2456789", 9) + "-" + text(random, "bcdfghjklmnpqrstvwxz2456789", 5),
    "arn": lambda random: text(random, DIGITS, 12),
    "nix": lambda random: text(random, "0123456789abcdfghijklmnpqrsvwxyz", 32),
    "ulid": lambda random: "01J" + text(random, "0123456789ABCDEFGHJKMNPQRSTVWXYZ", 23),
    "caps": lambda random: text(random, UPPER, 6),
}  # fmt: skip

_TEMPLATES: Final = (
    # hashes, objects, ids
    "commit {hex40}", "index {hex7}..{hex7} 100644", "tree {hex40}", "100644 blob {hex40}\tsrc/{word}/{camel}.py",
    "Merge: {hex7} {hex7}", "{hex7} ({date}) {verb} the {word} before the {word}", "HEAD is now at {hex7} {verb} {word} tokens",
    "{hex64}  dist/{word}-{version}.tar.gz", "{hex32}  ./{word}/{word}.bin", "sha256:{hex64}", "etag: W/\"{hex32}\"",
    "docker.io/library/{word}@sha256:{hex64}", "digest: sha256:{hex64} size: {n}", "FROM python:3.12@sha256:{hex64}",
    "request_id={uuid} status=200 duration={n}ms", "traceparent: 00-{hex32}-{hex16}-01", '"id": "{uuid}",', "session {uuid} resumed",
    '"sessionId": "{uuid}",', "x-request-id: {uuid}", "correlationId={uuid}", "idempotency_key: {uuid}", "cache_key={hex64}",
    '"cacheKey": "{hex40}",', "Cache-Key: v2-{hex40}", "build {ulid} finished in {n}s", "pod/{word}-{pod} 1/1 Running 0 {n}m",
    "arn:aws:iam::{arn}:role/{word}-{verb}", "key_id: {uuid}", '"kid": "{hex40}",', "public_key = \"{base64}\"", "fingerprint: SHA256:{sha43}",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{sha43} dev@host", "/nix/store/{nix}-{word}-{version}/bin/{word}", "MD5 ({word}.iso) = {hex32}",
    "{hex8}-{hex4}-4{hex3}-8{hex3}-{hex12}", "0x{hex16} in {camel} at {word}.c:{n}", "nonce: {hex24}", "object {hex40} type commit", "{hex40} refs/heads/{word}-{verb}",
    # lock files
    '      "integrity": "sha512-{sha512}",', '      "resolved": "https://registry.example.org/{word}/-/{word}-{version}.tgz",',
    '    {{file = "{word}-{version}-py3-none-any.whl", hash = "sha256:{hex64}"}},', 'checksum = "{hex64}"', "    --hash=sha256:{hex64} \\",
    "golang.org/x/{word} v{version} h1:{sha43}=", "{word}@^{version}:", '  version "{version}"', '"node_modules/@{word}/{word}": {{', "  integrity sha512-{sha512}",
    "sk-learn=={version}", "pip install sk-learn-{word}-{version}", "sk-learn-contrib-{word}-{verb}-{n}", "import sk_learn_{word}_{verb}_{word}", "sk-learn_{word}_pipeline_{n}_final",
    # encoded data, minified code, styles
    'src="data:image/png;base64,iVBORw0KGgo{base64}"', "iVBORw0KGgoAAAANSUhEUgAA{base64}", "/9j/4AAQSkZJRgABAQ{base64}", "{base64}", '"sourcesContent":["{camel}"],"mappings":"AAAA,{caps},CAAC,{caps}"',
    "var {mini}=function({mini},{mini}){{return {mini}({mini}.key,{mini}.token||{mini})}},{mini}={n};", "!function({mini}){{{mini}.auth=function(){{return {mini}.token}}}}(window);",
    '.{word}-{hex8} {{ color: #{hex6}; background: url("/img/{word}.{hex8}.png") }}', '<script src="/static/js/main.{hex8}.js" integrity="sha384-{sha64}"></script>', "{camel}=e=>e.key===t.key&&e.secret!==void 0,", "__webpack_require__.u=e=>\"static/js/\"+e+\".{hex8}.chunk.js\"",
    # names of code with telling words
    "password = os.environ['{upper}_PASSWORD']", "token = get_{word}_token(user, scope='{verb}')", "const token = await {camel}(req.headers.authorization)", "api_key = config.get('{word}.api_key')", "if not password or len(password) < {n}:",
    "def {verb}_password(self, password: str, salt: bytes) -> str:", "self.token = token", "return {{'token': token, 'user': {word}}}", "max_tokens={n}, temperature=0.2,", '"max_tokens": {n},', "tokens = tokenizer.encode({word})", "input_tokens: {n}, output_tokens: {n}",
    "items.sort(key=lambda item: item.{word})", "for key, value in {word}.items():", '<li key={{`{word}-${{index}}`}}>', "primary_key=True, nullable=False", "FOREIGN KEY ({word}_id) REFERENCES {word}s(id)", "password VARCHAR(255) NOT NULL,", "  password: string;", "  token?: string | null;", "public String getPassword() {{ return password; }}", "private readonly secretKey: string,", "login(user=user, password=password)", "assert token.type == TokenType.{upper}", "token: ${{{{ secrets.GITHUB_TOKEN }}}}", "NPM_TOKEN: ${{{{ secrets.NPM_TOKEN }}}}",
    "export API_KEY=$(vault read -field=key secret/{word})", "DB_PASSWORD=${{DB_PASSWORD:?missing}}", "PGPASSWORD=\"$PGPASSWORD\" psql -h {word}", 'curl -H "Authorization: Bearer $TOKEN" https://api.example.com/{word}', "Authorization: Bearer <token>", "headers['Authorization'] = `Bearer ${{token}}`", "'Authorization': 'Bearer ' + self.{word}_token,", "parser.add_argument('--password', help='the password of the {word}')", 'input type="password" name="password" placeholder="Password" autocomplete="current-password"', "<label for=\"password\">Password</label>", "cipher = Cipher(algorithms.AES(key), modes.GCM(iv))", "keyboard.on('key', event => {camel}(event.key))", "KEY_{upper} = {n}", "secret_name = '{word}-{verb}-secret'", "secretKeyRef: {{name: {word}-secrets, key: {word}-password}}", "    secretName: {word}-tls", "tokenizer.pad_token = tokenizer.eos_token", "next_page_token = response.get('next_page_token')", "cookie: {{ secure: true, maxAge: {n} }}", "Set-Cookie: theme=dark; Path=/; Max-Age={n}", "credentials: 'include',", "access_token_url = 'https://{word}.example.com/oauth/token'", "password_file: /run/secrets/{word}_password", "ssl_certificate_key /etc/nginx/ssl/{word}.key;", "private_key_path = \"~/.ssh/id_{word}\"", "import {{ {camel} }} from './auth/tokens'", "class {upper}TokenError(Exception):", "type Key = keyof typeof {camel};", "signature = hmac.new(key, body, sha256).hexdigest()", "auth: {{ type: 'oauth2', flow: '{word}' }}", "authority: {word}.example.com", "author: {word} <{word}@example.com>", "monkey.{verb}(key='{word}')", "password: !vault |", "api_key: op://{word}/{verb}/credential", "client_secret: {{{{ .Values.{word}.clientSecret }}}}", "$env:API_KEY = Get-Secret {word}", 'private_key = file("${{path.module}}/{word}.pem")', "passed {n} tests, failed 0", "PASS src/{word}/{camel}.test.ts ({n} ms)", "pass: {n} fail: 0 skip: 2",
    # fixtures and templates
    'password = "changeme"', "API_KEY=your-api-key-here", "SECRET_KEY=", 'token: "test-token"', '"password": "password"', "api_key: YOUR_API_KEY", 'secret = "<your-secret>"', "DB_PASSWORD=********", "access_token=xxxxxxxxxxxxxxxxxxxx", "password: [REDACTED]", "postgres://user:password@localhost:5432/{word}_test", "postgresql://postgres:postgres@localhost:5432/{word}_test", "mysql://<user>:<password>@{word}:3306/{word}", "redis://localhost:6379/{n}", "https://${{USER}}:${{PASS}}@git.example.org/{word}.git", "expect(wrapper.find('#password').exists()).toBe({word})", 'it("rejects a wrong password for the {word}", async () => {{', "fake_token = 'fake-{word}-token'", '"secret": "dummy"', "OPENAI_API_KEY=sk-...", "token=None, secret=None, {word}=None", '"{word}Token": null,',
    # interfaces and sentences
    '"password": "Please enter your password",', '"forgotPassword": "Forgot your password?",', "password: 'La password deve avere almeno {n} caratteri',", '"passwordHint": "At least {n} characters",', '"tokenExpired": "Your token has expired, sign in again",', "the password must be at least {n} characters long", "the {word} token is a {n}-byte string", "The API key is stored in the {word} service, not in the {word}.", "la password è sbagliata, prova di nuovo tra {n} minuti", "il token scade dopo {n} minuti, poi si rinnova", "la chiave primaria di {word} è {word}_id", "we need a key for the {word} cache, something like {word}:{n}", "I rotated the token on {date}, all good now", "the secret is mounted at /run/secrets/{word}", "Error: invalid token '<' at position {n}", "SyntaxError: Unexpected token {mini} in JSON at position {n}", "the password hash is argon2id with {n} rounds", "The key is sha256 of the {word} and the {date} date", "auth uses OAuth2 with PKCE since v{version}", "password reset for {word}{n}@example.com sent", "did you pass the --token flag of version {version}?", "tokens used: {n} of {n}", "press the key F{n} to {verb}", "Keys: {n}, misses: {n}, hits: {n}", "the session was restored after {n} tool calls", "key {word}_{n} not found in {word}", "see docs/auth/token-refresh.md#L{n} for the secret rotation", "[{date}] token bucket refilled with {n} tokens", "let's use bearer tokens for {word} v{n}", "il codice di errore è E{n}, la chiave {word} manca",
    # paths, versions, addresses
    "/home/dev/projects/{word}/src/{camel}.ts:{n}:{n}", "C:\\Users\\dev\\{word}\\secrets\\{camel}.cs", "https://example.com/{word}/{uuid}?page={n}&sort=key", "https://github.com/example/{word}/commit/{hex40}", "https://example.com/reset-password?lang=it&step={n}", "s3://{word}-bucket/{date}/{uuid}/part-{n}.parquet", "wss://{word}.example.com:8443/socket?room={n}", "{word}@example.com:22", "127.0.0.1:{n} - - [{date}] \"GET /api/tokens HTTP/1.1\" 200 {n}", "fe80::{hex4}:{hex4}:{hex4}:{hex4}%eth0", "{hex2}:{hex2}:{hex2}:{hex2}:{hex2}:{hex2}", "{word}-{version}+{hex7}", "v{version}-rc.{n}", "{date}T02:14:36.{n}Z", "urn:uuid:{uuid}", "modified:   tests/fixtures/secrets/{word}_{n}.json", "{word}/{word}/{camel}/{hex8}.snap", "node_modules/.pnpm/{word}@{version}_{hex32}/node_modules/{word}", "-----BEGIN CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----", "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A{base64}",
)  # fmt: skip

_SLOT: Final = re.compile(r"\{\{|\}\}|\{([a-z]+)([0-9]*)\}")


def lines(count: int = LINES, seed: int = 1) -> Iterator[str]:
    """So many lines, no two alike, the templates in turn."""
    made: set[str] = set()
    number = 0
    while len(made) < count:
        random = Random(f"{seed} {number}")
        line = _SLOT.sub(partial(_fill, random), _TEMPLATES[number % len(_TEMPLATES)])
        number += 1
        if line not in made:
            made.add(line)
            yield line


def _fill(random: Random, slot: re.Match[str]) -> str:
    name, size = slot[1], slot[2]
    if name is None:
        return slot[0][0]
    if name == "hex":
        return text(random, HEX, int(size))
    if name == "sha":
        if size == "512":
            return _DRAWN["sha512"](random)
        return text(random, ALNUM + "+/", int(size))
    return _DRAWN[name + size](random)
