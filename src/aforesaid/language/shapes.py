"""Floor 3: what names, quotes, paths, errors and words look like, as patterns for `query`.

All are strings: `re` compiles each when it is first used, and keeps it, so that importing this costs nothing. Each takes
linear time on any text: it begins only where nothing of its own kind stands before, or looks ahead a bounded stretch.
"""

from __future__ import annotations

from typing import Final

from aforesaid import text
from aforesaid.language import technologies

# --- marks ---
UNBROKEN = r"[!-~]{257,}"
FENCED_IN_LINE = r"```([^`\n]{1,200})```"
PASTED = r"(?s:```.*?(?:```|\Z))"
TICKED = r"``(?!`)([^\n]{1,200}?)``(?!`)|`([^`\n]{1,200})`(?!`)"

# --- addresses ---
URL = r"(?<!\w)(?:[A-Za-z][A-Za-z0-9+.-]{0,15}://|www\.)[^\s<>\"'`，。、！？；（）]+"
MAIL = r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"
LOCAL_HOST = r"(?<![\w.-])localhost(?::\d{1,5})?(?![\w-])"
HOST = (
    r"(?<![\w.@/-])(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,6}"
    r"(?:com|org|net|io|dev|eu|info|biz|gov|edu|cloud|local|app|ai|co|it|de|at|us|uk|fr|es|nl|ch|ca|jp|cn|kr|ru|br|au)"
    r"(?::\d{1,5})?(?![\w(:-]|\.\w)"
)
IP_ADDRESS = r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5}|/\d{1,2})?(?![\w.]*\w)"
HOST_AND_PORT = r"(?<![\w.-])[A-Za-z][\w.-]{0,63}:\d{2,5}(?![\w:]|\.\w)"
COLON_AND_PORT = r"(?<![\w:.-]):(\d{4,5})(?![\w:])"
NUMBER = r"(?<![\w.,-])\d{2,5}(?!\w|\.\d)"
GROUP = r",\d{3}(?!\d)"
"""Three more digits of one number; behind several ports another port."""
BEFORE_PORTS = r"(?i:\b(?:ports|porte|puertos|portas|порты|портов)\s{0,3}[:=]?\s{0,3}$)"
BEFORE_A_PORT = r"(?i:\b(?:ports?|porta|porte|puerto|porto|порт\w{0,3})|端口号?|ポート|포트)\s{0,3}[:=#：]?\s{0,3}$"

# --- files ---
_LINE = r"(?::\d+(?:[:-]\d+)*|#L\d+(?:-L?\d+)?)?"
PATH = (
    r"(?<![\w/\\.@~+-])(@)?(?=[\w@+~:-]{0,128}[./\\])"
    r"((?:[A-Za-z]:[\\/]|~[\\/]|\.{1,2}[\\/]|[\\/]|\\\\)?(?:[\w.@+~-]+[\\/])*(?:[\w.@+~-]*\w)?)"
    + _LINE
    + r"(?![\w/\\])"
)
SPACED_PATH = r"(?:[A-Za-z]:)?[\\/~.]?(?:[\w.@+~ -]+[\\/]){1,32}[\w.@+~ -]*\.\w{1,8}"
RATE = r"[+~-]?\d[\d.,_]*[A-Za-z]{0,4}/(?:s|sec|second|secondo|min|minute|minuto|h|hr|hour|ora|d|day|giorno|ms|req|op)"
CAPITALISED = r"(?<![\w./-])([A-Z][A-Za-z]{4,20})(\.\w{1,8})?" + _LINE + r"(?![\w-])"

