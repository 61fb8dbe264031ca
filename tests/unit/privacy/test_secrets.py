"""`privacy.secrets`: what counts as a secret, what does not, and what a replacement keeps.

No token here was ever valid; each is put together from parts, so that no scanner of repositories takes it for a leak.
"""

from __future__ import annotations

import re
from itertools import pairwise
from random import Random
from time import process_time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aforesaid.language.secret_formats import formats
from aforesaid.language.secret_names import STEMS
from aforesaid.privacy import runs
from aforesaid.privacy.places import beside_name
from aforesaid.privacy.secrets import OPENING, Secret, find_edits, find_secrets, redact

if TYPE_CHECKING:
    from aforesaid.privacy.forms import Place
    from aforesaid.privacy.names import NameKind

ALNUM = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789"
HEX = "0123456789abcdef"


def drawn(length: int, alphabet: str = ALNUM, seed: int = 7) -> str:
    return "".join(Random(f"{seed}{length}").choices(alphabet, k=length))


GITHUB = "gh" + "p_" + drawn(36)
OPENAI = "s" + "k-pr" + "oj-" + drawn(48)
STRIPE = "sk" + "_li" + "ve_" + drawn(24)
AWS = "AK" + "IA" + drawn(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
JWT = "ey" + "J" + drawn(20) + ".ey" + "J" + drawn(30) + "." + drawn(43)
PASSWORD = "Tr0ub4" + "dor&3x"
KEY_HEAD = "-----BEGIN RSA PRIV" + "ATE KEY-----"
KEY_TAIL = "-----END RSA PRIV" + "ATE KEY-----"


@pytest.mark.parametrize(
    ("text", "secret", "kind"),
    [
        (f"export GH={GITHUB}", GITHUB, "github-token"),
        (f"the token {GITHUB}, and more", GITHUB, "github-token"),
        (f"print({STRIPE!r})", STRIPE, "stripe-key"),
        (f"OPENAI_API_KEY={OPENAI}\n", OPENAI, "openai-key"),
        (f"创建{GITHUB}后", GITHUB, "github-token"),
        (f'"text": "a\\n{GITHUB}\\nb"', GITHUB, "github-token"),
        (f"aws_access_key_id = {AWS}", AWS, "aws-key"),
        (f"Authorization: Bearer {JWT}", JWT, "jwt"),
        (f'"password": "{PASSWORD}"', PASSWORD, "password"),
        (f'{{\\"password\\": \\"{PASSWORD}\\"}}', PASSWORD, "password"),
        (f"DB_PASSWORD={PASSWORD}", PASSWORD, "password"),
        (f"password: {PASSWORD}", PASSWORD, "password"),
        ("password = 'correct horse battery staple'", "correct horse battery staple", "password"),
        (f"<password>{PASSWORD.replace('&', '_')}</password>", PASSWORD.replace("&", "_"), "password"),
        (f"mysql -u root -p{PASSWORD} shop", PASSWORD, "password"),
        (f"curl -u admin:{PASSWORD} https://intranet", PASSWORD, "password"),
        (f"sync --password {PASSWORD} --fast", PASSWORD, "password"),
        (f"postgres://app:{PASSWORD}@db:5432/shop", PASSWORD, "url-password"),
        (f"la password del server è {PASSWORD}.", PASSWORD, "password"),
        (f"the password of the staging database is {PASSWORD}.", PASSWORD, "password"),
        (f"la chiave API è {drawn(32)}", drawn(32), "key"),
        (f"Cookie: theme=dark; sid={drawn(32)}", drawn(32), "cookie"),
        (f"- name: DB_PASSWORD\n  value: {PASSWORD}", PASSWORD, "password"),
        (f"Authorization: Basic {'cm9vdDpodW50' + 'ZXIyMjI='}", "cm9vdDpodW50" + "ZXIyMjI=", "basic-credentials"),
    ],
)
def test_a_secret_is_found_where_it_stands(text: str, secret: str, kind: str) -> None:
    start = text.index(secret)
    assert find_secrets(text) == (Secret(start=start, end=start + len(secret), kind=kind),)


@pytest.mark.parametrize(
    "text",
    [
        "pip install sk-learn-contrib-2024-something-long",
        "password = os.environ['DB_PASSWORD']",
        "DB_PASSWORD=${DB_PASSWORD}",
        'password: "changeme"',
        "const token = req.headers.authorization",
        "api_key: YOUR_API_KEY",
        "max_tokens: 4096",
        "the password must be at least 8 characters long",
        '"password": "Please enter your password"',
        "def login(user: str, password: str) -> None:",
        "token = tokenizer.encode(text)",
        "the token is base64",
        "password_hash = hash_password(password)",
        "key=lambda item: item[1]",
        "cache_key: 9b74c9897bac770ffc029102a200c5de",
        "session: 0193a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b",
        "https://example.com/a@b",
        "postgres://user:password@localhost/db",
        "sha512-" + drawn(86) + "==",
        "3f786850e387550fdab836ed7e6dc881de23001b",
        "",
    ],
)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert find_secrets(text) == ()


def test_the_kind_and_the_length_class_stay() -> None:
    assert redact(f"a {GITHUB} b").text == "a [redacted:github-token:32+] b"
    assert redact(f'"password": "{PASSWORD}"').text == '"password": "[redacted:password:8+]"'
    assert Secret(start=3, end=10, kind="x").marker == "[redacted:x:<8]"
    assert Secret(start=0, end=64, kind="x").marker == "[redacted:x:64+]"
    assert Secret(start=0, end=63, kind="x").marker == "[redacted:x:32+]"


def test_a_private_key_goes_with_its_armour() -> None:
    body = "\n".join(drawn(64, seed=line) for line in range(5))
    text = f"before\n{KEY_HEAD}\n{body}\n{KEY_TAIL}\nafter"
    assert redact(text).text == "before\n[redacted:private-key:256+]\nafter"
    unfinished = redact(f"before\n{KEY_HEAD}\n{body}")
    assert unfinished.text == "before\n[redacted:private-key:256+]"
    quoted = redact(f'"key": "{KEY_HEAD}\\n{body[:64]}\\n{KEY_TAIL}\\n"')
    assert quoted.text == '"key": "[redacted:private-key:128+]\\n"'


def test_secrets_are_counted_and_the_rest_stays_as_it_is() -> None:
    done = redact(f"é {GITHUB} 🔒 {AWS}\npassword: {PASSWORD}\n")
    assert done.count == 3
    assert done.text == "é [redacted:github-token:32+] 🔒 [redacted:aws-key:16+]\npassword: [redacted:password:8+]\n"


P = "zX9" + drawn(9)
K = drawn(32)
H = drawn(32, HEX)
TOLD = [
    *(
        f"spring.datasource.password={P}",
        f"jdbc:mysql://h:3306/db?user=root&password={P}",
        f"ftp://bob:{P}@files.example.com",
    ),
    *(
        f"Server=db;Uid=app;Pwd={P};",
        f"set API_KEY={K}",
        f"$env:API_KEY = '{K}'",
        f"heroku config:set SECRET_KEY_BASE={H}",
    ),
    *(f"kubectl create secret generic x --from-literal=password={P}", f"{{'passwd': '{P}'}}", f":password => '{P}'"),
    *(
        f"api-key: {K}",
        f"Authorization: token {K}",
        f"Authorization: ApiKey {K}",
        f"PRIVATE-TOKEN: {K}",
        f"?access_token={K}&x=1",
    ),
    *(f"https://x.blob.core.windows.net/c/f?sv=2020&sig={K}%3D", f"https://b.example.com/k?X-Amz-Signature={H}{H}"),
    *(f"//registry.npmjs.org/:_authToken={K}", f"otpauth://totp/X:me?secret={K}&issuer=X", f"Password for root: {P}"),
    *(
        f"user: admin, password: {P}",
        f"usa la password {P}",
        f"parola d'ordine: {P}",
        f"codice di accesso: {P}",
        f"il token è {K}",
    ),
    *(
        f'\\"apiKey\\": \\"{K}\\"',
        f"'Cookie': 'session={K}; a=b'",
        f"Set-Cookie: auth={K}; HttpOnly",
        f"-b 'sessionid={K}'",
    ),
    *(
        f"MYSQL_PWD={P} mysql",
        f"ansible_become_password: {P}",
        f"APP_KEY=base64:{K}{H}=",
        f"jwt.secret={K}",
        f"PrivateKey = {K}{H}=",
    ),
    *(
        f"https://{H}@o1.ingest.sentry.io/1",
        f'<add key="ApiKey" value="{K}" />',
        f'<property name="password" value="{P}"/>',
    ),
    *(f"ENV DB_PASS {P}", f"password_confirmation: {P}", f'setPassword("{P}")', f"password: process.env.PASS || '{P}'"),
    *(
        f"if (password === '{P}')",
        f'sasl.jaas.config=x required username="a" password="{P}";',
        f"docker login -u me -p {P}",
    ),
    *(
        f"mnemonic: {'legal winner thank year wave sausage ' * 2}".rstrip(),
        f"CREATE USER a IDENTIFIED BY '{P}'",
        f"sshpass -p {P} ssh h",
    ),
    *(
        f"https://hooks.slack.com/services/T0{K[:8]}/B0{K[:8]}/{drawn(24)}",
        f"PuTTY-User-Key-File-2: x\nPrivate-Lines: 1\n{K}{K}\n",
    ),
    *(
        f'password = """{P}"""',
        f"Bearer {K}",
        f"%22password%22:%22{P}%22",
        f"login({{password: '{P}'}})",
        f"token：{K}",
    ),
]


@pytest.mark.parametrize("text", TOLD)
def test_a_name_tells_in_every_notation(text: str) -> None:
    (found,) = find_secrets(text)
    covered = text[found.start : found.end]
    assert found.kind == "slack-webhook" or any(part in covered for part in (P, K, H, "legal winner"))


@pytest.mark.parametrize(
    "text",
    [
        *(
            "public_key_token = '1fc8b3b9a1e18e3b'",
            "getPassword()",
            "if (token !== undefined) {",
            "key: Ed25519PrivateKey | None",
        ),
        *(
            "['username', 'password', 'repository']",
            "Pass `shape=None` instead",
            "password: user.password1",
            "token = Name.Builtin",
        ),
        *(
            "password123 = load()",
            "bypass: abc123xyz",
            "secretary: Smith1 Anna",
            "golang.org/x/token v4.1.2 h1:tBuIGN+UGPdPbCOnmztm9",
        ),
        *(
            "token: a.b.c",
            "the key is F12",
            "password: 2026-11-30",
            "api_key: https://example.com/keys",
            "password: ~/.pgpass",
        ),
        *(
            "Cookie: theme=dark",
            "cookie: none",
            "Authorization: Bearer <token>",
            "auth: Optional",
            "codice 1234abcd",
            "parola chiave: x1y2z3",
        ),
        *(
            "pass: 12abc",
            "redis-cli -a",
            "mysql -p",
            "curl -u",
            "Bearer of news",
            "sig=abc",
            "key",
            "password",
            "password=",
        ),
        *(
            '"password": "',
            "password: 'abc\ndef1234'",
            "-----BEGIN PRIVATE KEY-----",
            "PuTTY-User-Key-File-2: x",
            "Set-Cookie: x",
        ),
        *(
            "https://hooks.slack.com/services/",
            "identified by the user",
            "://:@",
            "user info: a:b@c",
            "mnemonic: one two three",
        ),
        *("<password>@db:3306", "| token | required |", "if key == 'a1b2c3':", "credentials: 'include'"),
    ],
)
def test_names_alone_tell_nothing(text: str) -> None:
    assert find_secrets(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "--- PASS: TestHashWorktree256ID (0.00s)",
        '"result_key": "LocalGatewayRouteTableVirtualInterfaceGroupAssociations"',
        "<code>passphrase: &#x3C;string2>",
        'the password is "scram-sha-256", or md5',
        "1Password: the format is `ops_<base64>`",
        "--pass: #34d399;",
        "Integration tests pass: `mise run test:integration 2`",
        "sessionID = unknownSessionIdentifier",
        "SessionID:        cpInfo.SessionID,",
        "sessionID := selectedPoint.SessionIDs[0]",
    ],
)
def test_what_real_transcripts_are_full_of_stays(text: str) -> None:
    assert find_secrets(text) == ()


