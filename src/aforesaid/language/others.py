"""Floor 3: closed classes, verbs of going on and acknowledgements of languages other than English and Italian; folded.

Words that are topics in English or Italian are left out, whatever they mean elsewhere (German "war", Spanish "sale").
Formulas of parting that hold such words are listed as wholes, for all languages.
"""

from __future__ import annotations

from functools import cache
from typing import Final

PARTINGS: Final = (
    "das war s", "das wars", "das wär s", "das wärs", "das war es", "das war alles", "das wär alles", "war s das", "wars das",
    "mehr brauche ich nicht", "mehr brauch ich nicht", "gute nacht", "schönen abend", "schönen feierabend", "schönes wochenende",
    "auf wiedersehen", "bis bald", "bonne nuit", "bonne soirée", "bonne journée", "bonne fin de journée", "au revoir",
    "ya terminamos", "buenas noches", "buenas tardes", "que tengas un buen día", "boa noite", "boa tarde", "até amanhã",
    "buona giornata", "buon weekend", "buon fine settimana", "have a nice weekend", "have a good weekend", "have a great weekend",
)  # fmt: skip
"""Formulas that say that all is done, in small letters, blanks for whatever stands between their words."""

_GERMAN = """
reicht schluss genug vorerst langt
ja jo jawohl nein nee doch ok okay gut gute guten guter gutes super prima perfekt klasse danke dankeschon bitte bitteschon
gerne gern klar alles alle allen aller schon sehr so genau richtig stimmt passt einverstanden hallo tschuss servus moin los
der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner und oder aber sondern denn weil dass
ob wenn als wie wo wann warum wieso weshalb wer wen wem wessen welche welcher welches welchen welchem
ich du er sie es wir ihr mich dich ihn uns euch mir dir ihm ihnen mein meine meinen dein deine deinen sein seine seinen unser
unsere euer eure dieser diese dieses diesen diesem jener jene jenes jeder jede jedes jeden man selbst etwas nichts nicht nie
jemand niemand beide beides beiden viel viele vielen wenig mehr meisten wenige einige manche ganz ganze ganzen
mit ohne fur von vom zu zum zur im in ins auf aus bei beim nach vor unter durch gegen um bis seit wahrend zwischen wegen an am
ist sind bin bist seid waren sei ware wird werden wurde wurden worden geworden wirst haben habe hast hatte hatten hattest
kannst kann konnen konnt konnte konntest konnten muss musst mussen musste soll sollst sollen sollte sollten sollten will willst
wollen wollte mag mogen mochte mochten mochtest darf darfst durfen lass lasst lassen
mach mache machen machst macht gemacht mache weiter weitermachen fortfahren fahre fahr geh geht gehen gehts gib geben nimm
nehmen zeig zeige zeigen erklar erklare erklaren sag sagen schau schaue guck prufe prufen probier probiere versuch versuche
versuchen behebe beheben behoben korrigiere korrigieren fixe fixen wiederhole wiederholen beende beenden fertig erledigt erledige
erledigen fehlt fehlen bleibt ubrig verstehe verstanden meinst meine denkst glaube glaubst weiss weisst hilf helfen
noch mal einmal nochmal nochmals wieder jetzt dann danach vorher zuerst zunachst gleich sofort heute morgen gestern spater immer
hier da dort dahin weg auch nur sogar fast eher etwa wohl eigentlich einfach vielleicht naturlich bestimmt leider endlich also
sonst deshalb daher trotzdem zusammen anders besser beste besten schlechter schneller langsamer kurzer langer kurz
rest restliche restlichen ubrige ubrigen ubriges nachste nachsten nachster nachstes letzte letzten letzter erste ersten erster
erstes zweite zweiten zweiter zweites dritte dritten vierte eins zwei drei option vorschlag vorschlage variante moglichkeit
problem probleme frage fragen antwort schritt schritte aufgabe aufgaben sache sachen dinge idee teil ding
"""

