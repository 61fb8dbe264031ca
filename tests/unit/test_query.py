"""What a request asks for, and what it does not."""

from __future__ import annotations

import json
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from tests.words import any_text

from aforesaid import text
from aforesaid.matching import Literal
from aforesaid.query import LONGEST, MOST, classify, read_query

REQUESTS = Path(__file__).parent.parent / "fixtures" / "requests" / "no-topic.txt"


TOPICS = REQUESTS.with_name("topic.jsonl")
NOUNS = REQUESTS.with_name("noun.txt")
NO_NOUNS = REQUESTS.with_name("no-noun.txt")


def no_topic_requests() -> list[str]:
    return [*REQUESTS.read_text("utf-8").splitlines(), *NO_NOUNS.read_text("utf-8").splitlines()]


def test_there_are_enough_controls() -> None:
    assert len(set(no_topic_requests())) >= 380


@pytest.mark.parametrize("request_text", no_topic_requests())
def test_a_request_without_a_topic_asks_for_nothing(request_text: str) -> None:
    assert read_query(request_text).empty


@pytest.mark.parametrize("line", TOPICS.read_text("utf-8").splitlines())
def test_a_request_with_a_topic_gives_exactly_its_items(line: str) -> None:
    expected = json.loads(line)
    query = read_query(expected.pop("request"))
    found = {kind: list(getattr(query, kind)) for kind in query.__struct_fields__ if kind != "cut"}
    assert {kind: items for kind, items in found.items() if items} == expected


@pytest.mark.parametrize(
    ("request_text", "identifiers"),
    [
        ("what is `foo` next to `Foo`?", ("foo", "Foo")),
        ("see ``a `b` c`` and `x y`", ("a `b` c", "x y")),
        ("open src/app.py:12:3 and @packages/x/main.ts please", ("src/app.py", "packages/x/main.ts")),
        ("./run.sh, ../lib/x, ~/notes.txt, /etc/hosts", ("./run.sh", "../lib/x", "~/notes.txt", "/etc/hosts")),
        (r"in C:\Users\dev\app.config", (r"C:\Users\dev\app.config",)),
        ("the Makefile, Dockerfile and .env.local", ("Makefile", "Dockerfile", ".env.local")),
        ("config.yaml and report.tar.gz", ("config.yaml", "report.tar.gz")),
        (
            "parse_port and getUserById and HTTPServer and MAX_RETRIES",
            ("parse_port", "getUserById", "HTTPServer", "MAX_RETRIES"),
        ),
        ("std::vector, os.path.join, Foo.bar() and load()", ("std::vector", "os.path.join", "Foo.bar", "load")),
        ("with --dry-run, -rf and --config=x", ("--dry-run", "-rf", "--config")),
        ("- a bullet\n- another bullet", ()),
        (
            "ECONNREFUSED, E0308, TS2345, ORA-00942, NullPointerException",
            ("ECONNREFUSED", "E0308", "TS2345", "ORA-00942", "NullPointerException"),
        ),
        ("exit code 137, HTTP 502, errore 404", ("137", "502", "404")),
        ("POL-358 and DEC-0054 and #1234", ("POL-358", "DEC-0054", "#1234")),
        ("commit f320490 of 9f0c33de-1a2b-4c3d-8e4f-000000000001", ("f320490", "9f0c33de-1a2b-4c3d-8e4f-000000000001")),
        ("10.0.4.17:5432, localhost:8080, gateway:9443", ("10.0.4.17:5432", "localhost:8080", "gateway:9443")),
        ("porta 8443, port 80", ("8443", "80")),
        ("port 58,213 or porta: 58,213", ()),
        ("ports 80,443; port 81, 443", ("80", "81")),
        ("https://example.com/a?b=1.", ("https://example.com/a?b=1",)),
        ("Update the follow-up, Kubernetes and Node.js, e.g. v1.2.3 or 3.11, i.e. ad es. U.S.", ()),
        ("JavaScript, GitHub, PostgreSQL, iPhone", ()),
        ("the gen-itgc后 job", ()),
        ("done.Now the gateway, fine.Get the lamp, time.Then the lamp, http.Then the lamp", ()),
        ("what do time.Now, DateTime.Now and fmt.Println return?", ("time.Now", "DateTime.Now", "fmt.Println")),
        ("the http.Get of http.go, url.parse and time.now", ("http.Get", "http.go", "url.parse")),
        ("315,190 and 1,234,567.89, not 12,345,67 or v1,234", ("315,190", "1,234,567.89")),
        ("10,000 rows, 3,600 words, 1,2,3 and 12,31", ()),
        ("and/or TCP/IP, client/server, he/she, 12/11/2026, 24/7", ()),
        ("499.7/s, 20MB/s, 3.2GB/s, 10k/s, 5 km/h, 12.5/min", ()),
        ("2024/s.py v1.2/src 3d/scene.obj", ("2024/s.py", "v1.2/src", "3d/scene.obj")),
        ("./run and ~/notes and ../x and the tests/ folder", ("./run", "~/notes", "../x", "tests/")),
        ("Makefile:12, src/app.ts#L10-L20 and lib/x.rb:3-9", ("Makefile", "src/app.ts", "lib/x.rb")),
        ("console.log, self.db, process.env and np.array", ("console.log", "self.db", "process.env", "np.array")),
        ("the gateway.then restart. it.so ok.In", ()),
        ("修改getUserById函数,src/app.py的", ("getUserById", "src/app.py")),
        ("use ```gateway start``` here", ("gateway start",)),
        ("option #2, error 1, line:12, the 2nd, _this_ and **that**", ()),
        ("PR #7 and #1234, CVE-2024-12345", ("#7", "#1234", "CVE-2024-12345")),
        ("java.lang.NullPointerException", ("NullPointerException",)),
        ("example.com, my-host.example.org:8080, fix.it now", ("example.com", "my-host.example.org:8080")),
        ("ok -go on -I think ls -la", ("-la",)),
        ("PDFs, APIs, URLs, a.k.a. Ph.D.", ()),
    ],
)
def test_identifiers_are_what_looks_like_a_name(request_text: str, identifiers: tuple[str, ...]) -> None:
    assert read_query(request_text).identifiers == identifiers