# --- flags, errors, codes ---
FLAG = (
    r"(?<![\w-])--[A-Za-z][\w-]*\w(?!-)|(?<=[ \t(,\[])-(?:[A-Za-z]{1,3}|std|W(?:no-|all|error|extra)[\w-]*|X[a-z]{2,}\w*|D[A-Z][\w.]*"
    r"|O[0-3s])(?![\w-])"
)
IN_GUESSES = r"[^\W\d]\.[^\W\d]|/[A-Za-z]|[ \t(,\[]-[a-z]{2}"
"""What every name that may as well be prose holds."""
WORDS_AS_FLAG = r"(?<=[ \t(,\[])-([a-z]{2,20}(?:-[a-z]{1,20})*)(?![\w-])"
"""A word behind a single dash, as `find` and `java` have them: `-name`."""
WORDY_FLAGS: Final = frozenset(("-la", "-it"))
"""Flags that are words as well; other words behind a dash are words: "ok -go on"."""
ERRNO: Final = frozenset(
    """
E2BIG EACCES EADDRINUSE EADDRNOTAVAIL EAGAIN EBADF EBUSY ECONNABORTED ECONNREFUSED ECONNRESET EDEADLK EEXIST EFAULT EFBIG
EHOSTDOWN EHOSTUNREACH EINTEGRITY EINTR EINVAL EIO EISCONN EISDIR ELIFECYCLE ELOOP EMFILE EMSGSIZE ENAMETOOLONG ENETDOWN
ENETUNREACH ENFILE ENOBUFS ENODEV ENOENT ENOEXEC ENOLOCK ENOMEM ENOSPC ENOSYS ENOTCONN ENOTDIR ENOTEMPTY ENOTFOUND ENOTSUP
EOPNOTSUPP EOVERFLOW EPERM EPIPE EPROTO ERANGE ERESOLVE EROFS ESRCH ESTALE ETARGET ETIMEDOUT ETXTBSY EUSAGE EXDEV
SIGABRT SIGBUS SIGFPE SIGHUP SIGILL SIGINT SIGKILL SIGPIPE SIGSEGV SIGTERM SIGTRAP OOMKilled CrashLoopBackOff ImagePullBackOff
""".split()
)
"""Names of system errors, signals and states of failure, as they are written."""
ERROR = (
    r"(?=[A-Z0])(?<!\w)(?:(?:E|W|F|C|TS|CS|MSB|NU|CA|SC|DL|PL[CEWR]|RUF)\d{3,5}|P\d{4}|ORA-\d{4,5}|ERR_\w+|0x[0-9A-Fa-f]{3,16}"
    r"|[A-Z]\w{0,80}(?:Error|Exception|Fault|Failure|Interrupt|Warning)|(E[A-Z0-9]{2,16}|SIG[A-Z]{2,5}|[A-Z]\w{4,10}(?:Killed|BackOff)))(?!\w)"
)
"""A group where the name counts only if it is one of `ERRNO`."""
BEFORE_A_CODE = r"(?i:\b(?:errors?|errore|errori|fehler|erreur|status|stato|http|codice|code|sqlstate)\s{0,3}[:=#]?\s{0,3})$|错误码?$"
"""What an error code of three digits or more stands behind."""
BEFORE_AN_EXIT = (
    r"(?i:\b(?:exit(?:s|ed)?|uscita|errno)(?:\s{1,3}(?:code|status|with|con|codice)){0,3}\s{0,3}[:=#]?\s{0,3})$"
)
"""What an exit status of two digits or more stands behind; one digit is too little to search for."""
BEHIND_WORDS: Final = 48
"""Characters that all of these look back."""
TICKET = r"(?<![\w-])(?:CVE-\d{4}-\d{4,7}|[A-Z][A-Z0-9]{0,9}-\d{2,7})(?![\w-])"
NO_TICKETS: Final = frozenset("UTF SHA ISO MD RFC HTTP COVID AES RSA GPT USB TLS CP ES WIN MP H".split())
"""What a number follows behind a hyphen in names that are no tickets."""
ISSUE = r"(?:(?i:\b(issues?|prs?|mr|ticket|bug|story|pull\srequest|merge\srequest)\s{0,3})|(?<!\w))(#\d{1,7})(?!\w)"
GROUPED = r"(?<![\w.,-])\d{1,3}(?:,\d{3}){1,4}(?:\.\d{1,12})?(?!\w|[.,]\d)"
"""A number whose digits are grouped."""
HASH = (
    r"(?=[0-9a-fA-F]{7})(?<![\w-])(?:[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
    r"|(?=[0-9a-f]{0,63}[0-9])(?=[0-9a-f]{0,63}[a-f])[0-9a-f]{7,64})(?![\w-])"
)

