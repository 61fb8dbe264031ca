"""Floor 3: Italian words that are no topic, or a weak one. Written folded: without accents."""

from __future__ import annotations

from functools import cache

_GRAMMAR = """
il lo la i gli le l un uno una d di a da in con su per tra fra del dello della dei degli delle dell al allo alla ai agli
alle all dal dallo dalla dai dagli dalle dall nel nello nella nei negli nelle nell sul sullo sulla sui sugli sulle sull
col coi c m t v n s ce ci ne mi ti si vi me te se lui lei noi voi loro io tu egli ella esso essa essi esse mio mia miei mie
tuo tua tuoi tue suo sua suoi sue nostro nostra nostri nostre vostro vostra vostri vostre glielo gliela glieli gliele
questo questa questi queste quest quello quella quelli quelle quel quei quegli quell cio codesto stesso stessa stessi
stesse medesimo altro altra altri altre altrui ogni ognuno ognuna ciascuno ciascuna nessuno nessuna nessun qualche
qualcuno qualcuna qualcosa qualunque qualsiasi alcuno alcuna alcuni alcune tutto tutta tutti tutte tutt entrambi entrambe
ambedue molto molta molti molte poco poca pochi poche po tanto tanta tanti tante troppo troppa troppi troppe piu meno
abbastanza parecchio parecchi parecchie vari varie diverso diversa diversi diverse mezzo meta paio coppia
chi che cosa cos cui quale quali qual quanto quanta quanti quante come com dove dov quando perche poiche siccome mentre
finche affinche benche sebbene anche pure inoltre oppure ovvero ossia cioe infatti quindi dunque percio pertanto allora
eppure tuttavia pero ma e ed o od ne se sia neanche nemmeno neppure anzi invece altrimenti comunque piuttosto
non no si gia ancora sempre mai spesso talvolta ora adesso oggi domani ieri dopo prima poi subito presto tardi infine
finalmente intanto frattempo qui qua li la su giu sopra sotto dentro fuori davanti dietro vicino lontano accanto attorno
intorno oltre contro verso durante fino sino senza tranne eccetto salvo secondo circa quasi proprio davvero veramente
magari forse posto solo sola soli sole probabilmente sicuramente certamente ovviamente chiaramente semplicemente solo soltanto solamente appena
almeno addirittura bene ben male meglio peggio cosi tale tali insieme assieme direttamente completamente totalmente
correttamente attualmente precedentemente successivamente esattamente praticamente
due tre quattro cinque sei sette otto nove dieci primo prima primi prime seconda secondi seconde terzo terza quarto quarta
quinto quinta sesto sesta settimo settima ottavo ottava nono nona decimo decima ultimo ultima ultimi ultime penultimo
penultima
sono sei e siamo siete era eri eravamo eravate erano fui fosti fu fummo foste furono saro sarai sara saremo sarete saranno
sarei saresti sarebbe saremmo sareste sarebbero sia siano siate fossi fosse fossimo fossero essere essendo stato stata
stati state esserci
ho hai ha abbiamo avete hanno avevo avevi aveva avevamo avevate avevano ebbi ebbe ebbero avro avrai avra avremo avrete
avranno avrei avresti avrebbe avremmo avreste avrebbero abbia abbiano abbiate avessi avesse avessimo avessero avere avendo
avuto avuta avuti avute averlo averla
"""