@pytest.mark.parametrize(
    ("request_text", "guessed"),
    [
        ("what is response.status?", ("response.status",)),
        ("what about error.message, and Task.run?", ("error.message", "Task.run")),
        ("what is com.example.App? done.now.Then", ("com.example.App",)),
        ("why does job.stop hang?", ("job.stop",)),
        ("is data.value an int?", ("data.value",)),
        ("task.run, test.only, file.open", ("task.run", "test.only", "file.open")),
        ("item.name; app.start; response.data.items", ("item.name", "app.start", "response.data.items")),
        ("what is in main.go and main.c?", ("main.go", "main.c")),
        ("why does task.run the job twice?", ("task.run",)),
        ("why? fix the task.run the job twice", ()),
        ("the tests.run them, the file.open it, my commit.push again", ()),
        ("wait.what, no.problem, next.step, first.second, failing.tests, job.Stop, job.now, a.test, test.b", ()),
        ("e.g. i.e. U.S. a.k.a. ad.es. Node.js v1.2 job.v2", ()),
        ("what did -name do?", ("-name",)),
        ("say what -type, -exec and (-version -all -run) mean", ("-type", "-exec", "-version", "-all", "-run")),
        ("find . -maxdepth 2 -print-all", ("-maxdepth", "-print-all")),
        ("ok -commit, the proxy -our main one- is down, the proxy -file system- is up, tests -run them", ()),
        ("lists:\n -files\n\t-tests", ()),
        ("what is in /run?", ("/run",)),
        ("did you look at /fix, (/all) and /start/stop?", ("/fix", "/all", "/start/stop")),
        ("/run in /run", ("/run",)),
        ("`x`/run and 'x'/run, and /or, he /she, /and/or", ()),
        ("test/run and do/it/now in src/run/", ("test/run", "do/it/now")),
        ("and/or yes/no input/output start/stop one/two/three now/never @do/it/now", ()),
    ],
)
def test_names_of_ordinary_words_are_guesses(request_text: str, guessed: tuple[str, ...]) -> None:
    query = read_query(request_text)
    assert query.guessed == guessed
    assert set(guessed) <= set(query.identifiers)
    assert read_query(request_text, guessing=False).guessed == ()


