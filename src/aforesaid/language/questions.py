"""Floor 3: how a question names what it asks about, folded: for words that are topics there and nowhere else.

`query.asked` looks them up where a request names nothing stronger. Data only.
"""

from __future__ import annotations

from typing import Final

DETERMINERS: Final = frozenset(
    """
which what whose quale quali qual quanti quante quanta welche welcher welches welchen welchem quel quelle quels quelles
cual cuales cuantos cuantas quais quantos quantas welke welk hoeveel
какой какая какое какие какую каком какого каких сколько
""".split()
)
"""Words directly before what is asked for: "which version?", "quale porta?"."""

COUNTED: Final = frozenset({"how many", "how much", "wie viele", "wie viel", "combien de", "combien d"})
"""The same in two words."""

EXCLAIMING: Final = frozenset("che que quel quelle quels quelles".split())
"""Determiners of exclamations too: "che disastro!"."""

JOINING: Final = frozenset("che que".split())
"""Determiners only where a clause begins: "su che porta?", not "vorrei che testassi"."""

PREPOSITIONS: Final = frozenset(
    """
in on at to for from of by with under into a su con di da per tra fra auf mit von zu aus bei fur nach unter an um
dans sur avec de pour sous par en sobre para em op met naar uit voor
""".split()
)
"""What may stand before a determiner."""

BEGINNING: Final = frozenset(
    "and so but or then ok well e ma o poi allora und oder aber also et ou mais alors y o pero entonces и а".split()
)
"""What a question may begin with."""

TELLING: Final = frozenset(
    """
tell me us know remember recall forgot forget say ask see show wonder wondering
dimmi dirmi ricordami ricordarmi ricordi ricordo ricorda sai sappiamo mostrami scrivimi
mir sag weisst weiss wissen vergessen moi sais dis rappelle dime sabes recuerdas diga me dimelo скажи помнишь знаешь
""".split()
)
"""Behind these a determiner asks, behind others it joins or leaves the choice: "the order in which tests run", "choose
which file to edit", "that's what tests are for"."""

ASKING: Final = frozenset(
    """
what when where who how quale quali qual quando dove dov come com welche welcher welches was wann wo wie
quel quelle quels quelles quand ou cual cuales cuando donde qual quais
""".split()
)
IS: Final = frozenset(
    "is are was were s e era sono erano sara ist sind war waren est sont etait etaient es son eran sao foi".split()
)
ARTICLES: Final = frozenset(
    """
the our my your their its il lo la i gli le l un nostro nostra vostro vostra der die das unser unsere le les notre
el los las nuestro nuestra o os as
""".split()
)
"""A question word, a form of to be and an article stand before what has one value: "when is the release?"."""

ABOUT: Final = frozenset({"about"})
"""With an article these ask too: "what about the release?"."""

SETTINGS: Final = frozenset(
    """
version versions release releases deploy target targets order branch name names value values number retry retries model
models permission job jobs tag launch
versione versioni rilascio ordine ordini ramo nome nomi valore valori numero porta porte porto tentativo tentativi
valuta modello limiti termini data permesso
""".split()
)
"""Weak topics that name what was settled once and has a value; of the others ("what is the error?") there is a new one
in every session."""

PREDICATES: Final = frozenset(
    """
fail fails break breaks breaking failing green red infinite verbose dr posted crack imagine
fallisce falliscono fallito falliti rotto rotta rotti verde verdi rosso infinite infiniti infinita infinito autorizzato
autorizzata committa committalo pusha pushalo mergia modifichi modifico modificato modificata aggiorna aggiornalo
aggiornato rimuovi rimosso cancella installa installato compila esegui esegue eseguito testa testato testalo crea creato
implementa implementato refactora rinomina riscrivi documenta rilascia dato sospeso
spettacolo disastro fondo occhio serata sera notte mattina mattino pomeriggio lunch dinner breakfast coffee magic
""".split()
)
"""Weak topics that say something of what is asked for, or exclaim, but are not asked for: "which fails?"."""

VERBAL: Final = ("ed", "ing", "are", "ere", "ire", "arlo", "alo")
"""Endings of forms of verbs that are no nouns; `NOUNS` have them all the same."""
NOUNS: Final = frozenset("testing linting refactoring software".split())

LEADING_ON: Final = frozenset("a al alla ad ai alle avanti via".split())
"""Behind a word that "che" joins these show a verb: "che porta avanti"."""

OPENING: Final = frozenset("the which whose my your our their many quale quali quanti quante".split())
"""Determiners of English or Italian and of no other language here: what follows is a word of theirs too."""

OPENING_HOMOGRAPHS: Final = OPENING | frozenset("what about did does a an this that much her his no any".split())
"""The same for words that mean something in English or Italian (`others.homographs`): "what did legal say?"."""
