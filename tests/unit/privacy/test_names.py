"""`privacy.names`: which identifiers tell that their value is a secret."""

from __future__ import annotations

import pytest

from aforesaid.privacy.names import describe, is_flag


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, "password") for name in ("DB_PASSWORD", "dbPassword", "passwd", "userpass", "SMTP_PASS_PROD", "pwd2")),
        *((name, "secret") for name in ("clientSecret", "CLIENT_SECRET", "credentials", "appsecret", "dbcredentials")),
        *((name, "token") for name in ("authtoken", "X-Auth-Token", "csrfToken", "bottoken", "jwt")),
        *((name, "key") for name in ("apiKey", "x-api-key", "secretkey", "AWS_SECRET_ACCESS_KEY", "SECRET_KEY_BASE")),
        *((name, "weak-key") for name in ("key", "MAPS_KEY", "chiave")),
        *((name, "auth") for name in ("Authorization", "xauth", "_auth")),
        *((name, "cookie") for name in ("Set-Cookie", "cookie", "mycookie")),
        *((name, "session") for name in ("PHPSESSID", "sessionid")),
        ("X-Amz-Signature", "signature"),
        ("sig", "signature"),
        ("MNEMONIC", "mnemonic"),
        ("Bearer", "bearer"),
        ("parola", "phrase"),
        ("PuTTY-User-Key-File-3", "putty"),
        *(
            (name, "")
            for name in ("password_hash", "passwordFile", "max_tokens", "nextPageToken", "next_token", "tokens")
        ),
        *(
            (name, "")
            for name in ("primaryKey", "public_key", "publicKeyToken", "monkey", "keyboard", "bypass", "compass")
        ),
        *(
            (name, "")
            for name in ("author", "authority", "secretary", "____", "123", "key_id", "cacheKey", "inputtoken")
        ),
    ],
)
def test_a_name_tells_by_its_last_words(name: str, kind: str) -> None:
    assert describe(name) == kind


@pytest.mark.parametrize(
    ("name", "flag"), [("--password", True), ("-p", True), ("password", False), ("--", False), ("-1", False)]
)
def test_flags_begin_with_dashes(name: str, flag: bool) -> None:
    assert is_flag(name) is flag
