"""Floor 3: English words that are no topic, or a weak one."""

from __future__ import annotations

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

_TALK = """
ok okay okey oki okk k kk kay yes yeah yea yep yup ya no nope nah sure please pls plz plse thanks thank thx tx thankyou ty
cheers welcome sorry pardon excuse hello hi hey hiya bye goodbye morning evening afternoon night dear folks guys mate
buddy friend man dude bro sir lol haha hmm hm hmmm mm um uh oh ah aha wow yay hooray bravo cool nice great good better best
bad worse worst fine perfect perfectly excellent awesome amazing wonderful fantastic brilliant super lovely neat sweet
helpful useless impressive beautiful elegant terrific superb splendid happy glad pleased correct right wrong incorrect agreed agree agrees
deal understood noted exact indeed lgtm sgtm wdyt asap btw fyi imo imho afaik tbd tldr wip nvm np yw gg
confirm confirmed approved approve accepted accept alright fair enough
"""

_FRAME = """
problem problems issue issues trouble troubles thing things stuff matter matters rest remainder remaining leftover
leftovers remain remains missing pending outstanding open unresolved next previous prior last latest current former
following upcoming final initial new old whole entire full total complete single different similar various additional
extra further specific certain particular main major minor big small little huge large long short quick fast slow simple
easy easier hard difficult tricky important urgent relevant related useful necessary required optional recommended
suggested proposed preferred original actual usual normal obvious clear clean proper
option options choice choices alternative alternatives point points step steps part parts piece pieces bit item items
task tasks todo todos job jobs work works way ways approach approaches idea ideas suggestion suggestions proposal
proposals recommendation recommendations question questions answer answers request requests reply replies response
plan plans mistake mistakes misunderstanding confusion goal goals aim aims target reason reasons cause causes case cases example examples detail details summary
overview status progress situation state place places time times moment minute minutes hour hours day days week weeks
round rounds turn turns go attempt attempts chance side end ending start beginning middle top bottom order kind kinds
sort type types sense mind attention care hand hands look looks feel feels fun luck hope hopes wish wishes
above-mentioned aforementioned faster slower simpler bigger smaller cleaner clearer quicker shorter longer nicer safer
stronger higher lower newer older easier earlier sooner closer larger greater fastest simplest best-effort
"""

_VERBS = """
accept achieve act adapt address adjust advance agree aim allow answer appear apply appreciate ask assume attempt avoid
bear begin believe bring call care carry cause cease check choose clarify clean close come complete conclude confirm
consider continue correct cover decide deal describe discuss double double-check enable end ensure evaluate examine excuse
execute expect explain explore figure finalize finalise find finish fix follow forget get give go guess handle happen
hear help hold hope ignore imagine improve include inspect intend investigate keep kick know lead learn leave let like
list listen look love make manage mean mention mind miss move need note notice offer omit open pass pause perform pick
plan prefer prepare proceed propose provide put reach react read realize realise recap recheck recommend redo refine
remain remember remind repeat reply report request require resolve respond restart resume retry return revert review
rework run save say see seem select send set share show skip solve sort sound speak spend stand start state stay stop submit
suggest summarize summarise suppose sync take talk tell thank think tidy touch treat trust try turn undo understand use verify
view wait walk want watch wish wonder work worry wrap write
"""

_IRREGULAR = """
began begun bore borne brought chose chosen came dealt did done felt found forgot forgotten gave given gone went heard held
kept knew known led left lost made meant met put read ran said saw seen sent set shown showed sought spoke spoken spent
stood took taken told thought tried tries trying undid undone understood wrote written broke broken got gotten let lay laid
lies lying tied ties fixing fixed mixing redone redid goes doing
"""

_WEAK_VERBS = """
add amend annotate assert bisect build bump change cherry-pick clone code comment commit compile configure copy create
debug delete deploy develop diff document download drop edit extend extract fail fetch format generate implement import
insert inspect install integrate launch lint load lock log merge migrate modify move optimize optimise parse paste patch
polish print publish pull push rebase rebuild refactor release remove rename render replace reset restore restructure
rewrite roll rollback scan ship simplify split squash stage stash style support tag test tweak type uninstall update
upgrade upload validate
"""

_WEAK = """
bug bugs error errors failure failures exception exceptions warning warnings fault faults crash crashes typo typos
tests testing suite code codebase file files folder folders directory directories function functions method methods class
classes module modules variable variables line lines block blocks script scripts command commands program programs app
apps application applications project projects repo repos repository branch branches pr prs commit commits diff diffs patch
feature features requirement requirements spec specs specification specifications documentation docs doc readme comments
changelog message messages output outputs result results log logs version versions implementation solution solutions
fixes changes updates edits improvement improvements cleanup refactoring tool tools agent agents model models session sessions conversation conversations
chat context history prompt text word words name names value values data number numbers content contents
green red passing failing broken working unit coverage ci lint linter linting quality performance
"""


def _forms(verb: str) -> tuple[str, ...]:
    """The regular forms of a verb; a final consonant is doubled as well, since lookup does not mind extra forms."""
    if verb.endswith("e"):
        return verb, f"{verb}s", f"{verb}d", f"{verb[:-1]}ing", f"{verb}r"
    if verb.endswith("y") and verb[-2] not in "aeou":
        return verb, f"{verb[:-1]}ies", f"{verb[:-1]}ied", f"{verb}ing"
    double = verb + verb[-1]
    return verb, f"{verb}s", f"{verb}es", f"{verb}ed", f"{verb}ing", f"{double}ed", f"{double}ing"


def _conjugate(verbs: str) -> frozenset[str]:
    return frozenset(form for verb in verbs.split() for form in _forms(verb))


def no_topics() -> frozenset[str]:
    """Folded English words that are no topic."""
    words = frozenset((_GRAMMAR + _TALK + _FRAME + _IRREGULAR).split())
    return words | _conjugate(_VERBS)


def weak_topics() -> frozenset[str]:
    """Folded English words that are topics only beside stronger ones."""
    return frozenset(_WEAK.split()) | _conjugate(_WEAK_VERBS)