_FRENCH = """
reexplique reexpliquer redire suffit
oui ouais non merci beaucoup parfait parfaite parfaitement tres bien super genial d'accord accord dac ok okay bonjour salut
coucou bonsoir bravo desole voila stp svp plait bon bonne bons bonnes mieux pire vraiment
le la les l un une des du de d au aux et ou mais donc ni or que qu qui quoi dont lequel laquelle lesquels pourquoi
quand combien quel quelle quels quelles si comme ainsi alors puis ensuite apres avant depuis pendant avec sans dans sous vers
chez entre contre par en y sur je j tu il elle on nous vous ils elles me m te t se s moi toi lui leur leurs eux mon ma mes
ta tes son sa ses notre nos votre vos ce c cet cette ces ceci cela ca celui celle ceux celles tout toute tous toutes
aucun aucune chaque plusieurs quelque quelques autre autres meme memes tel telle rien personne quelqu'un chose choses
ne n pas plus moins jamais toujours encore deja aussi trop assez peu tant non bientot maintenant aujourd hui aujourd'hui demain
hier ici la-bas ailleurs est-ce c'est n'est qu'est-ce
suis es est sommes etes sont etait etais etaient serait soit ete etre ai as avons avez ont avait avais aurait avoir
peux peut pouvez pouvons peuvent pourrais pourrait pouvoir veux veut voulez voulais voudrais voudrait vouloir dois doit devez
devrait devrais devoir faut faudrait fais fait faites faire ferais va vas vais allons allez aller vas-y vasy allons-y
continue continuez continuer continuons poursuis poursuivre reprends reprendre recommence recommencer recommencez refais refaire
essaie essaye essayer reessaie reessayer corrige corriger corrigez corriges repare reparer termine terminer terminez terminee finis
finir fini finie acheve montre montrer explique expliquer explique-moi dis dire dis-moi donne donner prends prendre regarde
regarder verifie verifier vois voir sais savoir crois penses pense penser laisse arrete arreter attends attendre comprends compris
preferes prefere preferez bordel
manque reste restes rester restant restants restantes marche marchait fonctionne passe passer
suivant suivante suivants suivantes precedent precedente premier premiere deuxieme second seconde troisieme dernier derniere
deux trois quatre option options proposition etape etapes probleme problemes question questions idee fois facon
"""

_SPANISH = """
nuevo nueva nuevos nuevas nuevamente explicamelo muestramelo dimelo hazmelo basta
si no gracias muchas mucho mucha muchos perfecto perfecta perfectamente muy bien vale claro dale adelante ok okay genial excelente
estupendo bueno buena buenos buenas hola adios perdon disculpa favor porfa porfavor listo listos
el la los las lo un una unos unas de del al a y e o u pero sino aunque porque pues que quien quienes cual cuales como cuando donde
cuanto cuantos cuantas con sin para por en entre hasta hacia desde sobre segun ante bajo contra durante tras
yo tu vos usted ustedes ella ello nosotros vosotros ellos ellas me te se nos le les mi mis ti su sus tus nuestro nuestra este
esta estos estas ese esa esos esas esto eso aquello aquel aquella todo toda todos todas algo alguien alguno alguna algunos nada
nadie ningun ninguna ninguno otro otra otros otras mismo misma mismos cada ambos ambas demas poco poca pocos mas menos tan tanto
asi tambien tampoco solo solamente aun todavia ya ahora luego despues antes entonces siempre nunca hoy manana ayer aqui ahi alli
quiza quizas mejor peor casi bastante demasiado
es soy eres somos son era eran fue fueron seria sea ser sido estoy estas esta estamos estan estaba estaban estar estado he has
ha hemos han habia haber hay puedes puedo puede podemos pueden podrias podria poder quiero quieres quiere queria quisiera querer
debo debes debe deberias deberia tengo tienes tiene tenemos tienen tener voy vas va vamos van ir vaya
haz hazlo hazme hacer hace haces hizo hecho hacerlo continua continue continuar continuemos sigue sigues seguir siga sigamos
intenta intentalo intentar prueba pruebalo probar corrige corrigelo corregir arregla arreglalo arreglar termina terminalo terminar
terminado acaba acabar muestra muestrame mostrar explica explicame explicar dime decir dice di dame dar da mira mirar revisa
revisalo revisar repite repetir empieza empezar deja dejalo dejar espera esperar entiendo entendido creo crees piensas pienso
sabes prefieres prefiero prefiere hacemos tal se falta faltan queda quedan funciona funcionan sirve gusta parece
siguiente siguientes anterior primera primero segunda segundo tercera tercero ultima ultimo tres opcion opciones
propuesta problema problemas resto restante restantes paso pasos pregunta preguntas respuesta idea cosa cosas vez veces manera
parte tarea tareas
"""