_ADVERBS = """
entro stasera stamattina stamane stanotte stavolta stamani dopodomani altroieri
mezzora mezz oretta mezzoretta purtroppo soprattutto apposta bensi dacche purche nonostante malgrado laddove
ormai oramai tuttora finora sinora dapprima anzitutto innanzitutto perlomeno perlopiu pressoche giacche altrove
ovunque dovunque dappertutto laggiu lassu quaggiu quassu colui colei coloro costui costei costoro chiunque checche
chicchessia alcunche granche nient altrettanto altrettanta altrettanti altrettante tantomeno nonche seppure semmai
casomai oltretutto peraltro perdipiu incirca mica manco pur ancor quand ch cosicche sicche tant quant gran bel bei
begli talmente talora ognora dinanzi anzitempo dapprincipio dipiu daccapo dacapo apposto aposto perfino persino
ciononostante nondimeno ebbene orbene insomma viceversa vabe ennesimo ennesima terzultimo terzultima terzultime
qualsivoglia chissa macche altroche eccome sennonche senno sottosopra perche giustappunto appunto pari cima
onestamente sinceramente francamente seriamente fortunatamente sfortunatamente stranamente generalmente normalmente
solitamente tipicamente principalmente specialmente particolarmente specificamente precisamente leggermente
estremamente incredibilmente lentamente tranquillamente serenamente facilmente difficilmente raramente frequentemente
continuamente ripetutamente costantemente gradualmente immediatamente istantaneamente recentemente ultimamente
inizialmente originariamente parzialmente interamente assolutamente decisamente nettamente palesemente apparentemente
presumibilmente eventualmente ugualmente diversamente separatamente singolarmente personalmente ragionevolmente
sostanzialmente essenzialmente fondamentalmente teoricamente concretamente effettivamente evidentemente naturalmente
logicamente giustamente erroneamente malamente nuovamente possibilmente necessariamente finalmente unicamente
puramente veramente realmente attentamente accuratamente minuziosamente brevemente sinteticamente prontamente
tempestivamente celermente pazientemente volentieri malvolentieri
"""

_MODAL = """
posso puoi puo possiamo potete possono potevo potevi poteva potevamo potevate potevano potro potrai potra potremo potrete
potranno potrei potresti potrebbe potremmo potreste potrebbero possa possano potessi potesse potere potendo potuto
voglio vuoi vuole vogliamo volete vogliono volevo volevi voleva volevamo volevate volevano vorro vorrai vorra vorremo
vorrete vorranno vorrei vorresti vorrebbe vorremmo vorreste vorrebbero voglia vogliano volessi volesse volere volendo
voluto
devo devi deve dobbiamo dovete devono debbo debbono dovevo dovevi doveva dovevamo dovevate dovevano dovro dovrai dovra
dovremo dovrete dovranno dovrei dovresti dovrebbe dovremmo dovreste dovrebbero debba debbano dovessi dovesse dovere dovendo
dovuto dovuta so sai sa sappiamo sapete sanno sapevo sapevi sapeva sapro sapra saprei sapresti saprebbe sappi sapere saputo
faccio fai fa facciamo fate fanno facevo facevi faceva facevamo facevate facevano faro farai fara faremo farete faranno
farei faresti farebbe faremmo fareste farebbero faccia facciano facessi facesse fare facendo fatto fatta fatti fatte feci
fece fecero farlo farla farli farle farmi farti farci farne fallo falla falli falle fammi fatti facci fammelo fatelo fatela facciamolo facciamola facciamoli facciamole facendolo facendola ecco eccolo eccola eccoli eccole eccomi
vado vai va andiamo andate vanno andavo andava andro andrai andra andremo andrete andranno andrei andresti andrebbe vada
vadano andare andando andato andata andati andate andiamoci vacci
do dai da diamo date danno davo dava daro darai dara daremo darete daranno darei daresti darebbe dia diano dare dando dato
data dati date dammi dagli dacci darmi darci
dico dici dice diciamo dite dicono dicevo diceva diro dirai dira direi diresti direbbe dica dicano dire dicendo detto detta
detti dette dimmi dirmi dicci dille
vengo vieni viene veniamo venite vengono veniva verra verranno verrebbe venga venire venendo venuto venuta
sto stai sta stiamo state stanno stavo stavi stava stavamo stavano staro stara stia stare stando
tengo tieni tiene teniamo tenete tengono teneva terra tenga tenere tenendo tenuto tieniti
rimango rimani rimane rimaniamo rimangono rimaneva rimarra rimanga rimanere rimanendo rimasto rimasta rimasti rimaste
rimanente rimanenti restante restanti
scelgo scegli sceglie scegliamo scegliete scelgono scelga scegliere scegliendo scelto scelta scelti scelte
propongo proponi propone proponiamo proponete propongono proponga proporre proponendo proposto proposta proposti proposte
vedo vedi vede vediamo vedete vedono vedeva vedro vedrai vedra vedremo vedere vedendo visto vista visti viste veda vedi
rivedi rivediamo rivedere rivisto
leggo leggi legge leggiamo leggete leggono leggere leggendo letto scrivo scrivi scrive scriviamo scrivere scritto
chiudo chiudi chiude chiudiamo chiudere chiuso metto metti mette mettiamo mettete mettono mettere mettendo messo messa
prendo prendi prende prendiamo prendere prendendo preso risolvo risolvi risolve risolviamo risolvete risolvono risolvere
risolvendo risolto risolta risolti risolte risolvilo risolvila risolvili risolvile risolverlo risolverli
procedo procedi procede procediamo procedete procedono procedere procedendo proceduto proceda
credo credi crede crediamo credere aggiungo rileggi rileggere ricomincio riparto ripartiamo riparti
capisco capisci capisce capiamo capire capito finisco finisci finisce finiamo finite finiscono finire finendo finito finita
finiti finite finiscilo finiscila finirlo preferisco preferisci preferisce preferire capisca pulisci pulire
suggerisco suggerisci suggerisce suggerire suggerito suggerimento suggerimenti riesco riesci riesce riusciamo riescono
riuscire riuscito esco esci uscire segui segue seguire seguendo seguito seguente seguenti servi serve servono servire
serviva servirebbe pare sembra sembrano sembrava bisogna occorre basta bastano conviene piace piacerebbe dispiace interessa
importa dipende
"""

