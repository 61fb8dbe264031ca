"""Floor 9: the words that the benchmark's transcripts are made of, as data.

`corpus` puts them at the top of its vocabulary, `requests` asks for some of them. Nothing here is measured.
"""

from __future__ import annotations

from typing import Final

_ENGLISH_FUNCTION = """
the to a and of in is it that for this on with be as we not you are have at from or can by an if so but will when then
all into there which do no only
"""

ENGLISH_FUNCTION: Final = tuple(_ENGLISH_FUNCTION.split())
"""The most frequent words of the English messages; no request asks for them."""

_ENGLISH_TOPICS = """
server test error file request build cache config database user service branch deploy token query index module session
worker thread message queue client response header timeout retry commit merge review release version package schema
column table record migration backup restore snapshot cluster node proxy gateway router port socket certificate
password account billing invoice payment refund webhook event stream batch schedule job pipeline artifact container
image volume storage bucket region latency throughput memory leak profile trace metric alert dashboard threshold
budget quota limit parser lexer grammar compiler linker symbol pointer buffer overflow lock deadlock race mutex
semaphore transaction isolation rollback replica shard partition consensus leader election heartbeat checksum digest
signature encryption key vault secret rotation policy role permission audit tenant staging production canary rollout
fallback circuit breaker
"""

ENGLISH_TOPICS: Final = tuple(_ENGLISH_TOPICS.split())
"""Topic words in the order of their frequency."""

_ITALIAN_FUNCTION = """
il la di che e un per in non con è del una sono le i da lo alla si come più ma della nel gli anche se al ci questo
quando
"""

ITALIAN_FUNCTION: Final = tuple(_ITALIAN_FUNCTION.split())
"""The most frequent words of the Italian messages."""

_ITALIAN_TOPICS = """
errore porta servizio richiesta prova ramo salvataggio schermata pulsante tabella colonna migrazione certificato
fattura pagamento rimborso coda messaggio utente accesso chiave segreto configurazione cartella percorso versione
rilascio registro soglia memoria scadenza proroga magazzino ordine cliente fornitore anagrafica stampa etichetta
codice lettore bilancia città perché così però qualità velocità attività
"""

ITALIAN_TOPICS: Final = tuple(_ITALIAN_TOPICS.split())
"""Topic words of the Italian messages in the order of their frequency."""

EAST_ASIAN: Final = (
    "数据库迁移失败，因为连接超时。",
    "请检查配置文件里的端口号。",
    "缓存在重启后没有更新",
    "我们决定使用八个工作线程。",
    "证书将在下个月到期",
    "日志里有三个错误",
    "データベースの移行に失敗しました。",
    "設定ファイルのポート番号を確認してください。",
    "キャッシュの有効期限は三十分です",
    "再起動の後で更新されません。",
    "데이터베이스 마이그레이션이 실패했습니다.",
    "설정 파일의 포트 번호를 확인하세요",
    "ใบรับรองจะหมดอายุเดือนหน้า",
    "การเชื่อมต่อหมดเวลา",
)
"""Clauses of the Chinese, Japanese, Korean and Thai messages."""

EUROPEAN: Final = (
    "Die Prüfsumme der Sicherung stimmt nicht überein.",
    "Größe des Puffers wurde erhöht",
    "Straße und Hausnummer fehlen",
    "Миграция базы данных завершилась ошибкой.",
    "Проверьте номер порта в настройках",
    "срок действия ключа истёк",
    "La clé a été renouvelée après l’échéance.",
    "El número de reintentos está en la configuración",
)
"""Clauses of the German, Russian, French and Spanish messages."""

PHRASES: Final = (
    "connection refused while draining the queue",
    "the refund is booked twice",
    "retry budget of seven attempts",
    "we keep the old gateway until March",
    "checksum mismatch in block 4711",
    "il certificato scade a fine mese",
    "la stampa parte due volte",
    "port 48213 is taken by the canary",
)
"""Sentences that stand now and then in the messages of every session."""

MARKS: Final = ("—", "→", "✓", "don’t", "…", "“ok”", "≥", "é")
"""What assistants write beyond ASCII in otherwise English messages."""