def test_a_value_that_goes_on_is_replaced_to_its_end() -> None:
    long = drawn(900)
    assert redact(f"access_token={long}").text == "access_token=[redacted:token:512+]"
    assert redact(f'"access_token": "{long}"').text == '"access_token": "[redacted:token:512+]"'


def test_what_stands_beside_the_values_is_no_part_of_them() -> None:
    assert redact(f"Bearer {K}.").text == "Bearer [redacted:token:32+]."
    assert redact(f'password = "{P}\\"{P}" x').text == 'password = "[redacted:password:16+]" x'
    assert redact(f"https://{K}:x-oauth-basic@git.example.org").text == (
        "https://[redacted:url-password:32+]:x-oauth-basic@git.example.org"
    )
    assert redact(f"PuTTY-User-Key-File-2: x\nPrivate-Lines: 1\n!{K}").count == 0
    assert redact(f"my_cookie=a; mycookie: sid={K}").text == "my_cookie=a; mycookie: sid=[redacted:cookie:32+]"
    assert redact("Authorization: Basic abc=defghijk").count == 0
    assert redact("mnemonic=Legal Winner 12").count == 0


def test_a_token_in_something_longer_is_replaced_with_it() -> None:
    assert redact(f"password={GITHUB}").text == "password=[redacted:github-token:32+]"