# Irregular verbs as pronouns are attached to them.
_BASES = """
far fate facciamo facendo dar date diamo dando dir dite diciamo dicendo star state stiamo stando andar andate andiamo andando
venir vieni venite veniamo venendo tener tieni tenete teniamo tenendo voler volendo poter potendo dover dovendo saper sappi
sapendo aver avendo esser essendo veder vedi vedendo rimaner rimani rimanendo sceglier scegli scegliete scegliamo scegliendo
propor proponi proponete proponiamo proponendo metter metti mettete mettiamo mettendo rifar rifate rifacciamo rifacendo
ridar ridate ridiamo ridir ridite riscegli piacer riuscir togli toglier
"""

# Forms of verbs that are nouns in their own right.
_NOUNS = """
portale portali terminale terminali segnale segnali stallo stalla parcella partita partite paziente pazienti reso resi ricerca
ricerche tema temi temo nota note vista viste durata entrata entrate immagine insegnante insegnanti cura cure tratta tratte
mossa salto tocco scorta corso
capitale capitali crediti cambiale cambiali brevetto brevetti bacino bacini grandine
"""
_WEAK_NOUNS = """
data date dati dato valuta porta porte porto ordine ordini tentativo tentativi avviso avvisi permesso linea fondo spettacolo
infinite infiniti infinita infinito autorizzato autorizzata parole elenco lista conferma verifica sospeso richiesta richieste occhio
limiti termini funzioni specifica notte sera serata mattina mattino pomeriggio disastro
"""