@pytest.mark.parametrize(
    "request_text",
    [
        "why does job.stop hang the gateway?",
        "is data.value an int in src/app.py?",
        "find . -maxdepth 2 -name 'x y'",
        "which version has response.status?",
        "what is in /run and `/all`?",
        "修改response.status函数",
    ],
)
def test_a_request_is_read_as_if_its_guesses_were_none(request_text: str) -> None:
    query, without = read_query(request_text), read_query(request_text, guessing=False)
    assert query.guessed
    assert [item for item in query.identifiers if item not in query.guessed] == list(without.identifiers)
    assert (query.phrases, query.keywords, query.terms) == (without.phrases, without.keywords, without.terms)
    assert query.named is without.named


def test_guesses_stand_in_order_among_the_files_and_symbols() -> None:
    query = read_query("item.name of `b` in /run, src/app.py and job.stop")
    assert query.identifiers == ("item.name", "b", "/run", "src/app.py", "job.stop")
    assert query.files == ("/run", "src/app.py")
    assert query.symbols == ("item.name", "job.stop")


def test_a_guess_takes_no_room_of_a_name_and_is_none_where_that_is_marked() -> None:
    full = _many("identifiers", MOST["identifiers"])
    query = read_query(f"item.name {full}")
    assert (query.guessed, query.cut, len(query.identifiers)) == ((), True, MOST["identifiers"])
    one_less = read_query(f"item.name {_many('identifiers', MOST['identifiers'] - 1)} job.stop")
    assert (one_less.guessed, one_less.cut) == (("item.name",), True)
    assert read_query("item.name, `item.name`").guessed == ()
    assert read_query("```\nitem.name = job.stop\n```").empty


@pytest.mark.parametrize(
    ("request_text", "phrases"),
    [
        ('"connection refused"', ("connection refused",)),
        ("“a b” „c d“ «e f» »g h« ‹i j› ‘k l’ 'm n'", ("a b", "c d", "e f", "g h", "i j", "k l", "m n")),
        ("「エラー」 『警告』 《配置》", ("エラー", "警告", "配置")),
        ("l'errore dell'utente e l'altro", ()),
        ("don't we've 'til", ()),
        ("'tis the users' choice, a 5\" and a 6\" one", ()),
        ("he said 'don't'", ("don't",)),
        ('"..." and "solo"', ("solo",)),
        (
            "vad sa ”det gick fel”, mikä ’virhe’ oli ja »missä» ja ›milloin›",
            ("det gick fel", "virhe", "missä", "milloin"),
        ),
        ("was heißt ‚nicht da‘ und ‚nicht so’, ›doch da‹", ("nicht da", "nicht so", "doch da")),
        ("מה זה ״שגיאה חדשה״ של צה״ל ושל מנכ״ל", ("שגיאה חדשה",)),
        ('מה זה "שגיאה" של צה"ל ושל מנכ"ל', ("שגיאה",)),
        ("של צה״ל ושל מנכ״ל", ()),
        ("〈一〉〝二〞〝三〟＂四＂｢五｣﹁六﹂﹃七﹄＇八＇", ("一", "二", "三", "四", "五", "六", "七", "八")),
        (
            "‛a b’ ‟c d” ⹂e f” ❝g h❞ ❮i j❯ ❛k l❜ „m n” 🙶o p🙷 \u2329q r\u232a",
            (*("a b", "c d", "e f", "g h", "i j", "k l", "m n", "o p", "q r"),),
        ),
        ("使用‘配置’的'端口'，'에러'를 '없음'으로", ("配置", "端口", "에러", "없음")),
        ("he said ‘don’t do it’, ’l’idea’ and 'l'idea'", ("don’t do it", "l’idea", "l'idea")),
        ("’all’ and ’404’ and 's' and 't'", ("all", "404", "s", "t")),
        ("don’t we’ve ’til l’idea dell’utente e un po’ di ’sto coso, gli anni ’90 e gli altri’", ()),
        ("’tis the users’ choice, the hosts’ names’; rock ’n’ roll; ’s morgens en ’s avonds’", ()),
        ("a 5” and a 6” one, File › Open › Recent, the end.” and then “foo” x”", ("foo",)),
        ("» foo « «bar» x «baz», “l’idea di ‘x’”", ("foo", "bar", "baz", "l’idea di ‘x’")),
    ],
)
def test_quotes_of_every_language_make_phrases(request_text: str, phrases: tuple[str, ...]) -> None:
    assert read_query(request_text).phrases == phrases


