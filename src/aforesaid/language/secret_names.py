"""Floor 3: names that tell that a secret follows, and values that are none, as data for `privacy.secrets`.

Names are English and Italian. All words are lower case; `privacy.names` cuts identifiers into words before it looks them up.
"""

from __future__ import annotations

from typing import Final

STEMS: Final = tuple(
    "pass pwd secret token key cred auth bearer cookie sessionid sessid sig= signature= chiave segret parola codice mnemonic phrase".split()
)
"""Every telling name holds one of these; they are searched in the text as lower-case ASCII."""

PASSWORD: Final = frozenset(
    "password passwd passphrase passcode pass pwd pw psw passw passwort passord sshpass requirepass keypass storepass "
    "userpass dbpass".split()
)
SECRET: Final = frozenset("secret credential credentials creds cred segreto segreta credenziali clientsecret".split())
TOKEN: Final = frozenset("token jwt bearer authtoken accesstoken bottoken apitoken gettone".split())
KEY: Final = frozenset("key apikey chiave accesskey secretkey privatekey authkey keydata".split())
AUTH: Final = frozenset("authorization auth xauth".split())
COOKIE: Final = frozenset(("cookie", "setcookie"))
SESSION: Final = frozenset("phpsessid jsessionid sessionid sessid sessionkey aspsessionid".split())
SIGNATURE: Final = frozenset(("sig", "signature"))
MNEMONIC: Final = frozenset(("mnemonic", "phrase"))
PHRASES: Final = frozenset(("codice", "parola"))
"""Italian words that tell only with what follows: codice di accesso, parola d'ordine."""

KEY_HEADS: Final = frozenset(
    """
api access secret private priv auth account client license licence encryption encrypt decryption crypt crypto cipher signing
sign master service shared app application admin consumer deploy webhook ssh gpg pgp rsa aes hmac jwt integration subscription
functions function host server sdk developer sas connection azure openai anthropic stripe aws google gemini groq mistral
cohere algolia datadog sendgrid mailgun twilio pusher mapbox firebase amplitude segment sentry intercom zendesk
wireguard preshared psk root data kms vault bot user project rest write admin ingest instrumentation storage fernet django rails
flask session cookie segreta privata accesso licenza cifratura
""".split()
)
"""Words that make a key of `key`, before it (`api_key`) or, in Italian, behind it (`chiave privata`)."""
NO_KEYS: Final = frozenset(
    """
public pub primary foreign cache partition sort hash row object group index composite unique idempotency dedup natural
surrogate lookup map dict json field column translation i18n hot arrow shortcut enter tab escape routing fingerprint restore
build sorting ordering msg message label event state query react item list node tree registry config option setting s3
""".split()
)
"""Words before `key` that make something else of it, whatever its value looks like."""
NO_TOKENS: Final = frozenset(
    """
next page continuation cursor max min num total cancel cancellation sync stop eos bos pad unk mask sep cls start end first
last special stop count input output prompt completion per new resume pagination
""".split()
)
TAILS: Final = frozenset(
    """
value val str string raw plain text plaintext clear base64 b64 encoded default live sandbox env var prod production dev
development staging stage test testing local old new current primary secondary backup main header x a b hex base confirmation confirm repeat data
""".split()
)
"""Words behind a telling name that leave it one."""

PLACEHOLDER_WORDS: Final = frozenset(
    """
your my the some an a any example examples sample test tests testing tester dummy fake mock stub placeholder change changeme change
me this that here insert enter replace with api key keys token tokens secret secrets password passwords passwd pass pwd passphrase
user username admin name value values string text str foo bar baz qux none null nil undefined true false yes no empty default
required optional hidden redacted removed masked filtered omitted todo tbd na n/a xxx access auth client private public id
app service account server db database url uri host real actual own goes generated secure strong random new old current
valid invalid wrong incorrect missing expired unset set not is of for to from in on as and or it must be at least
provided given supplied unknown local dev prod staging env var variable input field label type object number boolean int
integer float bool bytes byte char any never void self this args kwargs param params arg data result results response request
config settings options info message error errors hash hashed salt encrypted encoded decoded plaintext cleartext plain
aws github gitlab google azure openai anthropic stripe slack la il lo tua tuo mia mio inserisci qui cambiami esempio chiave
parola segreto segreta prova utente login logout signin email mail forgot reset confirm confirmation show hide bearer basic
inherit write read admin root guest nobody nothing something anything whatever etc state form props context session cookie
""".split()
)
"""A value that consists of nothing but these words, apart from one or two digits, is no secret."""

SENTENCE: Final = frozenset(
    """
your you the is are was must be should cannot can't please enter invalid incorrect wrong required not and or of for to with
has have at least characters che non il la lo deve essere errata è sono per di una un del della inserisci tua tuo
forgot reset change new confirm show hide this that will if when set use using via from in on by it as field
""".split()
)
"""What holds a sentence together: quoted words with one of these are no passphrase."""

NO_COOKIES: Final = frozenset(
    "path domain expires max-age samesite secure httponly priority theme lang locale language tz timezone version".split()
)
"""Names in cookie headers whose values are none."""

TECHNICAL: Final = frozenset(
    """
sha1 sha2 sha224 sha256 sha384 sha512 md4 md5 base16 base32 base58 base64 base64url utf8 utf16 utf-8 utf-16 latin1 oauth1
oauth2 oauth2.0 pbkdf2 argon2 argon2i argon2d argon2id bcrypt2 ipv4 ipv6 http1 http2 http3 python2 python3 p12 pkcs1 pkcs7
pkcs8 pkcs11 pkcs12 x509 x25519 ed25519 ecdsa256 rs256 rs384 rs512 hs256 hs384 hs512 es256 es384 es512 ps256 aes128 aes192
aes256 aes-128 aes-256 rsa2048 rsa4096 rsa-2048 k8s s3 ec2 i18n l10n int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32
float64 u8 u16 u32 u64 i32 i64 f32 f64 h1 h2 h3 win32 win64 x86 x64 amd64 arm64 node18 node20 py3 auth0 saml2 v1 v2 v3 v4
web3 log4j mp3 mp4 md5sum sha256sum sha1sum 2fa mfa2 u2f fido2 ntlmv2 scram-sha-1 scram-sha-256 scram-sha-512 tls1.2 tls1.3 tls12 tls13 ssl3 level1 part1 step1 step2
""".split()
)
"""Words with digits that are no secrets either."""