def test_text_made_of_beginnings_is_given_up() -> None:
    assert find_secrets("eyJ-" * 40 + GITHUB) == ()
    assert len(find_secrets("eyJ-" * 4 + GITHUB)) == 1


PIECES = st.sampled_from(
    [
        *STEMS,
        *(literal for _, literal, _ in formats()),
        *(GITHUB, OPENAI, JWT, AWS, PASSWORD, KEY_HEAD, KEY_TAIL, drawn(40), drawn(64, HEX), OPENING),
        *(
            ": ",
            "=",
            '"',
            "'",
            "\\",
            "\n",
            " ",
            " is ",
            " è ",
            "://",
            "@",
            ":",
            ",",
            ";",
            "&",
            "(",
            "<",
            ">",
            "-----BEGIN ",
        ),
        *(
            "Bearer ",
            "Cookie: ",
            "Authorization: ",
            "[redacted:password:8+]",
            "]",
            "--password ",
            "curl -u ",
            "\ud800",
            "密码",
        ),
    ]
)


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES | st.text(max_size=6), max_size=12).map("".join))
def test_redacting_twice_changes_nothing_and_markers_are_never_found(text: str) -> None:
    once = redact(text)
    assert redact(once.text).text == once.text
    assert redact(once.text).count == 0
    found = find_secrets(text)
    assert all(one.end < two.start for one, two in pairwise(found))
    assert all(0 <= secret.start < secret.end <= len(text) for secret in found)
    assert (once.count == 0) == (once.text == text)
    assert all(re.fullmatch(r"[a-z0-9-]{1,40}", secret.kind) for secret in found)