@pytest.mark.parametrize(
    ("request_text", "topics"),
    [
        ("the war's end", ("war",)),
        ("Star Wars", ("Star", "Wars")),
        ("das war gestern, bonne à la nuit", ("war", "nuit")),
        ("danke, das war's mit dem Gateway", ("Gateway",)),
        ("restore the revoir of " + "x" * 400 + " au revoir", ("restore", "revoir")),
    ],
)
def test_only_formulas_of_parting_are_no_topic(request_text: str, topics: tuple[str, ...]) -> None:
    assert read_query(request_text).keywords[:2] == topics


def test_ui_terms_stay_searchable() -> None:
    query = read_query("le schermate e il pulsante da premere dopo l'input")
    assert {"schermate", "premere", "input"} <= set(query.keywords)


def test_a_stopword_in_backticks_or_quotes_stays_searchable() -> None:
    query = read_query('solo `solo` and "senza" and without')
    assert query.identifiers == ("solo",)
    assert query.phrases == ("senza",)
    assert query.terms == ("solo", "senza")


def test_stopword_lookup_never_changes_the_query() -> None:
    query = read_query("Perché la GRÖẞE dell'Ufficio è ｆｕｌｌ?")
    assert query.keywords == ("GRÖẞE", "Ufficio")
    assert read_query("PERCHÉ? Però… ＯＫ").empty


def test_a_capitalised_or_hyphenated_word_is_a_keyword() -> None:
    query = read_query("Update the follow-up of the Gateway")
    assert query.identifiers == ()
    assert query.keywords == ("Update", "follow-up", "Gateway")


def test_a_time_to_wait_is_a_topic_only_beside_a_stronger_one() -> None:
    assert read_query("back in 10min, do it 2x").empty
    assert read_query("the timeout of 10min").keywords == ("timeout", "10min")


def test_the_language_of_an_answer_is_a_topic_only_beside_a_stronger_one() -> None:
    assert read_query("say it in English, or in Polish").empty
    assert read_query("the labels in Italian").keywords == ("labels", "Italian")
    assert read_query("the Italian labels and in-english.md").keywords == ("Italian", "labels")


def test_capitals_tell_some_technologies_from_words() -> None:
    assert read_query("the REST endpoint of the React app").technologies == ("REST", "React")
    assert read_query("DO THE REST").empty
    assert read_query("make it prettier").empty


def test_words_of_every_session_are_topics_only_beside_a_stronger_one() -> None:
    assert read_query("fix the error and run the tests").empty
    assert read_query("run the login tests").keywords == ("login", "tests")


def test_categories_are_part_of_the_identifiers() -> None:
    query = read_query("`src/app.py` `parse_port()` `E0308` `plain words`")
    assert query.files == ("src/app.py",)
    assert query.symbols == ("parse_port()",)
    assert query.errors == ("E0308",)
    assert classify("plain words") == "name"
    assert set(query.files + query.symbols + query.errors) < set(query.identifiers)


def test_technologies_are_reported_as_they_are_written() -> None:
    assert read_query("POSTGRESQL con C++, c# e Node.js").technologies == ("POSTGRESQL", "C++", "c#", "Node.js")


@pytest.mark.parametrize(
    ("request_text", "keywords"),
    [
        ("Как настроить сервер", ("настроить", "сервер")),
        ("修复配置文件的端口", ("配置文件", "端口")),
        ("请把数据库的连接池改成", ("数据库", "连接", "接池", "池改", "改成")),
        ("修改getUserById函数", ("修改", "函数")),
        ("サーバーの設定を確認してください", ("サーバー", "設定")),
        ("データベースの接続エラー", ("データベース", "接続", "エラー")),
        ("서버에서 데이터베이스를", ("서버", "데이터베이스")),
        ("ระบบ", ("ระบบ",)),
        ("ข้อมูล", ("ข้", "้อ", "อม", "มู", "ูล")),
        ("तालिका में डेटा", ("तालिका", "डेटा")),
        ("שָׁלוֹם לשרת", ("שָׁלוֹם", "לשרת")),
        ("إعدادات الخادم", ("إعدادات", "الخادم")),
        ("timeout 30s 8443 2 512MB v2.1", ("timeout", "30s", "8443", "512MB", "v2.1")),
    ],
)
def test_keywords_of_every_script(request_text: str, keywords: tuple[str, ...]) -> None:
    assert read_query(request_text).keywords == keywords