# Regular verbs; all their forms are made of these.
_VERBS = """
abbandonare abbreviare abituare accelerare accennare accertare accettare accorciare accontentare afferrare affidare affrettare
affrontare aggiustare aiutare allungare ampliare analizzare annullare applicare apprezzare approvare arrangiare
arrivare ascoltare aspettare attivare augurare avanzare avviare avvicinare avvisare azzardare azzeccare badare bastare
beccare bisognare buttare calmare cambiare capitare cercare chiacchierare chiamare collaborare combinare
cominciare completare complicare comportare concentrare condensare confermare considerare consigliare continuare controllare
curare dedicare desiderare detestare dettagliare dimenticare diventare domandare dubitare durare elencare eliminare
entrare esagerare esaminare esitare evitare faticare fermare fidare figurare fregare funzionare girare
giustificare guardare ignorare illustrare imbroccare immaginare imparare impegnare incasinare incavolare incazzare
incominciare indicare indovinare iniziare insegnare interessare lamentare lanciare lasciare lavorare levare limitare
mancare mandare meritare migliorare mollare mostrare necessitare notare obiettare occupare odiare organizzare osare
osservare parlare passare peggiorare pensare perdonare perfezionare pigliare portare precisare
pregare preoccupare preparare presentare prestare privilegiare procurare provare puntualizzare raccomandare raccontare
ragionare rallegrare rallentare rassicurare realizzare respirare restare rettificare riadattare rianalizzare riformulare
ricapitolare ricercare ricominciare riconsiderare ricontrollare ricordare ridare riesaminare rifare riguardare
rilanciare rilassare rimandare rimediare rimuginare rincominciare rincontrollare ringraziare riparlare ripassare
ripensare riportare riposare riprovare rischiare riscontrare risistemare rispiegare ritentare ritornare
ritrovare rivalutare riverificare rovinare saltare sbagliare sbrigare sbrogliare scappare scherzare scocciare scordare
scusare seccare segnalare segnare seguitare sembrare semplificare sintetizzare sistemare smanettare sognare sorvolare
sospettare spaventare specificare sperare sperimentare spiegare spostare stancare stressare stufare superare svelare
tardare tentare terminare toccare tornare tralasciare tranquillizzare trascurare trattare trovare urlare usare
utilizzare valutare velocizzare verificare
accadere accorgere ammettere apprendere attendere chiedere chiudere comprendere concludere conoscere convincere
correggere correre credere decidere descrivere discutere dividere esistere esprimere insistere intendere interrompere
leggere muovere occorrere omettere perdere permettere prendere pretendere procedere promettere raggiungere rendere
riassumere richiedere riconoscere ricorrere ridere ridiscutere riflettere rileggere rimettere ripetere riprendere
ripromettere risolvere rispondere rompere scegliere scommettere scrivere smettere sorprendere spendere succedere
temere togliere vedere vincere vivere
agire approfondire aprire avvertire capire chiarire colpire definire divertire dormire finire garantire gestire
gradire impazzire incuriosire intuire mentire obbedire offrire partire percepire preferire proseguire pulire reagire
restituire riaprire ribadire riferire rifinire ripartire ripulire riunire riuscire scoprire seguire sentire servire
smentire snellire sparire stabilire stupire suggerire supplire tradire ubbidire unire zittire
"""