# --- names of code ---
QUALIFIED = r"(?<![\w.])(?=\w+[.:#-])([^\W\d]\w*(?:(?:::|\.|->|#)[^\W\d]\w*)+)(\(\)|(?=\(\w))?(?!\w)"
PACKAGES: Final = frozenset("bufio exec filepath fmt http io ioutil regexp slog sql strconv syscall url utf8".split())
"""Packages that are no words, behind which a capital begins a name of code and no sentence: `http.Get`."""
EXPORTED: Final = frozenset(
    """
time.Now time.Since time.Until time.Sleep time.After time.Duration time.Parse time.Second time.Time context.Background
context.Canceled errors.As errors.Is errors.Join errors.New log.Fatal log.Fatalf log.Printf log.Println sort.Slice sort.Strings
strings.Builder strings.Contains strings.Join strings.Split sync.Map sync.Mutex sync.Once sync.Pool path.Join flag.Parse
bytes.Buffer math.Max math.Min DateTime.Now DateTime.Today
""".split()
)
"""The commonest names of packages and types that are words, as they are written."""
CALL = r"(?<![\w.])([^\W\d]\w*)\(\)"
NAME = r"(?<!\w)(?=[^\W_]*[A-Z_])(\w*(?:[^\W_]_+\w|_[^\W_]|(?<=[a-z0-9ß-öø-ÿ])[A-Z]|[A-Z](?=[A-Z][a-z]))\w*)"
HUMPS = r"[a-zß-öø-ÿ]\d*[A-Z]|[A-Z]{3,}[a-z]{2,}"
"""What tells a word with humps from one in capitals and from plurals of abbreviations ("PDFs")."""
OBJECTS: Final = frozenset(
    "console process self this cls window document math object json module exports import logger np pd os sys".split()
)
"""What stands before the dot in names of code that could be files or prose otherwise, folded."""
JOINERS: Final = frozenset(
    """
then now and but please thanks also so the it i we you he she they that this these those there if when what why how can could
would should do does is are was were not no yes ok or for in on at to with poi ora grazie anche ma se che non si il la lo i gli
le un una e o per con in su puoi vorrei devi adesso dopo prima quindi pero invece infine
""".split()
)
"""What begins a sentence whose blank was forgotten, folded."""
SPELLED = (
    r"(?i)(?<![\w.])(?:"
    + "|".join(
        sorted((name.replace("+", r"\+").replace(".", r"\.") for name in technologies.SPELLED), key=len, reverse=True)
    )
    + r")(?![\w+#])"
)
ABBREVIATIONS: Final = frozenset(
    "ad.es p.es e.g i.e n.b a.m p.m u.s u.k e.u d.h z.b u.a b.v etc ecc et.al vs no.one ph.d m.sc b.sc p.s d.c s.r.l s.p.a a.k.a n.d.r c.d".split()
)
"""Abbreviations with dots inside, folded, without their last dot."""

# --- words ---
BEFORE_A_TONGUE = r"(?i)(?<!\w)(?:in|into|auf|ins|en|em|op|на|по)[\s-]{1,3}"
"""What stands before the name of the language of an answer."""
_MARKS = (
    "\u00ad\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983"
    "\u09bc-\u09cd\u0a01-\u0a03\u0a3c-\u0a4d\u0a70\u0a71\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b57\u0b82"
    "\u0bbe-\u0bcd\u0c00-\u0c04\u0c3e-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6\u0d00-\u0d03\u0d3b-\u0d4d\u0d81-\u0d83\u0dca-\u0ddf"
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059\u17b4-\u17d3\u200c\u200d\u3099\u309a"
)
"""Marks that belong to a word but are no letters: accents, vowel signs, joiners."""
WORD = r"[^\W_]+(?:[-.'’ʼ][^\W_]+)*"
MARKED_WORD = rf"[^\W_]+(?:[{_MARKS}]+[^\W_]*)*(?:[-.'’ʼ][^\W_]+(?:[{_MARKS}]+[^\W_]*)*)*"
AMOUNT = r"\d+(?:[.,]\d+)?(?:ns|us|µs|ms|s|sec|min|h|d|b|kb|kib|mb|mib|gb|gib|tb|k|m|px|em|rem|fps|hz|khz|mhz|ghz|x)"
WAIT = r"\d+(?:[.,]\d+)?(?:min|mins|m|h|hr|hrs|d|x)"
"""Amounts that are as often said of the work itself: back in 10min, do it 2x."""
VERSION = r"v?\d+(?:\.\d+)+(?:[-.]?\w+)?"
ORDINAL = r"\d+(?:st|nd|rd|th|er|e|a|o|º|ª|mo|ma|°)?"
DRAWN = r"(.)\1{2,}|(.)\2+$"
"""Letters that are drawn out: one three times, or twice at the end."""

