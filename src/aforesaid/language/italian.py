"""Floor 3: Italian words that are no topic, or a weak one. Written folded: without accents."""

from __future__ import annotations

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

# Regular verbs; all their forms are made of these.
_VERBS = """
abbandonare accettare affrontare annullare aggiustare aiutare analizzare applicare approvare arrivare aspettare attivare avanzare avviare cambiare cercare chiamare
cominciare completare concentrare concludere confermare consigliare considerare continuare controllare correggere
cominciare decidere dimenticare diventare dubitare eliminare elencare esaminare evitare fermare funzionare giustificare
guardare ignorare illustrare immaginare iniziare lanciare lasciare lavorare limitare mancare mandare migliorare mostrare
occupare ordinare organizzare parlare passare pensare portare precisare preparare pregare presentare procurare provare
raccontare ragionare realizzare restare ricapitolare ricominciare ricontrollare ricordare rifare rimediare ringraziare
ripetere ripassare riportare riprovare riscontrare ritornare ritentare riverificare sbagliare sbrigare segnalare segnare
seguitare sistemare smettere sperare spiegare spostare superare svelare tentare terminare tornare trattare trovare usare
utilizzare valutare verificare
chiedere concludere credere decidere dividere esistere insistere leggere perdere prendere permettere procedere promettere
rispondere ridere risolvere scrivere smettere succedere spendere togliere vedere vivere
capire chiarire definire finire garantire gestire partire preferire proseguire pulire restituire riferire ripartire
riunire seguire sentire servire stabilire suggerire tradire unire
"""

_OTHER_FORMS = """
concludi conclude concludiamo concluso decidi decide decidiamo deciso correggi corregge correggiamo corregga corretto
corretta corretti corrette correggilo correggila correggili correggile correggere correggerlo correggerli rifai rifaccio
rifallo rifatto ripeti ripete ripetiamo ripetilo smetti smettila smettiamo aggiungi ottieni riprendi riprendiamo riprende
riprendere ripreso
"""

_TALK = """
ok okay okey va vabbe vabbene d'accordo accordo certo certa certamente sicuro sicura esatto esattamente giusto giusta giusti
giuste sbagliato perfetto perfetta perfetti perfettamente ottimo ottima ottimi ottime ottimamente eccellente bello bella
belli belle bellissimo bravo brava bravi bravissimo fantastico fantastica meraviglioso magnifico splendido stupendo grande
grandioso super buono buona buoni buone buon buonissimo benissimo benone grazie graziee grazieee mille prego favore cortesia
gentilmente cortesemente per piacere scusa scusami scusate scusi ciao salve buongiorno buonasera buonanotte arrivederci
saluti caro cara capo ragazzi amico ehi eh ah oh uh mah boh beh bah uff dai forza su avanti indietro pronto pronta pronti
chiaro chiara evidente ovvio capito inteso intesi concordo concordi d'acc tranquillo calma piano pazienza peccato
nulla niente figurati confermo confermato approvo approvato
"""

_FRAME = """
problema problemi guaio guai questione questioni faccenda roba resto restanti cosa cose coso volta volte caso casi punto
punti passo passi passaggio passaggi passata passate parte parti pezzo pezzi modo modi maniera maniere tipo tipi genere
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
errore errori bug test prova prove codice file cartella cartelle directory funzione funzioni metodo metodi classe classi
modulo moduli variabile variabili riga righe blocco script comando comandi programma programmi app applicazione progetto
progetti repo repository ramo branch commit committa committare committalo pusha pushare pushalo mergia mergiare
modifica modifiche modificare modificato modificata modifichi modifico cambiamento cambiamenti aggiornamento aggiornamenti
aggiorna aggiornare aggiornato aggiornalo aggiungere aggiungi aggiungo aggiunto rimuovi rimuovere rimosso cancella cancellare
elimina installa installare installato installazione compila compilare compilazione esegui eseguire esegue eseguito
esecuzione lancia lanciare testa testare testato testalo crea creare creato implementa implementare implementato
implementazione refactoring refactora rinomina rinominare scrivere riscrivi riscrivere documentazione documenta
documentare commenti commento messaggio messaggi output risultato risultati versione versioni soluzione soluzioni
miglioramento miglioramenti correzione correzioni funzionalita requisito requisiti specifica specifiche strumento
strumenti agente modello sessione conversazione chat contesto testo parola parole nome nomi valore valori dati dato numero
numeri contenuto contenuti fallisce falliscono fallito falliti rotto rotta rotti verde verdi rosso build deploya deployare
rilascia rilasciare rilascio avviso avvisi eccezione eccezioni
"""


_PRONOUNS = ("lo", "la", "li", "le", "ne", "mi", "ti", "ci", "vi", "gli", "melo", "mela", "celo", "cela")
_ENDINGS = {
    "are": "o a ate ano avo avi ava avamo avate avano ai asti ammo aste arono assi asse assimo assero ato ata ati ando are"
    " ante anti",
    "ere": "o i e iamo ete ono evo evi eva evamo evate evano ei esti emmo este erono essi esse essimo essero uto uta uti ute"
    " endo ere a ano iate ero erai era eremo erete eranno erei eresti erebbe eremmo ereste erebbero ente enti",
    "ire": "o i e isco isci isce iscono isca iscano iamo ite ono ivo ivi iva ivamo ivate ivano ii isti immo iste irono issi"
    " isse issimo issero ito ita iti ite endo ire a ano iate iro irai ira iremo irete iranno irei iresti irebbe iremmo"
    " ireste irebbero",
}  # fmt: skip


def _forms(verb: str) -> set[str]:
    """The regular forms of a verb, folded, with object pronouns where they are attached."""
    stem, ending = verb[:-3], verb[-3:]
    forms = {stem + form for form in _ENDINGS[ending].split()}
    vowel = ending[0]
    commands, gerund = {"are": ("a", "ando"), "ere": ("i", "endo"), "ire": ("i", "endo")}[ending]
    hard = stem
    if ending == "are":
        hard = stem + "h" if stem[-1] in "cg" else stem.removesuffix("i")
        forms |= {hard + form for form in ("i", "iamo", "iate", "ino")}
        forms |= {hard + form for form in (
            "ero", "erai", "era", "eremo", "erete", "eranno", "erei", "eresti", "erebbe", "eremmo", "ereste", "erebbero",
        )}  # fmt: skip
    bases = [f"{stem}{vowel}r", stem + commands, f"{stem}{vowel}te", f"{hard}iamo", stem + gerund]
    if ending == "ire":
        bases.append(f"{stem}isci")
    return forms | {base + pronoun for base in bases for pronoun in _PRONOUNS}


def no_topics() -> frozenset[str]:
    """Folded Italian words that are no topic."""
    words = set((_GRAMMAR + _MODAL + _OTHER_FORMS + _TALK + _FRAME).split())
    for verb in _VERBS.split():
        words |= _forms(verb)
    return frozenset(words)


def weak_topics() -> frozenset[str]:
    """Folded Italian words that are topics only beside stronger ones."""
    return frozenset(_WEAK.split())