_OTHER_FORMS = """
concludi conclude concludiamo concluso decidi decide decidiamo deciso correggi corregge correggiamo corregga corretto
corretta corretti corrette correggilo correggila correggili correggile correggere correggerlo correggerli rifai rifaccio
rifallo rifatto ripeti ripete ripetiamo ripetilo smetti smettila smettiamo aggiungi ottieni riprendi riprendiamo riprende
riprendere ripreso
inteso intesa espresso accaduto accaduta successo perso persa persi perse preteso compreso compresa scoperto offerto
richiesto scelto convinto vinto deciso mosso mossa riletto riletta rimesso rimessa riconosciuto reso aggiunto
raggiunto interrotto interrotta interrompo ammesso omesso omessa chiesto chiesta risposto discusso discussa corso
accorto accorta descritto dipeso parso valso rivisto rivisti riguardo dicevi dicevamo dicevano dirai diremo direte
diranno direste direbbero dicessi dicesse dissi disse venivo venivi venivano verro verrai verremo verrei verresti
verrebbero venga vengano venissi venisse venne tenevo tenevi terro terrai terremo terrei terresti terrebbe tenessi
tenesse tengano stavate staro starai staremo starei staresti starebbe stessi stesse stiano stette andavi andavamo
andavano andremo andrete andreste andrebbero andassi andasse dessi desse davi davamo davano diano diate rimarrei
rimarresti rimarrebbe rimanevo rimanessi rimanesse rimarro rimarrai rimase rimasi sceglievo scelgano sceglierei
sceglieresti sceglierebbe scegliessi scegliesse scelsi scelse proporresti proporrebbe proporrei proponessi proponesse
proponevi proponevo propose vedevo vedevi vedessi vedesse vedrei vedresti vedrebbe vedano veda vide sapevamo sapessi
sapesse sapremmo sappia sappiano sapendo riusciva riuscivo riuscivi riuscirai riuscira riusciresti riuscirebbe
riuscissi riuscisse riuscito riuscita riesca riescano esca escono usciamo uscito piaceva piaciuto piaciuta piacciono
piacesse piaccia dispiaciuto dispiacerebbe parrebbe pareva paresse paia parer bisognava occorreva occorrerebbe bastava
basterebbe bastasse convenire convieni conviene converrebbe conveniva convenga convengo converra supponi supponiamo
supponevo suppongo supposto suppone presuppone opta opterei optiamo opto rida ridammi ridimmi rifammi rivolgo rivolgi
doveste potesse potessero volessero dovessero dovresti sarei avessimo facessero facessimo dipendera dipenderebbe valga
valgono varrebbe tolgo tolga tolgono coglie cogli colgo colto mettici mettimi mettilo mettila mettili mettile
mettiamolo metterlo metterla esserne esserlo avercela avercene averci averne averti avermi eccoti eccoci eccovi
vattene vattelo andarsene andiamocene farcela fartela farsela cavarsela cavartela prendersela
rifarei rifaresti rifarebbe rifaremmo rifareste rifarebbero rifaro rifarai rifara rifaremo rifarete rifaccia rifacciano
rifacciamo rifacevo rifacevi rifaceva rifacessi rifacesse rifacendo curiosita
"""

_TALK = """
ok okay okey va vabbe vabbene d'accordo accordo certo certa certamente sicuro sicura esatto esattamente giusto giusta giusti
giuste sbagliato perfetto perfetta perfetti perfettamente ottimo ottima ottimi ottime ottimamente eccellente bello bella
belli belle bellissimo bravo brava bravi bravissimo fantastico fantastica meraviglioso magnifico splendido stupendo grande
grandioso super buono buona buoni buone buon buonissimo benissimo benone grazie graziee grazieee mille prego favore cortesia
gentilmente cortesemente per piacere scusa scusami scusate scusi ciao salve buongiorno buonasera buonanotte arrivederci
saluti caro cara capo ragazzi amico ehi eh ah oh uh mah boh beh bah uff dai forza su avanti indietro pronto pronta pronti
chiaro chiara evidente ovvio capito inteso intesi concordo concordi concordato concordata concordati concordate pattuito convenuto stabilito ricevuto idem d'acc tranquillo calma piano pazienza peccato
nulla niente figurati confermo confermato approvo approvato
"""

_CHAT = """
xke xche xk xo xro nn cmq cmnq qnd qndo qnt qst qsto qsta qlc qlcs qlcsa qlcn qll tt tto ttt nnt nnte sn cn dv ke ki
kosa anke ank bn dmn grz grzie graz grazir graize grazi garzie pf pfv prf prg tnx tks thks tvb tvtb scs x mlt prox
risp fra frate raga ragazze rega zio amo amore tesoro compa cumpa bello bella genio mito mitico mitica
fenomeno fuoriclasse daje dajje daie aridaje vabbuo vabbo vabbeh vabuo jamme ja iamme uagliu guaglio nun mo mmo bon
ndemo ue uei uela aho ao mannaggia ammazza anvedi boia belin minchia cazzo cazzata cazzate cavolo cavolata porca
miseria merda caspita accidenti acciderba diamine perbacco cribbio perdincibacco urca orpo ops oops ups uffa evviva
urra alleluia ole yeah cin mah bof puah tie sciallo scialla sciolto figo figa figata fico ficata ganzo sgamato
fighissimo tosto fregna mazza accipicchia ahime ahi ahia ohi ohibo eia ecche ammappete vamos eddai suvvia orsu ale so
famo annamo semo sta sto te teee complimenti congratulazioni auguri felicitazioni applausi bacio bacione baci
abbraccio abbracci buonasera buondi buongiornissimo cia addio bentornato bentornata bentrovato scusate perdono
perdonami sorry proce procdi pocedi porcedi procedie contiua continau contiuna contnua avnati avanit resot rsto restto
tuto tutot utto pefetto perfeto perfettto perefetto okei oke okie vabene quale puo po perche
"""

