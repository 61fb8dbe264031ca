"""Floor 3: what people say in other languages to agree, to thank and to go on, and their commonest grammar; folded."""

from __future__ import annotations

_GERMAN = """
ja jawohl nein ok okay gut super prima perfekt toll klasse danke dankeschon bitte gerne gern weiter mach mache machen macht
weitermachen fortfahren fahre fort los genau richtig stimmt alles alle den die der das dem des ein eine einen einem einer
und oder aber auch noch mal einmal nochmal bitte jetzt dann doch schon sehr so wie was warum wer wo wann ist sind war hast
hat haben kannst kann konnen du ich wir sie es ihn mir dir uns mit ohne fur von zu zum zur im in auf aus bei nach vor rest
ubrige ubrigen nachste nachsten nachster zweite zweiten erste ersten dritte option fertig problem probleme beheben behebe
korrigiere prufe bitteschon hallo tschuss einverstanden passt
"""

_FRENCH = """
oui non merci beaucoup parfait parfaite tres bien super genial d'accord accord dac continue continuez continuer vas vasy va y allez
allons s'il te plait vous svp stp le la les un une des du de et ou mais aussi encore plus tout toute tous toutes reste
suite suivant suivante premiere premier deuxieme option oui bonjour salut est sont c'est ce cette ces je tu il elle nous
on me se que qui quoi comment pourquoi quand avec sans pour dans sur fais faire fait corrige corriger probleme problemes
termine terminer finis finir fini
"""

_SPANISH = """
si no gracias muchas perfecto perfecta muy bien vale claro dale adelante continua continue continuar sigue seguir siga por
favor el la los las un una unos unas de del y o pero tambien todo toda todos todas resto siguiente siguientes primera primero
segunda segundo tercera opcion hola buenos dias es son esta este esto eso que quien como cuando donde porque con sin para en
haz hacer hecho corrige corregir arregla arreglar problema problemas termina terminar listo lista ahora otra vez mas
"""

_EAST = """
да нет спасибо пожалуйста хорошо отлично продолжай продолжайте продолжить дальше давай ладно понятно ок и в не на с что как
это все всё ещё еще теперь сделай исправь проблемы остальное и а но или
好 好的 是 是的 对 谢谢 继续 请继续 可以 行 没问题 请 继续吧 下一步
はい いいえ ありがとう ありがとうございます お願いします 続けて 続けてください お願い
네 예 아니요 감사합니다 계속 계속해 계속해주세요 좋아요 부탁합니다
ใช่ ไม่ ขอบคุณ ต่อไป ทำต่อ โอเค
"""


def no_topics() -> frozenset[str]:
    """Folded words of other languages that are no topic."""
    return frozenset((_GERMAN + _FRENCH + _SPANISH + _EAST).split())
