"""Floor 9: made-up secrets of many kinds, for measuring how many are found. None was ever valid.

`secret_corpus` wraps them. A kind says how its value is drawn, how its variable is called, and what a person calls it.
The forms are those that the providers publish, not those of the rules under test.
"""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from typing import TYPE_CHECKING, Final

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    Draw = Callable[[Random], str]

UPPER: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LOWER: Final = UPPER.lower()
DIGITS: Final = "0123456789"
HEX: Final = DIGITS + "abcdef"
ALNUM: Final = UPPER + LOWER + DIGITS
URL_SAFE: Final = ALNUM + "-_"
SIGNS: Final = "!@#%^&*+?"
_PRIVATE: Final = "PRIVATE KEY"
_WORDS: Final = "copper lantern meadow pilot ribbon summit violet walnut harbor cactus ember falcon glacier".split()


class Kind(Struct, frozen=True, kw_only=True):
    """One kind of secret.

    Attributes:
        name: of the kind.
        variable: how a variable for it is called, in capitals.
        english, italian: what a person calls it.
        draw: makes one value.
        core: the part of a value that must not stay; None for all of it.
        spaced: whether a value may hold blanks or line ends, so that it needs quotes.
        address: whether it is an address, which takes the place of a whole URL.
        block: whether it is a block of lines.
    """

    name: str
    variable: str
    english: str
    italian: str
    draw: Draw
    core: Callable[[str], str] | None = None
    spaced: bool = False
    address: bool = False
    block: bool = False


def text(random: Random, alphabet: str, length: int) -> str:
    """Characters drawn from an alphabet."""
    return "".join(random.choices(alphabet, k=length))


def _drawn(*parts: str | tuple[str, int]) -> Draw:
    """A value of fixed texts and of stretches that are drawn."""
    return lambda random: "".join(part if isinstance(part, str) else text(random, *part) for part in parts)


def _with_digit(draw: Draw) -> Draw:
    """Values with a digit and a letter, as sites ask of passwords."""

    def again(random: Random) -> str:
        while True:
            value = draw(random)
            if any(map(str.isdigit, value)) and any(map(str.isalpha, value)):
                return value

    return again


def uuid(random: Random) -> str:
    """A random UUID."""
    return "-".join(text(random, HEX, length) for length in (8, 4, 4, 4, 12))


def _jwt(random: Random) -> str:
    def part(content: str) -> str:
        return urlsafe_b64encode(content.encode()).decode().rstrip("=")

    head = part('{"alg":"HS256","typ":"JWT"}')
    body = part(f'{{"sub":"{text(random, DIGITS, 10)}","iat":{text(random, DIGITS, 10)}}}')
    return f"{head}.{body}.{text(random, URL_SAFE, 43)}"


def _key_block(label: str) -> Draw:
    def draw(random: Random) -> str:
        lines = [text(random, ALNUM + "+/", 64) for _ in range(random.randint(6, 20))]
        return "\n".join((f"-----BEGIN {label}-----", *lines, text(random, ALNUM, 42) + "==", f"-----END {label}-----"))

    return draw


def _body(block: str) -> str:
    return block.partition("\n")[2].rpartition("\n")[0]


_strong = _with_digit(_drawn((ALNUM + SIGNS, 14)))
_chosen = _with_digit(lambda random: random.choice(_WORDS) + text(random, DIGITS, random.randint(2, 4)))
_mixed = _with_digit(
    lambda random: (
        random.choice(_WORDS).title() + random.choice("!@_-.") + text(random, DIGITS, 3) + text(random, ALNUM, 3)
    )
)
_url_password = _with_digit(_drawn((ALNUM + "-_.~!", 16)))


def _address(before: str, after: str) -> Draw:
    return lambda random: before + _url_password(random) + after


def _between(colon: str) -> Callable[[str], str]:
    return lambda value: value.partition(colon)[2].partition("@")[0]


def _behind(mark: str) -> Callable[[str], str]:
    return lambda value: value.rpartition(mark)[2]


def _kind(name: str, variable: str, draw: Draw, english: str = "", italian: str = "") -> Kind:
    words = variable.lower().replace("_", " ")
    return Kind(name=name, variable=variable, draw=draw, english=english or words, italian=italian or f"{words}")