_FEELINGS = """
contento contenta contenti contente felice felici triste tristi stanco stanca arrabbiato arrabbiata deluso delusa
soddisfatto soddisfatta insoddisfatto preoccupato preoccupata confuso confusa perplesso perplessa perplessi convinto
convinta sorpreso sorpresa entusiasta entusiasti curioso curiosa annoiato grato grata fiero fiera orgoglioso paziente
impaziente sensato sensata sensati sensate insensato insensata assurdo assurda ridicolo ridicola pessimo pessima
pessimi pessime orribile orribili orrendo orrenda terribile terribili penoso penosa scarso scarsa decente decenti
discreto discreta mediocre accettabile accettabili inaccettabile ragionevole ragionevoli irragionevole sciocco sciocca
sciocchezza sciocchezze stupido stupida scemo scema cretino fesso incapace inutile schifo schifoso schifosa schifezza
schifezze casino pasticcio pasticci porcheria porcherie bellezza meraviglia meraviglie favola incredibile
incredibili pazzesco pazzesca impressionante spettacolare spettacolari straordinario straordinaria formidabile geniale
geniali eccezionale eccezionali favoloso favolosa strepitoso strepitosa impeccabile ineccepibile
stratosferico clamoroso efficace deciso decisa indeciso indecisa incerto incerta dubbio dubbi dubbioso colpa colpe
merito fretta furia furbo furba sveglio bravissime forte forti povere povero poveri povera strano strana strani strane
buffo buffa occhiata ripassata controllata sistemata aggiustata guardata pulita letta raddrizzata rilassato sereno
serena gentile gentili gentilissimo cortese attento attenta attenti attente
"""

# Words that people make small or great: attimino, pochissimo, riassuntino, cosetta.
_GRADED = """
attimo attimino basso bello breve bravo buono caro carino certo chiaro contento corto cosa domanda accordo facile
felice forte furbo giro giusto grande grosso largo lavoro lento lungo male meglio momento molto nuovo ora peggio pezzo
piano poco presto problema pronto qualcosa recap riassunto scarso semplice sicuro simile stanco strano tanto tardi
triste tutto urgente utile vecchio veloce vicino volta aiuto dubbio passo idea saluto bacio bene esatto perfetto
importante lontano rapido pulito brutto alto simpatico chiacchiera consiglio riepilogo prova mano schifo casino sforzo
"""

_FRAME = """
problema problemi guaio guai questione questioni faccenda roba resto restanti cosa cose coso volta volte caso casi punto
punti passo passi passaggio passaggi passata passate parte parti pezzo pezzi modo modi maniera maniere approccio approcci tipo tipi genere
sorta opzione opzioni scelta scelte alternativa alternative proposta proposte idea idee consiglio consigli
raccomandazione raccomandazioni domanda domande risposta risposte richiesta richieste piano piani obiettivo obiettivi
scopo motivo motivi ragione ragioni causa esempio esempi dettaglio dettagli riassunto riepilogo sintesi stato situazione
progresso progressi avanzamento lavoro lavori lavorazione compito compiti attivita task todo momento momenti attimo minuto
minuti ora ore giorno giorni settimana settimane tempo tempi turno giro giri tentativo tentativi inizio fine finale
finali iniziale iniziali mezzo ordine senso bisogno necessita possibilita possibile possibili impossibile necessario
necessaria necessari necessarie utile utili inutile importante importanti urgente semplice semplici facile facili
difficile difficili complicato veloce veloci velocemente rapido rapidamente lento piccolo piccola piccoli piccole grosso
grossa lungo lunga breve corto corta nuovo nuova nuovi nuove nuovamente vecchio vecchia intero intera completo completa
completi complete totale singolo singola precedente precedenti successivo successiva successivi successive prossimo
prossima prossimi prossime attuale attuali corrente correnti aperto aperta aperti aperte sospeso pendente pendenti
mancante mancanti residuo residui principale principali originale uguale uguali simile simili vero vera falso falsa
meglio miglior migliore migliori peggiore indicato indicata indicati suddetto sopracitato
"""

