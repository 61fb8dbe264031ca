"""Floor 3: what names, quotes, paths, errors and words look like, as patterns for `query`.

All are strings: `re` compiles each when it is first used, and keeps it, so that importing this costs nothing. Some look
ahead as far as a word goes; `query` blanks longer words (`UNBROKEN`) first, which bounds what that can cost.
"""

from __future__ import annotations

import re
from typing import Final

from aforesaid import text
from aforesaid.language import files, technologies

UNBROKEN = f"[^\\s{text.UNSPACED}]{{257,}}"
PASTED = r"(?s:```.*?(?:```|\Z))"
TICKED = r"``(?!`)([^\n]{1,200}?)``(?!`)|`([^`\n]{1,200})`(?!`)"
QUOTED = (
    r"\"([^\"\n]{1,200})\"|“([^“”\n]{1,200})”|„([^„“”\n]{1,200})[“”]|«([^«»\n]{1,200})»|»([^«»\n]{1,200})«"
    r"|‹([^‹›\n]{1,200})›|「([^「」\n]{1,200})」|『([^『』\n]{1,200})』|《([^《》\n]{1,200})》"
    r"|(?<!\w)‘([^‘’\n]{1,200})’(?!\w)|(?<![\w'])'([^'\n]{1,200})'(?![\w'])"
)
URL = r"\b(?:https?|ftp|ssh|git|file|wss?|postgres(?:ql)?|redis|mysql|mongodb|amqp)://[^\s<>\"'`]+"
MAIL = r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b"
PATH = (
    r"(?<![\w/\\.@~-])(?:@(?=[\w.]))?((?:[A-Za-z]:[\\/]|~[\\/]|\.{1,2}[\\/]|[\\/])?(?:[\w.@+~-]+[\\/])*[\w.@+~-]*\w)"
    r"(:\d+(?::\d+)?)?(?![\w/\\])"
)
HIDDEN = r"(?<![\w.])\.(?:" + "|".join(map(re.escape, files.HIDDEN)) + r")(?:\.\w+)*(?![\w-])"
WELL_KNOWN = r"(?<![\w./-])(?:" + "|".join(map(re.escape, files.WELL_KNOWN)) + r")(?:\.\w+)?(?![\w-])"
FLAG = r"(?<![\w-])(--[A-Za-z][\w-]*\w|-[A-Za-z]{1,3}(?![\w-]))"