def test_a_pasted_block_gives_its_names_and_not_its_words() -> None:
    query = read_query("why the gateway?\n```\nTraceback: something broke in src/pool.py\nECONNREFUSED\n```")
    assert query.identifiers == ("src/pool.py", "ECONNREFUSED")
    assert query.keywords == ("gateway",)


def test_terms_are_topics_in_order_without_repetition() -> None:
    query = read_query('gateway `parse_port` GATEWAY "Parse Port" proxy `->`')
    assert query.terms == ("gateway", "parse_port", "proxy")
    assert query.identifiers == ("parse_port", "->")


def test_a_huge_request_is_read_at_both_ends_and_bounded() -> None:
    request_text = "alpha_one " + "filler words gateway proxy " * 40_000 + " `omega`"
    query = read_query(request_text)
    assert query.identifiers == ("alpha_one", "omega")
    assert len(request_text) > 2 * LONGEST
    many = read_query(" ".join(f"name_{number} word{number}x" for number in range(500)))
    assert len(many.identifiers) == MOST["identifiers"]
    assert len(many.terms) <= MOST["terms"]


def _many(kind: str, number: int) -> str:
    made = {
        "identifiers": "`name{}`",
        "phrases": '"the words {} of"',
        "keywords": "woord{}x",
        "pasted": "src/file{}.py",
        "Han": "数{}据",
    }
    joined = " ".join(made[kind].format(place) for place in range(number))
    return f"why?\n```\n{joined}\n{joined}\n```" if kind == "pasted" else joined


@pytest.mark.parametrize(("kind", "most"), [("identifiers", 32), ("phrases", 16), ("keywords", 48), ("pasted", 16)])
def test_a_request_says_that_it_holds_more_than_counts(kind: str, most: int) -> None:
    assert not read_query(_many(kind, most)).cut
    assert read_query(_many(kind, most + 1)).cut


def test_what_would_be_no_topic_is_not_missed_behind_the_last_one_that_counts() -> None:
    full = _many("keywords", 48)
    assert not read_query(f"{full}. Thanks, go on with it, please: woord3x, WOORD4X and PostgreSQL").cut
    assert read_query(f"{full}. Thanks, go on with it, please: woord48x").cut


def test_too_many_terms_of_all_kinds_are_told() -> None:
    some = " ".join((_many("identifiers", 30), _many("keywords", 34)))
    assert (len(read_query(some).terms), read_query(some).cut) == (64, False)
    more = read_query(f"{some} {_many('phrases', 1)}")
    assert (len(more.terms), more.cut) == (64, True)


def test_a_run_without_blanks_that_gives_more_topics_than_count_is_told() -> None:
    letters = "".join(chr(0x4E00 + 7 * place) for place in range(60))
    assert not read_query(letters[:40]).cut
    assert read_query(letters).cut


def test_the_unread_middle_of_a_long_request_is_told_unless_it_is_empty() -> None:
    beginning, end = "the gateway ".ljust(LONGEST), " of the proxy".rjust(LONGEST)
    assert not read_query(beginning + end).cut
    assert not read_query(f"{beginning}  \n{end}").cut
    assert read_query(f"{beginning} `name` {end}").cut


@pytest.mark.parametrize("piece", ["a.", "a_", "A-1-", "0.", "ab12-", "a::", "http://", "--a", "a@", "修复", "é."])
def test_no_request_is_slow(piece: str) -> None:
    started = process_time()
    read_query(piece * 100_000)
    read_query(f"{piece * (240 // len(piece))} " * 200)
    assert process_time() - started < 2


@pytest.mark.parametrize(
    "word", ["a" + "A" * 200 + "é", "aB" * 100 + "é", "Ab1" * 80 + "é", "A" * 200 + "é", "ABab" * 60 + "é"]
)
def test_one_word_with_many_capitals_is_not_slow(word: str) -> None:
    started = process_time()
    read_query(word)
    assert process_time() - started < 1


@given(any_text)
def test_any_text_is_a_request_and_its_items_stand_in_it(request_text: str) -> None:
    query = read_query(request_text)
    for item in (*query.identifiers, *query.phrases, *query.technologies, *query.keywords):
        assert item in request_text
    for item in (*query.identifiers, *query.phrases):
        Literal(item).found_in(request_text)
    assert all(text.tokens(term) for term in query.terms)
    assert len({text.tokens(term) for term in query.terms}) == len(query.terms)
    assert set(query.files + query.symbols + query.errors) <= set(query.identifiers)