_WEAK = """
errore errori bug test prove codice file cartella cartelle directory funzione metodo metodi classe classi
modulo moduli variabile variabili riga righe blocco script comando comandi programma programmi app applicazione progetto
progetti repo repository ramo branch commit committa committare committalo pusha pushare pushalo mergia mergiare
modifica modifiche modificare modificato modificata modifichi modifico cambiamento cambiamenti aggiornamento aggiornamenti
aggiorna aggiornare aggiornato aggiornalo aggiungere rimuovi rimuovere rimosso cancella cancellare
installa installare installato installazione compila compilare compilazione esegui eseguire esegue eseguito
esecuzione testa testare testato testalo crea creare creato implementa implementare implementato
implementazione refactoring refactora rinomina rinominare riscrivi riscrivere documentazione documenta
documentare commenti commento messaggio messaggi output risultato risultati versione versioni soluzione soluzioni
miglioramento miglioramenti correzione correzioni funzionalita requisito requisiti specifiche strumento
strumenti agente modello sessione conversazione chat contesto testo parola parole nome nomi valore valori dati dato numero
numeri contenuto contenuti fallisce falliscono fallito falliti rotto rotta rotti verde verdi rosso build deploya deployare
rilascia rilasciare rilascio avviso avvisi eccezione eccezioni bloccato bloccata bloccati bloccate piantato piantata crashato
"""


_SINGLE = ("lo", "la", "li", "le", "ne")
_PRONOUNS = (
    *(*_SINGLE, "mi", "ti", "ci", "vi", "si", "gli"),
    *(first + second for first in ("me", "te", "ce", "ve", "se", "glie") for second in _SINGLE),
)
_HARD = "i iamo iate ino ero erai era eremo erete eranno erei eresti erebbe eremmo ereste erebbero"
_ENDINGS = {
    "are": "o a ate ano avo avi ava avamo avate avano ai asti ammo aste arono assi asse assimo assero ato ata ati ando are"
    " ante anti",
    "ere": "o i e iamo ete ono evo evi eva evamo evate evano ei esti emmo este erono essi esse essimo essero uto uta uti ute"
    " endo ere a ano iate ero erai era eremo erete eranno erei eresti erebbe eremmo ereste erebbero ente enti",
    "ire": "o i e isco isci isce iscono isca iscano iamo ite ono ivo ivi iva ivamo ivate ivano ii isti immo iste irono issi"
    " isse issimo issero ito ita iti ite endo ire a ano iate iro irai ira iremo irete iranno irei iresti irebbe iremmo"
    " ireste irebbero",
    "hard": _HARD,
}  # fmt: skip
_BASE_ENDINGS = {
    "are": "ar a ate ando",
    "ere": "er i ete iamo endo isci",
    "ire": "ir i ite iamo endo isci",
    "hard": "iamo",
}
"""Of the infinitive, the commands and the gerund, to which pronouns are attached."""
_LONGEST_ENDING = 8
_DEGREES = ("issim", "in", "ett", "ettin", "ucci", "on")