ERRNO = (
    "E2BIG EACCES EADDRINUSE EADDRNOTAVAIL EAGAIN EBADF EBUSY ECONNABORTED ECONNREFUSED ECONNRESET EEXIST EFAULT EFBIG"
    " EHOSTDOWN EHOSTUNREACH EINTR EINVAL EIO EISDIR ELIFECYCLE EMFILE EMSGSIZE ENAMETOOLONG ENETDOWN ENETUNREACH ENFILE"
    " ENOBUFS ENODEV ENOENT ENOEXEC ENOLOCK ENOMEM ENOSPC ENOSYS ENOTCONN ENOTDIR ENOTEMPTY ENOTFOUND ENOTSUP EOVERFLOW"
    " EPERM EPIPE EPROTO ERANGE ERESOLVE EROFS ESRCH ESTALE ETARGET ETIMEDOUT ETXTBSY EXDEV"
    " SIGABRT SIGBUS SIGFPE SIGHUP SIGILL SIGINT SIGKILL SIGPIPE SIGSEGV SIGTERM OOMKilled CrashLoopBackOff"
)
ERROR = (
    r"(?<!\w)(?:"
    + "|".join(ERRNO.split())
    + r"|E\d{3,5}|TS\d{4,5}|CS\d{4}|C\d{4}|ORA-\d{4,5}|ERR_\w+|0x[0-9A-Fa-f]{3,16}"
    r"|[A-Z]\w*(?:Error|Exception|Fault|Failure|Interrupt))(?!\w)"
)
CODED_ERROR = (
    r"(?i:\b(?:errors?|errore|errori|fehler|status|http|stato|codice|code|sqlstate|exit(?:\s+(?:code|status))?|exited with"
    r"|uscita)\s*[:=#]?\s*)(\d{1,5})(?![\w.])"
)
TICKET = r"(?<![\w-])[A-Z][A-Z0-9]{0,9}-\d{2,7}(?![\w-])|(?<!\w)#\d{1,7}(?!\w)"
NO_TICKETS = r"(?:UTF|SHA|ISO|MD|RFC|HTTP|COVID|AES|RSA|GPT|USB|TLS|CP|ES)-\d+"
ADDRESS = (
    r"(?<![\w.])(?:\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?|localhost(?::\d{1,5})?|[A-Za-z][\w.-]*:\d{2,5})(?![\w:.]\w)"
    r"|(?<![\w:]):\d{2,5}(?!\w)"
)
PORT = r"(?i:\b(?:ports?|porta|porte|puerto|порт\w*|端口|ポート|포트)\s*[:=#]?\s*)(\d{2,5})(?![\w.])"
HASH = (
    r"(?<![\w-])(?:[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
    r"|(?=[0-9a-f]{0,63}[0-9])(?=[0-9a-f]{0,63}[a-f])[0-9a-f]{7,64})(?![\w-])"
)
QUALIFIED = r"(?<![\w.])[^\W\d]\w*(?:(?:::|\.|->|#)[^\W\d]\w*)+(\(\))?(?!\w)"
CALL = r"(?<![\w.])([^\W\d]\w*)\(\)"
NAME = r"(?<!\w)(?=\w*[^\W_])\w*(?:[^\W_]_+\w|_[^\W_]|(?<=[a-z0-9])[A-Z]|[A-Z](?=[A-Z][a-z]))\w*(?!\w)"
HUMPS = (
    r"[a-zß-öø-ÿ]+\d*[A-Z][a-zA-Z0-9]*|(?:[A-Z]+[a-zß-öø-ÿ]+\d*){2,}[A-Z]*|[A-Z]+[a-z]+[A-Z]\w*|[A-Z]{3,}[a-z]{2,}\w*"
)
SPELLED = (
    r"(?i)(?<![\w.])(?:"
    + "|".join(sorted(map(re.escape, technologies.SPELLED), key=len, reverse=True))
    + r")(?![\w+#])"
)
WORD = r"[^\W_]+(?:[-.'’ʼ][^\W_]+)*"
ABBREVIATIONS: Final = frozenset(
    "ad.es p.es e.g i.e n.b a.m p.m u.s u.k e.u d.h z.b cf etc ecc et.al vs no.one".split()
)

AMOUNT = r"\d+(?:[.,]\d+)?(?:ns|us|µs|ms|s|sec|min|h|d|b|kb|kib|mb|mib|gb|gib|tb|k|m|px|em|rem|fps|hz|khz|mhz|ghz|x)"
VERSION = r"v?\d+(?:\.\d+)+(?:[-.]?\w+)?"
HAN_FILLER = "[请把的了吗吧呢啊呀嘛在和与及或是我你您他她它们这那就都也还又再被给让对从到向为以于个些么什怎哪谁]+"
HIRAGANA = "[\u3041-\u309f]+"
JAPANESE = "[\u3041-\u30fa]"
KOREAN_ENDING = (
    "(?:에서는|에서|에게|으로|까지|부터|처럼|보다|이라|라고|하고|하는|해서|했다|합니다|하세요|해주세요|해줘"
    "|은|는|이|가|을|를|의|에|도|로|와|과|만)$"
)
SCRIPT_RUN = f"[{text.UNSPACED}]+|[^{text.UNSPACED}]+"
SEGMENT = "[\uac00-\ud7a3]+|[\u0e01-\u0e7f]+|[^\uac00-\ud7a3\u0e01-\u0e7f]+"
ORDINAL = r"\d+(?:st|nd|rd|th|er|e|a|o|º|ª|mo|ma)?"
DRAWN = r"(.)\1{2,}|(.)\2+$"
