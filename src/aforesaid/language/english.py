"""Floor 3: English words that are no topic, or a weak one."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_GRAMMAR = """
a an the this that these those such same other others another each every either neither both all any some none no not nor
one ones two three four five six seven eight nine ten eleven twelve first second third fourth fifth sixth seventh eighth
ninth tenth once twice half several many much more most few fewer less least enough lot lots bit plenty couple pair
i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its itself we us our
ours ourselves they them their theirs themselves someone somebody something anyone anybody anything everyone everybody
everything nobody nothing who whom whose which what whatever whichever whoever when whenever where wherever why how
however whether if unless until till while because since although though despite as than then so thus hence therefore
and or but yet nor of to in on at by for from with without within into onto upon over under above below between among
through throughout during before after against about around across along behind beyond near off out up down via per
instead except besides including regarding like unlike toward towards
be am is are was were been being have has had having do does did done doing can could may might must shall should will
would ought cannot cant wont dont doesnt didnt isnt arent wasnt werent hasnt havent hadnt shouldnt wouldnt couldnt mustnt
im youre hes shes theyre ive youve weve theyve ill youll theyll id youd theyd thats whats heres theres lets
don doesn didn isn aren wasn weren hasn haven hadn shouldn wouldn couldn mustn won ain gonna wanna gotta lemme gimme
s t m d re ve ll
here there now today tomorrow yesterday tonight later soon again still already always never ever often sometimes usually
just only also too even very really quite rather almost nearly maybe perhaps probably possibly likely actually basically
simply exactly clearly obviously certainly definitely absolutely totally completely fully entirely finally eventually
currently recently immediately quickly slowly carefully properly correctly directly together apart away back forth ahead
forward else anyway anyhow meanwhile moreover furthermore otherwise anymore somehow well far long early late
able unable sure unsure ready true false possible impossible necessary
"""

# Of these only: "first", "today" or "still" say something once a topic has brought a row up.
_JOINING = """
a an the and or but nor if of at by for with about against between into through during before after above below to from
up down in out on off over under again further then once here there all any both each few more most other some such no
not only own same so than too very s t d m re ve ll i me my myself we us our ours you your yours he him his himself she
her hers it its they them their theirs what which who whom whose this that these those am is are was were be been being
have has had having do does did doing can could will would shall should may might must ought don dont just now how why
when where list tell give many much long often kind type mention
"""

_TALK = """
ok okay okey okie dokey dokie doke ditto idem righto oki okk k kk kay yes yeah yea yep yup ya no nope nah sure please pls plz plse thanks thank thx tx thankyou ty
cheers welcome sorry pardon excuse hello hi hey hiya bye goodbye morning evening afternoon night dear folks guys mate
buddy friend man dude bro sir lol haha hmm hm hmmm mm um uh oh ah aha wow yay hooray bravo cool nice great good better best
bad worse worst fine perfect perfectly excellent awesome amazing wonderful fantastic brilliant super lovely neat sweet
helpful useless impressive beautiful elegant terrific superb splendid happy glad pleased correct right wrong incorrect agreed agree agrees
deal understood noted exact indeed lgtm sgtm wdyt asap btw fyi imo imho afaik tbd tldr wip nvm np yw gg
confirm confirmed approved approve accepted accept alright fair enough
"""

_FRAME = """
problem problems issue issues trouble troubles thing things stuff matter matters rest remainder remaining leftover
leftovers remain remains missing pending outstanding open unresolved next previous prior last latest current former latter
following upcoming final initial new old whole entire full total complete single different similar various additional
extra further specific certain particular main major minor big small little huge large long short quick fast slow simple
easy easier hard difficult tricky important urgent relevant related useful necessary required optional recommended
suggested proposed preferred original actual usual normal obvious clear clean proper
option options choice choices alternative alternatives point points step steps part parts piece pieces bit item items
task tasks todo todos work works way ways approach approaches idea ideas suggestion suggestions proposal
proposals recommendation recommendations question questions answer answers request requests reply replies response
plan plans mistake mistakes misunderstanding confusion goal goals aim aims reason reasons cause causes case cases example examples detail details summary
overview status progress situation state place places time times moment minute minutes hour hours day days week weeks
round rounds turn turns go attempt attempts chance side end ending start beginning middle top bottom kind kinds
sort type types sense mind attention care hand hands look looks feel feels fun luck hope hopes wish wishes
above-mentioned aforementioned faster slower simpler bigger smaller cleaner clearer quicker shorter longer nicer safer
stronger higher lower newer older easier earlier sooner closer larger greater fastest simplest best-effort
"""

_ADVERBS = """
honestly seriously frankly hopefully literally apparently luckily unfortunately fortunately surprisingly personally
generally specifically particularly especially mainly mostly largely partly partially terribly awfully extremely
incredibly truly deeply greatly slightly approximately precisely gradually suddenly constantly continually repeatedly
frequently occasionally normally typically previously formerly originally initially newly instantly equally similarly
differently accordingly consequently subsequently additionally alternatively respectively separately individually
blindly happily gladly politely patiently thoroughly quietly cleanly needlessly randomly supposedly presumably
arguably admittedly evidently seemingly undoubtedly surely solely purely merely hardly barely scarcely overly nicely
halfway midway throughout altogether nowhere anywhere everywhere somewhere elsewhere whereas whereby whenever
beforehand afterwards afterward nevertheless nonetheless indeed albeit worth aside beside amid lest bunch handful ton
tons heaps dozen dozens zillion umpteen hundred whatsoever none yourselves nope
lately somewhat thereby therein herein twofold thrice
"""

_CHAT = """
nr nro arent aint tis twas itd itll thatd thatll therell whats whatd whatre whatll whod wholl whos whyd howd howre hows wheres whens
shouldve couldve wouldve mightve mustve mightnt neednt theyd shant hed wed yall dunno kinda sorta outta lotta
whatcha gotcha betcha coulda shoulda woulda musta tryna finna imma ima innit cuz cos coz tho thru til till ur urs u r
y n b4 gr8 l8r w8 m8 da dat dis dem em wut wat wot nah nuh yuh yah yass prolly probs defo rn atm tbh ngl idk idc
iirc irl jk lmk brb bbl bbs ttyl omg omfg wtf wth ffs smh ikr tysm tyvm rofl lmao lmfao xd ofc obv obvs nbd hbu wbu
hmu icymi afaict tl thnx thanx thnks tnx sec secs mins lil bday pal pals champ chief boss dudes bruh fam sis homie
sigh ugh argh meh phew whew yikes oops ooops whoops ouch eek huh duh woo woohoo yippee hurrah hurray pfft tsk ahem aww
aw gosh jeez geez damn damned dang darn heck hell shit shitty fuck fucking fucked crap crappy dammit bloody bollocks
sucks suck sucked blimey crikey bingo bam boom yum yay yahoo hehe hihi heh mmm hmph psst shh hush ciao adios howdy
greetings yo sup morning congrats congratulations kudos thankful grateful teh hte adn nad wiht wih taht thta jsut waht
whta thsi tihs wich thier becuase beacuse realy awsome plase pelase pleaes plese pleae plesae contineu contiune
contniue continu procede proced tahnks thansk thakns apreciate appriciate definately alot alright allright aswell
eachother infact noone agian agin wont cant dont doesnt woudl shoudl coudl ahve hvae tehn thn abt bc becos yuo yuor
oyu nto knwo konw liek mroe tiem soemthing somthing everthing everyting finsih fisnish remainig remaning
god ta spose bummer whirl zero feeling feelings gut confident
"""

_FEELINGS = """
thrilled excited sad tired bored upset angry mad curious confused confusing lost disappointed disappointing satisfied
satisfying annoyed annoying frustrated frustrating grateful proud impressed worried worrying afraid scared surprised
surprising shocked amazed amused delighted relieved convinced unconvinced certain uncertain hopeful hopeless hesitant
keen eager willing unwilling reluctant comfortable uncomfortable busy hungry sleepy nervous stressed exhausted
interested uninterested careful careless impatient lucky unlucky stupid silly ridiculous absurd nonsense
rubbish pathetic lousy terrible horrible awful dreadful atrocious mediocre decent okayish passable acceptable
unacceptable reasonable unreasonable sensible pointless meaningless satisfactory stellar fabulous marvelous marvellous
incredible unbelievable phenomenal exceptional fab dope rad genius flawless spotless gorgeous
delightful pleasant unpleasant thoughtful thoughtless clever bobs nutshell gist
"""

# Adjectives; their degrees and adverbs are made of these.
_GRADED = """
bad big brief calm clean clear clever close cool crazy cute dumb early easy fair fast few fine gentle good great happy
hard high honest huge kind large late lazy long low mad messy near neat nice odd old poor pretty proud quick rare
ready rough rude sad safe sane serious short silly simple slow small smart smooth soon strange strong stupid sweet
tidy tiny tough tricky true ugly weird wild wise young
"""

# Forms of verbs that are nouns in their own right.
_NOUNS = """
seed seeds warning warnings
"""

_VERBS = """
accept accomplish achieve act adapt adjust advance advise agree aim allow annoy answer apologise apologize appear
apply appreciate ask assist assume attempt avoid await bear beat begin believe botch bother brainstorm breathe
bring call care carry cause cease check chill choose clarify clean close come complete conclude confirm confuse
congratulate consider continue correct cover dare deal decide describe deserve disagree discuss double double-check
doubt elaborate enable end enjoy ensure evaluate examine excuse execute expect explain explore fancy figure
finalise finalize find finish fix follow forget forgive get give go grab greet guess handle happen hate hear
help hesitate hold hope hurry ignore improve include insist inspect intend investigate joke keep kick kid know
laugh learn leave let like list listen look love make manage mean mention mess mind mishear misinterpret mislead
misread miss move nail need note notice nudge omit open overcomplicate overdo overlook overthink paraphrase pass pause
perform persevere pick plan prefer prepare presume prioritise prioritize proceed propose
provide pursue put reach read realise realize reassess reassure recall recap recheck reckon recollect recommend
reconsider redo redouble reevaluate refine regret reiterate relax remain remember remind repeat rephrase reply request
require resist resolve respond restart restate resume rethink revert review revisit reword rework ruin run rush save
say screw see seem select send set share show skip smile solve sound speak spend spoil stand start state stay
stop submit suffice suggest summarise summarize suppose suspect tackle take talk tell thank think tidy touch treat
trust try turn underestimate understand undo use verify wait walk wander want warn waste watch welcome wish wonder
work worry wrap wreck write
"""

_IRREGULAR = """
began begun bore borne brought chose chosen came dealt did done felt found forgot forgotten gave given gone went heard held
kept knew known led left lost made meant met put read ran said saw seen sent set shown showed sought spoke spoken spent
stood took taken told thought tried tries trying undid undone understood wrote written broke broken got gotten let lay laid
lies lying tied ties fixing fixed mixing redone redid goes doing
misunderstood overdid overdone misled overthought rethought caught swore sworn forgave forgiven woke woken
ate eaten fell fallen hurt sat shook shaken threw thrown wore worn won
"""

_WEAK_VERBS = """
crash add address amend annotate assert bisect build bump change cherry-pick clone code comment commit compile configure
copy create debug delete deploy develop diff document download drop edit extend extract fail fetch format generate
implement import insert inspect install integrate launch lead lint load lock log merge migrate modify move offer
optimise optimize parse paste patch polish print publish pull push rebase rebuild refactor release remove rename
render replace report reset restore restructure retry return rewrite roll rollback scan ship simplify sort split
squash stage stash style support sync tag test tweak type uninstall update upgrade upload validate view crack imagine speed
"""

_WEAK = """
bug bugs error errors failure failures exception exceptions warning warnings fault faults crash crashes typo typos
tests testing suite code codebase file files folder folders directory directories function functions method methods class
classes module modules variable variables line lines block blocks script scripts command commands program programs app
apps application applications project projects repo repos repository branch branches pr prs commit commits diff diffs patch
feature features requirement requirements spec specs specification specifications documentation docs doc readme comments
changelog message messages output outputs result results log logs version versions implementation solution solutions
changes updates edits improvement improvements cleanup refactoring tool tools agent agents model models session sessions conversation conversations
chat context history prompt text word words name names value values data number numbers content contents
green red failing unit coverage lint linter linting quality performance
break breaks breaking dr infinite legend lunch dinner breakfast coffee magic order permission scratch shot verbose
posted sentence paragraph job jobs target targets stuck hung froze frozen
"""


@cache
def listed() -> frozenset[str]:
    """Folded English words that are no topic, as far as they stand in a list."""
    words = (_GRAMMAR + _ADVERBS + _TALK + _CHAT + _FEELINGS + _FRAME + _IRREGULAR + _GRADED).split()
    return frozenset(words).difference(_NOUNS.split())


@cache
def spoken() -> frozenset[str]:
    """Folded words that sentences consist of: grammar, adverbs, talk. Things are not called by them."""
    return frozenset((_GRAMMAR + _ADVERBS + _TALK + _CHAT + _FEELINGS).split())


@cache
def agreeing() -> frozenset[str]:
    """Folded words by which something is agreed to, praised or greeted: ok, yes, thanks."""
    return frozenset(_TALK.split())


def is_form(word: str) -> bool:
    """Whether a folded word is a form of a verb, or a degree or an adverb of an adjective, that is no topic."""
    return (_is_form_of(word, _verbs()) or _is_degree(word)) and word not in _NOUNS.split()


@cache
def grammar() -> frozenset[str]:
    """Words that only join others: closed classes, and what a question begins with."""
    return frozenset(_JOINING.split())


def weak() -> frozenset[str]:
    """Folded English words that are topics only beside stronger ones, as far as they stand in a list."""
    return frozenset(_WEAK.split())


def is_weak_form(word: str) -> bool:
    """Whether a folded word is a form of a verb that is a weak topic."""
    return _is_form_of(word, _weak_verbs())


@cache
def _verbs() -> frozenset[str]:
    return frozenset(_VERBS.split())


@cache
def _weak_verbs() -> frozenset[str]:
    return frozenset(_WEAK_VERBS.split())


@cache
def _graded() -> frozenset[str]:
    return frozenset(_GRADED.split())


def _is_form_of(word: str, verbs: frozenset[str]) -> bool:
    """Whether a word is a regular form of one of the verbs."""
    if word in verbs:
        return True
    for ending in ("s", "d", "ing"):
        if word.endswith(ending):
            stem = word[: -len(ending)]
            return any(each in verbs for each in _verbs_of(stem, ending))
    return False


def _verbs_of(stem: str, ending: str) -> Iterator[str]:
    """What verb a form may come from: make-s, fix-e-s, tri-es; make-d, fix-e-d, stop-p-e-d; mak-ing, stop-p-ing."""
    if ending == "s":
        yield stem
    elif ending == "ing":
        yield stem
        yield stem + "e"
        yield from _undoubled(stem)
    if stem.endswith("e") and ending != "ing":
        if ending == "d":
            yield stem
        yield stem[:-1]
        if stem.endswith("ie"):
            yield stem[:-2] + "y"
        if ending == "d":
            yield from _undoubled(stem[:-1])


def _undoubled(stem: str) -> Iterator[str]:
    if stem[-2:-1] == stem[-1:]:
        yield stem[:-1]


def _is_degree(word: str) -> bool:
    """Whether a word is a comparative, a superlative or an adverb: bigger, nicest, easily, simply."""
    for ending in ("er", "est", "ly"):
        if word.endswith(ending):
            stem = word[: -len(ending)]
            stems = (stem, stem + "e", stem + "le", *_undoubled(stem), stem[:-1] + "y" if stem.endswith("i") else "")
            return not _graded().isdisjoint(stems)
    return False