@cache
def listed() -> frozenset[str]:
    """Folded Italian words that are no topic, as far as they stand in a list."""
    words = set((_GRAMMAR + _ADVERBS + _MODAL + _OTHER_FORMS + _TALK + _CHAT + _FEELINGS + _FRAME).split())
    for command in ("fa", "da", "di", "sta", "va", "rifa", "rida", "ridi"):
        words |= _commands(command)
    return frozenset(words - _nouns())


def is_form(word: str) -> bool:
    """Whether a folded word is a form or a degree of a word that is no topic: mostramelo, finirebbe, pochissimo."""
    is_one = _is_conjugated(word, _stems_of_forms()) or _is_degree(word) or _has_pronoun(word)
    return is_one and word not in _nouns()


@cache
def grammar() -> frozenset[str]:
    """Words that only join others."""
    return frozenset(_GRAMMAR.split())


def weak() -> frozenset[str]:
    """Folded Italian words that are topics only beside stronger ones."""
    return frozenset((_WEAK + _WEAK_NOUNS).split())


@cache
def _nouns() -> frozenset[str]:
    return frozenset((_NOUNS + _WEAK_NOUNS).split())


@cache
def _stems() -> dict[str, frozenset[str]]:
    """The stems of verbs by conjugation; `hard` are those of the first before i and e: cerch-, cominc-."""
    verbs = _VERBS.split()
    first = [verb[:-3] for verb in verbs if verb.endswith("are")]
    return {
        **{ending: frozenset(verb[:-3] for verb in verbs if verb.endswith(ending)) for ending in ("are", "ere", "ire")},
        "hard": frozenset(stem + "h" if stem[-1] in "cg" else stem.removesuffix("i") for stem in first),
    }


def _stems_of(table: dict[str, str]) -> dict[str, list[frozenset[str]]]:
    """For each ending the sets of stems that take it."""
    stems: dict[str, list[frozenset[str]]] = {}
    for conjugation, endings in table.items():
        for ending in endings.split():
            stems.setdefault(ending, []).append(_stems()[conjugation])
    return stems


@cache
def _stems_of_forms() -> dict[str, list[frozenset[str]]]:
    return _stems_of(_ENDINGS)


@cache
def _stems_of_bases() -> dict[str, list[frozenset[str]]]:
    return _stems_of(_BASE_ENDINGS)


@cache
def _irregular_bases() -> frozenset[str]:
    return frozenset(_BASES.split())


def _is_conjugated(word: str, stems: dict[str, list[frozenset[str]]]) -> bool:
    """Whether a word is the stem of one of the verbs with one of the endings of its conjugation."""
    return any(
        word[:-length] in verbs for length in range(1, _LONGEST_ENDING + 1) for verbs in stems.get(word[-length:], ())
    )


def _has_pronoun(word: str) -> bool:
    """Whether a word is a verb with pronouns attached: mostramelo, finirlo, facendoglielo."""
    if not word.endswith(_PRONOUNS):
        return False
    bases = [word[: -len(pronoun)] for pronoun in _PRONOUNS if word.endswith(pronoun)]
    return any(base in _irregular_bases() or _is_conjugated(base, _stems_of_bases()) for base in bases)


def _commands(verb: str) -> set[str]:
    """The pronouns behind a command of one syllable, whose consonant doubles: fallo, dimmelo, dagli."""
    doubled = {verb + ("" if pronoun.startswith("g") else pronoun[0]) + pronoun for pronoun in _PRONOUNS}
    return doubled | {verb + "cci", verb + "nne"}


@cache
def _graded_stems() -> frozenset[str]:
    return frozenset(
        (word[:-1] + ("h" if word.endswith(("co", "go", "ca", "ga")) else "")).removesuffix("i")
        for word in _GRADED.split()
    )


def _is_degree(word: str) -> bool:
    """Whether a word is one of `_GRADED` made smaller, dearer or greater: poco, pochissimo, pochino."""
    if not word.endswith(("o", "a", "i", "e")):
        return False
    stem = word[:-1]
    return any(stem.endswith(each) and stem[: -len(each)] in _graded_stems() for each in _DEGREES)
