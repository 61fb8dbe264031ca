"""Hypothesis strategies for texts as they come: many scripts, code, marks that melt, surrogates, controls."""

from __future__ import annotations

from hypothesis import strategies as st

_PIECES = (
    *(
        "port",
        "Port",
        "PORT",
        "getUserById",
        "HTTPServer",
        "utf8Decoder",
        "parse_port",
        "--dry-run",
        "src/app.py",
        "E0308",
    ),
    *("perché", "perche\u0301", "Größe", "große", "naïve", "привет", "Ёлка", "שָׁלוֹם", "مرحبا", "हिन्दी", "ＦＵＬＬ", "ﬁ"),
    *(
        "数据库",
        "修复",
        "后",
        "itgc",
        "サーバー",
        "か\u3099",
        "ｶﾞ",
        "서버",
        "\u1112\u1161\u11ab",
        "\u1112\u1161",
        "\u11ab",
        "ทดสอบ",
        "ที่",
    ),
    *(
        " ",
        "  ",
        "\n",
        "\t",
        "-",
        "_",
        ".",
        "/",
        ":",
        "'",
        '"',
        "`",
        "*",
        "(",
        ")",
        "^",
        "+",
        "\u00a0",
        "…",
        "“",
        "”",
        "。",
    ),
    *(
        "\x00",
        "\ud800",
        "\udfff",
        "\u00ad",
        "\u200b",
        "\u200d",
        "\ufe0f",
        "\u0301",
        "\u3099",
        "🎉",
        "👩‍👩‍👧",
        "🇮🇹",
        "\u202e",
    ),
    *("a", "A", "b", "x1", "1", "42", "OR", "AND", "NOT", "NEAR", "{body}", "İ", "ß", "ı"),
)

pieces = st.lists(st.sampled_from(_PIECES), max_size=12).map("".join)
any_text = pieces | st.text(alphabet=st.characters(), max_size=40)
"""Any text whatever, lone surrogates included, often made of pieces that are hard on tokenizers."""