HOSTILE = [
    *(
        "eyJ-",
        "sk-",
        "key=",
        'password="',
        "password is ",
        "key ",
        '\\"',
        "://a:",
        "://",
        "xoxb-",
        "Bearer a",
        "token: a",
    ),
    *("-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "Cookie: a=1; ", "curl -u ", "mysql ", "login -p", "chiave di "),
    *("a" * 19 + " ", "password: aaaa", "passwd", "\\", "auth: basic ", "secret: <", "(password", "AKIA", "A1", "sl."),
    *(
        "PuTTY-User-Key-File-2: ",
        "password : x = ",
        "password|",
        "1.1",
        "password='" + "a." * 14 + "!",
        "1234567890:AA",
    ),
    "ghp_" + "a" * 35 + "-",
]


CLASSED = st.sampled_from(
    [
        *("[aforesaid:internal]", "[/aforesaid:internal]", "[aforesaid:sensitive]", "[/aforesaid:sensitive]"),
        *(
            "password: ",
            "token=",
            PASSWORD,
            PASSWORD[:5],
            PASSWORD[5:],
            GITHUB,
            GITHUB[:9],
            GITHUB[9:],
            "a ",
            "\n",
            "日",
        ),
    ]
)


@settings(max_examples=400, deadline=None)
@given(st.lists(CLASSED | PIECES, max_size=12).map("".join))
def test_what_is_replaced_where_it_stands_is_what_is_replaced_in_a_copy(text: str) -> None:
    """Egress from a raw store replaces in windows what the store would have replaced, markers of classes or not."""
    edits = find_edits(text)
    done = redact(text)
    assert all(one.end <= two.start for one, two in pairwise(edits))
    assert all(0 <= edit.start < edit.end <= len(text) for edit in edits)
    shown, at = "", 0
    for edit in edits:
        shown, at = shown + text[at : edit.start] + edit.text, edit.end
    assert shown + text[at:] == done.text
    assert redact(done.text).count == 0


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "password: Tr0ub[aforesaid:internal]4dor-9xK[/aforesaid:internal]",
            "password: [aforesaid:internal]{}[/aforesaid:internal]",
        ),
        (
            "[aforesaid:internal]password: Tr0ub4d[/aforesaid:internal]or-9xK.",
            "[aforesaid:internal]password: {}[/aforesaid:internal].",
        ),
        ("password:[aforesaid:internal] Tr0ub4dor-9xK", "password:[aforesaid:internal] {}"),
    ],
)
def test_a_marker_of_a_class_hides_no_secret_and_covers_it_still(text: str, shown: str) -> None:
    assert redact(text).text == shown.format("[redacted:password:8+]")


