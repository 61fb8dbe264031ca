"""Floor 3: words by which a request without a topic asks to go on, and words by which it says that all is done.

`query.working` looks them up, folded; those of scripts without blanks are looked for anywhere. Data only.
"""

from __future__ import annotations

from typing import Final

GO_ON: Final = frozenset(
    """
continue continuing proceed resume go carry keep next ahead yes yeah yep yup sure ok okay retry again fix
continua continuiamo continuare procedi procediamo proseguire prosegui avanti vai riprendi si dai riprova sistema
weiter weitermachen fortfahren fahre mach ja nochmal
continuez continuons poursuis poursuivez reprends vas allez oui
sigue seguir siga adelante dale continuar segue seguimos prossiga sim vamos
продолжай продолжить дальше давай да
""".split()
)
"""Words that ask for more of the same work, or agree to what was proposed."""

GO_ON_UNSPACED: Final = ("继续", "接着", "下一步", "続け", "つづけ", "계속", "ต่อ")

ENDS: Final = frozenset(
    """
thanks thank thankyou thx tx ty cheers stop cancel abort wait enough finished bye goodbye goodnight nothing
grazie basta ferma fermati annulla aspetta finito ciao niente
danke stopp halt fertig genug warte tschuss
merci arrete assez termine attends
gracias para alto listo espera adios obrigado obrigada pare chega pronto
спасибо стоп хватит готово стой
""".split()
)
"""Words that ask for nothing more; one of them outweighs every word of the other list."""

ENDS_UNSPACED: Final = ("谢谢", "停", "够了", "ありがとう", "終わり", "감사", "고마", "ขอบคุณ", "พอแล้ว")

ENDING_PHRASES: Final = (
    "that is all", "that s all", "thats all", "that is it", "that s it", "thats it", "for now", "we are done", "i am done", "all done",
    "that will be all", "that ll be all", "that was it", "that is everything", "that s everything", "i m done",
    "good night", "see you tomorrow", "see you later", "have a nice day", "have a nice evening",
    "e tutto", "ecco tutto", "tutto qui", "tutto qua", "per ora", "siamo a posto", "a posto cosi", "a domani", "a presto", "buonanotte",
    "buona notte", "buona serata", "alla prossima", "das ist alles", "das reicht", "bis morgen", "bis dann",
    "c est tout", "ce sera tout", "ca sera tout", "a demain", "a bientot",
    "eso es todo", "esto es todo", "eso seria todo", "hasta manana", "hasta luego", "isso e tudo",
)  # fmt: skip
"""Beside those that hold a topic elsewhere (`others.PARTINGS`)."""