_PORTUGUESE = """
nao obrigado obrigada valeu beleza certo perfeito otimo otima bom boa bem muito muita muitos tudo todos todas
o um uma uns umas do da das no na nos ao aos pelo pela com sem por para em entre ate sobre e ou mas porem porque pois que
quem qual quais como quando onde quanto quantos quantas se tu voce voces ele ela eles elas dele dela deles delas nos meu minha seu sua este esta isto esse essa isso
aquele aquela algo alguem nada ninguem outro outra outros mesmo mesma cada mais menos tambem ja ainda agora depois antes sempre nunca
hoje ontem aqui ali assim entao so apenas talvez sou es somos sao era foi ser sido estou esta estao estava estar tenho tem ha
pode podes posso podemos podem poderia quero quer queria deve devo vou vai vamos ir faz faca fazer feito fiz continua continue
continuar segue seguir siga tenta tente tentar corrige corrija corrigir arruma arrume arrumar termina termine terminar
mostra mostre explica explique explicar diga olha olhe veja repete falta faltam funciona
proximo proxima anterior primeiro primeira segundo segunda terceiro ultimo ultima dois duas tres opcao resto problema problemas
passo passos vez coisa coisas favor gentileza oi ola tchau
"""

_DUTCH = """
ja nee dank bedankt dankjewel graag goed prima alsjeblieft aub hoi de het een en of maar dat dit deze die ik jij je hij zij wij
we jullie ze mij jou ons niet geen wel nog al ook dan nu hier daar wat wie waar waarom hoe wanneer welke met zonder voor van naar
uit bij op om aan welk hoeveel is zijn was waren heb hebt heeft hebben had kan kun kunt kunnen moet moeten wil wilt willen mag ga gaat gaan doe
doet doen gedaan maak verder opnieuw alles rest volgende eerste tweede derde laatste
"""

_RUSSIAN = """
да нет ага угу спасибо пожалуйста хорошо отлично прекрасно супер класс ладно понятно понял поняла ясно верно правильно точно ок окей
привет здравствуй здравствуйте пока конечно давай давайте круто норм нормально согласен согласна
и а но или либо же ли бы не ни то что чтобы как так когда где куда откуда почему зачем кто кого кому чем чей какой какая какое какие
какую каким каком какого каких который которая которое которые сколько если хотя потому поэтому тогда потом затем теперь сейчас сегодня завтра вчера
раньше позже снова опять еще уже только лишь даже тоже также очень слишком почти совсем вообще просто может быть наверное
в во на с со к ко у о об от до из за для по под над при про без через между перед после около
я ты он она оно мы вы они меня тебя его ее нас вас их мне тебе ему ей нам вам им мой моя мое мои твой твоя ваш ваша ваши наш наша
себя свой это этот эта эти этого этом эту тот та те того тем весь вся все всего всех всем сам самый другой другая другое другие
другую другого каждый любой ничего никто никогда нигде что-то кто-то
есть был была было были будет будут будешь буду быть могу можешь можете может можно нельзя надо нужно должен должна хочу хочешь
хотите хотел бы
продолжай продолжайте продолжить продолжим дальше делай делайте делать сделай сделайте сделать сделал сделано исправь исправьте
исправить попробуй попробуйте попробовать повтори повторить проверь проверьте проверить покажи покажите показать объясни объясните
скажи скажите расскажи дай дайте посмотри посмотрите закончи закончить заверши завершить готово начни начать остановись стоп
подожди работает осталось осталось думаешь считаешь знаешь
остальное остальные остальных следующий следующая следующее следующую первый первую первое второй вторую второе вариант третий
последний последнюю шаг шаги вопрос раз вещь проблема проблемы проблему
"""