_TOKENS: Final = (
    _kind("github-pat", "GITHUB_TOKEN", _drawn("ghp_", (ALNUM, 36)), "GitHub token", "token di GitHub"),
    _kind("github-oauth", "GH_OAUTH", _drawn("gho_", (ALNUM, 36))),
    _kind("github-app", "GH_APP_TOKEN", _drawn("ghs_", (ALNUM, 36))),
    _kind("github-fine-grained", "GH_PAT", _drawn("github_pat_", (ALNUM, 22), "_", (ALNUM, 59))),
    _kind("gitlab-pat", "GITLAB_TOKEN", _drawn("glpat-", (URL_SAFE, 20))),
    _kind("gitlab-runner", "RUNNER_TOKEN", _drawn("glrt-", (URL_SAFE, 20))),
    _kind("openai", "OPENAI_API_KEY", _drawn("sk-", (ALNUM, 48)), "OpenAI key", "chiave di OpenAI"),
    _kind("openai-project", "OPENAI_API_KEY", _drawn("sk-proj-", (URL_SAFE, 124))),
    _kind("anthropic", "ANTHROPIC_API_KEY", _drawn("sk-ant-api03-", (URL_SAFE, 93), "AA")),
    _kind("openrouter", "OPENROUTER_API_KEY", _drawn("sk-or-v1-", (HEX, 64))),
    _kind("google-api", "GOOGLE_API_KEY", _drawn("AIza", (URL_SAFE, 35))),
    _kind("google-oauth-secret", "GOOGLE_CLIENT_SECRET", _drawn("GOCSPX-", (URL_SAFE, 28))),
    _kind("google-access-token", "GOOGLE_ACCESS_TOKEN", _drawn("ya29.a0", (URL_SAFE, 120))),
    _kind("aws-access-key", "AWS_ACCESS_KEY_ID", _drawn("AKIA", (UPPER + "234567", 16))),
    _kind("aws-temporary-key", "AWS_ACCESS_KEY_ID", _drawn("ASIA", (UPPER + "234567", 16))),
    _kind("stripe-live", "STRIPE_SECRET_KEY", _drawn("sk_live_", (ALNUM, 24)), "Stripe key", "chiave di Stripe"),
    _kind("stripe-restricted", "STRIPE_KEY", _drawn("rk_live_", (ALNUM, 24))),
    _kind("stripe-webhook", "STRIPE_WEBHOOK_SECRET", _drawn("whsec_", (ALNUM, 32))),
    _kind("slack-bot", "SLACK_BOT_TOKEN", _drawn("xoxb-", (DIGITS, 12), "-", (DIGITS, 12), "-", (ALNUM, 24))),
    _kind("slack-user", "SLACK_TOKEN", _drawn("xoxp-", (DIGITS, 11), "-", (DIGITS, 11), "-", (DIGITS, 12), "-", (HEX, 32))),
    _kind("slack-app", "SLACK_APP_TOKEN", _drawn("xapp-1-A", (UPPER, 10), "-", (DIGITS, 13), "-", (HEX, 64))),
    _kind("npm", "NPM_TOKEN", _drawn("npm_", (ALNUM, 36)), "npm token", "token di npm"),
    _kind("pypi", "PYPI_TOKEN", _drawn("pypi-AgEIcHlwaS5vcmc", (URL_SAFE, 130))),
    _kind("rubygems", "GEM_HOST_API_KEY", _drawn("rubygems_", (HEX, 48))),
    _kind("docker", "DOCKER_PAT", _drawn("dckr_pat_", (URL_SAFE, 27))),
    _kind("digitalocean", "DO_TOKEN", _drawn("dop_v1_", (HEX, 64))),
    _kind("sendgrid", "SENDGRID_API_KEY", _drawn("SG.", (URL_SAFE, 22), ".", (URL_SAFE, 43))),
    _kind("mailgun", "MAILGUN_API_KEY", _drawn("key-", (HEX, 32))),
    _kind("mailchimp", "MAILCHIMP_KEY", _drawn((HEX, 32), "-us", (DIGITS, 2))),
    _kind("twilio", "TWILIO_API_KEY", _drawn("SK", (HEX, 32))),
    _kind("telegram", "TELEGRAM_BOT_TOKEN", _drawn((DIGITS, 10), ":AA", (URL_SAFE, 33))),
    _kind("discord", "DISCORD_TOKEN", _drawn("M", (ALNUM, 25), ".G", (ALNUM, 5), ".", (URL_SAFE, 38))),
    _kind("hugging-face", "HF_TOKEN", _drawn("hf_", (ALNUM, 34))),
    _kind("replicate", "REPLICATE_API_TOKEN", _drawn("r8_", (ALNUM, 37))),
    _kind("groq", "GROQ_API_KEY", _drawn("gsk_", (ALNUM, 52))),
    _kind("notion", "NOTION_TOKEN", _drawn("ntn_", (DIGITS, 11), (ALNUM, 35))),
    _kind("linear", "LINEAR_API_KEY", _drawn("lin_api_", (ALNUM, 40))),
    _kind("figma", "FIGMA_TOKEN", _drawn("figd_", (URL_SAFE, 40))),
    _kind("shopify", "SHOPIFY_ACCESS_TOKEN", _drawn("shpat_", (HEX, 32))),
    _kind("square", "SQUARE_ACCESS_TOKEN", _drawn("sq0atp-", (URL_SAFE, 22))),
    _kind("databricks", "DATABRICKS_TOKEN", _drawn("dapi", (HEX, 32))),
    _kind("vault", "VAULT_TOKEN", _drawn("hvs.", (URL_SAFE, 95))),
    _kind("terraform-cloud", "TFE_TOKEN", _drawn((ALNUM, 14), ".atlasv1.", (URL_SAFE, 67))),
    _kind("grafana", "GRAFANA_TOKEN", _drawn("glsa_", (ALNUM, 32), "_", (HEX, 8))),
    _kind("new-relic", "NEW_RELIC_API_KEY", _drawn("NRAK-", (UPPER + DIGITS, 27))),
    _kind("postman", "POSTMAN_KEY", _drawn("PMAK-", (HEX, 24), "-", (HEX, 34))),
    _kind("supabase", "SUPABASE_ACCESS_TOKEN", _drawn("sbp_", (HEX, 40))),
    _kind("tailscale", "TS_AUTHKEY", _drawn("tskey-auth-", (ALNUM, 17), "-", (ALNUM, 32))),
    _kind("atlassian", "JIRA_API_TOKEN", _drawn("ATATT3xFfGF0", (URL_SAFE, 160), "=", (HEX, 8))),
    _kind("age", "SOPS_AGE_KEY", _drawn("AGE-SECRET-KEY-1", ("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58))),
    _kind("jwt", "ID_TOKEN", _jwt, "session token", "token di sessione"),
)  # fmt: skip

_NAMED: Final = (
    _kind("password-strong", "DB_PASSWORD", _strong, "password of the staging database", "password del database"),
    _kind("password-chosen", "ADMIN_PASSWORD", _chosen, "admin password", "password di amministratore"),
    _kind("password-mixed", "SMTP_PASS", _mixed, "password for the mail server", "password della posta"),
    _kind("passphrase", "SSH_PASSPHRASE", _mixed, "passphrase of the key", "passphrase della chiave"),
    Kind(
        name="passphrase-words", variable="GPG_PASSPHRASE", english="passphrase", italian="passphrase", spaced=True,
        draw=lambda random: " ".join(random.sample(_WORDS, 4)),
    ),
    _kind("aws-secret", "AWS_SECRET_ACCESS_KEY", _drawn((ALNUM + "+/", 40)), "AWS secret key", "chiave segreta di AWS"),
    _kind("aws-session", "AWS_SESSION_TOKEN", _drawn("FwoGZXIvYXdzE", (ALNUM + "+/", 180), "=="), "session token", "token di sessione"),
    _kind("azure-account-key", "AZURE_STORAGE_KEY", _drawn((ALNUM + "+/", 86), "=="), "storage access key", "chiave di accesso"),
    _kind("datadog", "DD_API_KEY", _drawn((HEX, 32)), "Datadog API key", "chiave API di Datadog"),
    _kind("cloudflare", "CLOUDFLARE_API_TOKEN", _with_digit(_drawn((URL_SAFE, 40))), "Cloudflare token", "token di Cloudflare"),
    _kind("heroku", "HEROKU_API_KEY", uuid, "Heroku API key", "chiave API di Heroku"),
    _kind("algolia", "ALGOLIA_ADMIN_KEY", _drawn((HEX, 32)), "Algolia admin key", "chiave API di Algolia"),
    _kind("client-secret", "OAUTH_CLIENT_SECRET", _with_digit(_drawn((URL_SAFE, 40))), "client secret", "client secret"),
    _kind("signing-secret", "SIGNING_SECRET", _drawn((HEX, 32)), "signing secret", "segreto di firma"),
    _kind("django-secret", "SECRET_KEY", _with_digit(_drawn((LOWER + DIGITS + "!@#%^&*-_=+", 50))), "secret key", "chiave segreta"),
    _kind("access-token", "ACCESS_TOKEN", _with_digit(_drawn((ALNUM, 64))), "access token", "token di accesso"),
    _kind("refresh-token", "REFRESH_TOKEN", _with_digit(_drawn((URL_SAFE, 80))), "refresh token", "refresh token"),
    _kind("encryption-key", "ENCRYPTION_KEY", _drawn((HEX, 64)), "encryption key", "chiave di cifratura"),
    _kind("private-hex", "ETH_PRIVATE_KEY", _drawn("0x", (HEX, 64)), "private key", "chiave privata"),
    _kind("wireguard", "WG_PRIVATE_KEY", _with_digit(_drawn((ALNUM + "+/", 43), "=")), "private key", "chiave privata"),
)  # fmt: skip

_BUILT: Final = (
    Kind(name="postgres-url", variable="DATABASE_URL", english="database address", italian="indirizzo del database",
         draw=_address("postgres://shop:", "@db.internal:5432/shop"), core=lambda v: v[16:].partition("@")[0], address=True),
    Kind(name="mongodb-url", variable="MONGO_URI", english="cluster address", italian="indirizzo del cluster",
         draw=_address("mongodb+srv://app:", "@cluster0.mongodb.net/test"), core=lambda v: v[18:].partition("@")[0], address=True),
    Kind(name="redis-url", variable="REDIS_URL", english="cache address", italian="indirizzo della cache",
         draw=_address("redis://:", "@cache:6379/0"), core=lambda v: v[9:].partition("@")[0], address=True),
    Kind(name="https-url", variable="REPO_URL", english="clone address", italian="indirizzo del repository",
         draw=_address("https://deploy:", "@git.example.org/team/app.git"), core=lambda v: v[15:].partition("@")[0], address=True),
    Kind(name="amqp-url", variable="BROKER_URL", english="broker address", italian="indirizzo del broker",
         draw=_address("amqps://worker:", "@mq.example.net:5671/prod"), core=lambda v: v[15:].partition("@")[0], address=True),
    Kind(name="slack-webhook", variable="SLACK_WEBHOOK_URL", english="webhook", italian="webhook", address=True,
         draw=_drawn("https://hooks.slack.com/services/T", (UPPER + DIGITS, 8), "/B", (UPPER + DIGITS, 10), "/", (ALNUM, 24)), core=_behind("/")),
    Kind(name="discord-webhook", variable="DISCORD_WEBHOOK", english="webhook", italian="webhook", address=True,
         draw=_drawn("https://discord.com/api/webhooks/", (DIGITS, 18), "/", (URL_SAFE, 68)), core=_behind("/")),
    Kind(name="azure-connection", variable="AZURE_STORAGE_CONNECTION_STRING", english="connection string", italian="stringa di connessione",
         draw=_drawn("DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=", (ALNUM + "+/", 86), "==;EndpointSuffix=core.windows.net"),
         core=lambda v: v.partition("AccountKey=")[2].partition(";")[0], address=True),
    Kind(name="sql-connection", variable="CONNECTION_STRING", english="connection string", italian="stringa di connessione", spaced=True,
         draw=lambda random: f"Server=tcp:sql.example.net;Database=shop;User ID=app;Password={_url_password(random)};Encrypt=True",
         core=lambda v: v.partition("Password=")[2].partition(";")[0], address=True),
    Kind(name="rsa-key", variable="PRIVATE_KEY", english="key", italian="chiave", draw=_key_block(f"RSA {_PRIVATE}"), core=_body, block=True),
    Kind(name="pkcs8-key", variable="TLS_KEY", english="key", italian="chiave", draw=_key_block(_PRIVATE), core=_body, block=True),
    Kind(name="openssh-key", variable="SSH_KEY", english="key", italian="chiave", draw=_key_block(f"OPENSSH {_PRIVATE}"), core=_body, block=True),
    Kind(name="ec-key", variable="EC_KEY", english="key", italian="chiave", draw=_key_block(f"EC {_PRIVATE}"), core=_body, block=True),
    Kind(name="pgp-key", variable="PGP_KEY", english="key", italian="chiave", draw=_key_block(f"PGP {_PRIVATE} BLOCK"), core=_body, block=True),
)  # fmt: skip

KINDS: Final = (*_TOKENS, *_NAMED, *_BUILT)
"""All kinds. Headers (bearer, basic, cookies) are wrappings and kinds of `secret_corpus`, since only there they are secrets."""


def basic(random: Random) -> str:
    """Base64 of a name and a password, as a header carries it."""
    return b64encode(f"{random.choice(_WORDS)}:{_strong(random)}".encode()).decode()


def session_id(random: Random) -> str:
    """The value of a session cookie."""
    return _with_digit(_drawn((LOWER + DIGITS, 32)))(random)


def opaque(random: Random) -> str:
    """A bearer token without a format."""
    return _with_digit(_drawn((URL_SAFE, 48)))(random)


def password(random: Random) -> str:
    """A password that needs no quotes in a shell."""
    return _mixed(random).replace("!", "_")