# --- commands and figures ---
CALLED_COMMAND = r"(?m)^(?:command|cmd): (.*(?:\n(?!\w{1,40}: ).*)*)"
"""The shell text among the arguments of a call, as `transcripts.calls` writes them."""
PROMPTED = r"(?m)^[ \t]{0,8}\$ (.{1,400})$"
SHELL_BLOCK = (
    r"(?s:```(?:bash|sh|shell|console|zsh|powershell|text)?\n((?:(?!```).){1,4000})```)|(?<!`)`([^`\n]{8,160})`"
)
SHELL_PIECE = r"'[^']{0,400}'|\"(?:[^\"\\]|\\.){0,400}\"|[;|&\n]+|[^'\";|&\n]+|['\"]"
HERE_DOCUMENT = r"<<-?[ \t]{0,4}['\"]?(\w{1,40})['\"]?"
REDIRECTION = r"\d?>{1,2}[ \t]{0,4}[^\s<>]{0,200}|<[ \t]{0,4}[^\s<>]{1,200}"
BEFORE_A_COMMAND = r"^[\s($]*(?:[A-Za-z_]\w{0,60}=(?:'[^']{0,200}'|\"[^\"]{0,200}\"|[^\s'\"]{0,200})\s+){0,8}"
PROGRAM = r"[a-z~./][\w./~-]{0,80}\w"
FIGURE = (
    r"(?<![\w.,:/#-])(?:\d{1,3}(?:,\d{3}){1,4}(?:\.\d{1,12})?|\d{1,12}(?:\.\d{1,12}){1,4}|\d{4,16})(?![\w:/\t→-]|[.,]\d)"
    # What a tab, an arrow or a hyphen follows is the number of a line that some tool shows.
)
ESCAPED = r"\\[nt\"]"
"""What JSON makes of line ends, tabs and quotes, where a text quotes JSON."""
DRIVE = r"(?<!\w)[A-Za-z]:\\"

# --- scripts without blanks ---
SCRIPT_RUN = f"[{text.UNSPACED}]+|[^{text.UNSPACED}]+"
JAPANESE = "[\u3041-\u30fa]"
SEGMENT = "[\uac00-\ud7a3]+|[\u0e01-\u0eff]+|[\u3041-\u3096\u309d-\u309f]+|[\u30a1-\u30fa\u30fc-\u30ff]+|[^\uac00-\ud7a3\u0e01-\u0eff\u3041-\u30ff]+"
"""Hangul, Thai, hiragana, katakana, and the rest, which is mostly Han."""
NO_FILLER = r"(?!)"
HAN_FILLER = (
    "(?:为什么|怎么样?|如何|什么|哪个|这个|那个|一下|一个|我们|你们|他们|现在|然后|之后|之前|已经|因为|所以|如果|但是|而且|需要|继续|检查|修复|修正|解决|解释|帮我"
    "|看看|还有|没有|不能|不会|可以|所有|全部|剩下|问题|[请把的了吗吧呢啊呀嘛在和与及或是我你您他她它们这那就都也还又再被很么哪谁])+"
)
THAI_FILLER = "(?:ที่|และ|ของ|ใน|ให้|การ|ความ|ไม่|ได้|จะ|เป็น|มี|กับ|แล้ว|ครับ|ค่ะ|คะ|นะ|ช่วย|ด้วย|นี้|นั้น|อยู่|หน่อย|หรือ|แต่|ว่า|ยัง|ทำไม|อะไร|อย่างไร|ทำ)+"
KOREAN_ENDING = (
    "(?:에서는|에서|에게|으로|까지|부터|처럼|보다|이라|라고|하고|하는|해서|했다|합니다|하세요|해주세요|해줘|하지|하면|되는|된|돼"
    "|은|는|이|가|을|를|의|에|도|로|와|과|만|해|한|할)$"
)