_SEMITIC_AND_INDIC = """
في من على الى عن مع لا ما هذا هذه ذلك تلك التي الذي ان كان كانت هل نعم شكرا و او ثم قد لم لن كل بعد قبل حسنا تمام ممتاز استمر
تابع اكمل رجاء فضلك الان هو هي انا انت نحن كيف لماذا متى اين
של על את זה זאת לא כן אני אתה את הוא היא אנחנו הם עם גם או אבל מה איך למה מתי איפה תודה בבקשה טוב מצוין המשך תמשיך הכל אם כי יש אין
עכשיו אחרי לפני רק עוד
में है हैं के का की को से और पर यह वह ये वे नहीं हाँ हां धन्यवाद कृपया ने भी तो क्या कैसे क्यों कब कहाँ जारी रखो रखें करो करें ठीक अच्छा
था थी थे हो होगा मैं तुम आप हम सब कुछ अब फिर
"""

_EAST = """
好 好的 好吧 不对 不行 好了 是 是的 对 对的 不是 不 没有 谢谢 多谢 感谢 继续 请继续 继续吧 可以 可以的 行 没问题 明白 知道了 请 下一步 开始 开始吧 完成 做吧 全部 所有 剩下 其他
第一 第二 第三 第一个 第二个 第三个 选项 方案 问题 什么 为什么 怎么 怎么样 如何 哪个 哪里 现在 然后 之后 之前 再试一次 再试 重试 试试 检查 解释 帮我 需要 已经 还是 因为 所以 如果 但是 而且
我们 你们 他们 这个 那个 这样 一下 一个 看看 还有 东西 步骤 修复 修正 解决
はい ええ うん 一度 いいえ いや ありがとう ありがとうございます お願いします お願い 続けて 続けてください 続 大丈夫 了解 了解です 完了 次 次へ 全部 残り 最初 二番目 問題 確認 説明 今 何 前 後 修正 一
オッケー オーケー
네 예 응 아니 아니요 아니오 감사 감사합니다 고마워 고맙습니다 계속 계속해 계속해서 계속해주세요 있습니다 없습니다 있어 없어 있는 없는 하는 좋아 좋아요 부탁 부탁해 부탁합니다 주세요 해주세요 해줘 그래 그리고 하지만 그러면 다시 모두 나머지 다음
이것 그것 저것 이거 그거 저거 무엇 뭐 왜 어떻게 언제 어디 지금 문제 첫번째 두번째 번째 확인 설명 완료 진행 수정
ใช่ ไม่ ไม่ใช่ ขอบคุณ ต่อไป ทําต่อ โอเค ดี ดีมาก ได้ เลย
"""

_WEAK = """
fehler datei dateien funktion ordner zeile zeilen codes anderung anderungen andere teste testen
erreur erreurs fichier fichiers fonction dossier ligne lignes modification modifications
archivo archivos errores funcion carpeta linea lineas codigo cambios
erro erros arquivo arquivos codigo mudanca mudancas
ошибка ошибку ошибки ошибок файл файла файлы тест тесты тестов код кода функцию функция строка
错误 测试 代码 文件 函数 提交 运行 エラー テスト コード ファイル 関数 実行 오류 에러 테스트 코드 파일 함수 실행
"""

# Words of going on, or grammar, that are topics in English or Italian.
_HOMOGRAPHS = """
legal toll sage forma uber nas dos os sim primer car hat eu pour nickel
"""


@cache
def listed() -> frozenset[str]:
    """Folded words of other languages that are no topic."""
    languages = (_GERMAN, _FRENCH, _SPANISH, _PORTUGUESE, _DUTCH, _RUSSIAN, _SEMITIC_AND_INDIC, _EAST)
    return frozenset(" ".join(languages).split())


@cache
def weak() -> frozenset[str]:
    """Folded words of other languages that are topics only beside stronger ones."""
    return frozenset((_WEAK + _HOMOGRAPHS).split())


@cache
def homographs() -> frozenset[str]:
    """Weak topics that are words of English or Italian too: car, hat."""
    return frozenset(_HOMOGRAPHS.split())