UNITS = st.sampled_from([*(f"{stem}{sign}" for stem in STEMS for sign in ("=", " ", ": ", '="')), *HOSTILE])
FILLS = st.sampled_from(["", "", " ", "\n", "a1", "=x9Zq81kd ", "Cookie: a=b; ", PASSWORD, f"{GITHUB} "])


@settings(max_examples=150, deadline=None)
@given(UNITS, FILLS, st.integers(1300, 4000), FILLS, FILLS)
def test_where_a_text_repeats_itself_the_same_is_found(unit: str, fill: str, length: int, head: str, tail: str) -> None:
    piece = unit + fill
    text = head + piece * (length // len(piece)) + tail
    done = redact(text)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(runs, "_repetition", lambda *_: (0, 0))
        assert redact(text) == done


@pytest.mark.parametrize("stem", STEMS)
@pytest.mark.parametrize("sign", ["=", " ", ": ", '="', "=a1b2c3d4 "])
def test_a_text_that_is_nothing_but_one_name_is_looked_at_in_few_places(
    stem: str, sign: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By counts, which no load changes: in a text that is 16 times as long hardly more places are looked at."""
    seen: list[int] = []

    def count(kind: NameKind, text: str, start: int, end: int) -> tuple[Place, ...]:
        seen.append(start)
        return beside_name(kind, text, start, end)

    monkeypatch.setattr("aforesaid.privacy.secrets.beside_name", count)

    def looks(length: int) -> int:
        seen.clear()
        find_secrets(f"{stem}{sign}" * (length // len(stem + sign)))
        return len(seen)

    assert looks(320_000) <= looks(20_000) + 8


MANY = [
    f"password: {PASSWORD}\n",
    f"[aforesaid:internal]password: {PASSWORD}[/aforesaid:internal]\n",
    f"[redacted:password:8+] password: {PASSWORD}\n",
    f"{GITHUB} ",
    "[aforesaid:sensitive]",
]


@pytest.mark.parametrize("piece", MANY)
def test_the_time_to_replace_grows_with_the_text_only(piece: str) -> None:
    def taken(length: int) -> float:
        text = (piece * (length // len(piece) + 1))[:length]
        best = float("inf")
        for _ in range(3):
            started = process_time()
            redact(text)
            best = min(best, process_time() - started)
        return best

    redact(piece * 3)
    short, long = taken(20_000), taken(160_000)
    assert long < 0.02 + 8 * 3 * short


@pytest.mark.parametrize("piece", HOSTILE)
def test_the_time_grows_with_the_text_only(piece: str) -> None:
    def taken(length: int) -> float:
        text = (piece * (length // len(piece) + 1))[:length]
        best = float("inf")
        for _ in range(3):
            started = process_time()
            find_secrets(text)
            best = min(best, process_time() - started)
        return best

    find_secrets(piece * 10)
    short, long = taken(10_000), taken(80_000)
    assert long < 0.02 + 8 * 3 * short  # 8 times the text; what is quadratic takes 64 times as long
