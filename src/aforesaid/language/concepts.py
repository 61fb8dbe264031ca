"""Floor 3: words of software work that mean the same, in English and Italian, for vectors of hashed features.

A line is a concept: its words share a feature in `embedders/feature_hash`, whatever form they stand in. Written from
what words mean, not from any evaluation set. A word stands in one line only; the first one counts.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Final

from aforesaid.language.endings import root_of

_CONCEPTS: Final = """
add append insert include attach introduce aggiungere aggiungi inserire inserisci includere
remove delete drop erase purge discard eliminate wipe rimuovere rimuovi eliminare cancellare cancella togliere togli
change modify alter edit adjust amend tweak cambiare cambia modificare modifica alterare
create make build generate produce creare crea generare costruire produrre
start launch begin boot spawn startup avviare avvia iniziare inizia lanciare partire
stop halt terminate kill abort quit fermare ferma arrestare terminare interrompere
restart reboot relaunch reload riavviare riavvio ricaricare
fix repair resolve solve correct remedy mend patch correggere correggi riparare risolvere risolvi sistemare aggiustare
break broken crash fail failure failing fault malfunction rompere rotto fallire fallimento guasto crollare fallito
error exception mistake bug defect errore errori eccezione difetto
warning caution alert avviso avvertimento allarme
slow slowness sluggish latency lag delay lento lentezza latenza ritardo
fast quick speed rapid performance throughput veloce velocità rapido prestazioni
improve optimize optimise enhance speedup migliorare ottimizzare miglioramento
memory ram heap memoria
leak leakage perdita
disk storage drive disco archiviazione
full exhausted overflow pieno esaurito
database db datastore sql basedati database
table relation tabella
column field attribute colonna campo attributo
row record tuple riga
index indexes indice
query select lookup interrogazione interrogare
migration migrate schema migrazione migrare
transaction commit rollback transazione
connection connect socket link connessione connettere collegamento collegare
port porta
server backend host service daemon servizio demone
client frontend browser cliente
network internet rete
request call invocation richiesta chiamata
response reply answer risposta rispondere
endpoint route path url indirizzo percorso
timeout expire expiry expiration deadline scadenza scadere scaduto
retry reattempt again riprovare ritentare nuovamente
limit cap maximum threshold bound ceiling limite massimo soglia tetto
minimum least minimo
increase raise grow bump enlarge aumentare aumento crescere alzare
decrease reduce lower shrink diminuire ridurre riduzione abbassare
size length width dimension dimensione lunghezza larghezza grandezza
number count amount quantity numero conteggio quantità
value setting parameter option valore impostazione parametro opzione
configuration config configure settings preference configurazione configurare preferenza
default standard predefinito predefinita
environment env ambiente
variable variabile
secret password credential token passphrase segreto parola credenziale
authentication auth login signin authenticate autenticazione autenticare accesso accedere
logout signout disconnect uscita disconnettere
authorization permission access privilege grant autorizzazione permesso privilegio consentire
user account member utente profilo
customer buyer purchaser acquirente
encrypt encryption cipher cifrare cifratura crittografia
certificate cert tls ssl certificato
key chiave
hash digest checksum fingerprint impronta
test spec testing prova provare verifica
flaky unstable intermittent instabile intermittente
assert expect assertion verificare aspettare attendersi
mock stub fake simulare finto
coverage copertura
debug diagnose investigate troubleshoot indagare diagnosticare
log logging trace journal registro tracciare
monitor metric observe watch dashboard monitorare metrica osservare sorvegliare
deploy release ship rollout publish rilasciare rilascio pubblicare distribuzione
production prod live produzione
version revision versione revisione
upgrade update bump aggiornare aggiornamento
downgrade revert undo restore annullare ripristinare tornare
backup snapshot copia salvataggio
copy duplicate clone copiare duplicare clonare
move relocate transfer spostare spostamento trasferire
rename retitle rinominare
file document documento
folder directory cartella
library package dependency module libreria pacchetto dipendenza modulo
install setup installare installazione
uninstall disinstallare
import load read importare caricare leggere
export save write dump persist esportare salvare scrivere
parse decode deserialize interpretare decodificare analizzare
serialize encode marshal serializzare codificare
convert transform translate convertire trasformare tradurre
validate check verify validation validare controllare controllo convalida
compile compiler compilare compilatore compilazione
lint format style formattare stile
type typing typed tipo
function method routine procedure funzione metodo procedura
class object struct classe oggetto
interface api contract interfaccia contratto
argument param argomento
return result output risultato ritorno
loop iterate iteration ciclo iterare
recursion recursive ricorsione ricorsivo
array list sequence elenco lista vettore
map dictionary mapping mappa dizionario
string text testo stringa
integer whole intero
null none nil undefined missing absent mancante nullo assente
empty blank vuoto
thread concurrency concurrent parallel concorrenza parallelo
lock mutex deadlock semaphore blocco bloccare
race corsa
queue backlog coda
worker job task lavoro compito
schedule cron timer periodic pianificare programmare periodico
event message notification signal evento messaggio notifica segnale
subscribe listen listener consumer sottoscrivere ascoltare
email mail posta
cache caching memoize cached
invalidate stale outdated obsolete obsoleto invalidare
clean cleanup tidy pulire pulizia
refactor restructure reorganize ristrutturare riorganizzare rifattorizzare
merge combine join unire fondere combinare
split divide separate dividere separare
branch ramo
conflict clash collision conflitto collisione
review inspect audit esaminare rivedere
approve accept confirm approvare accettare confermare
reject deny refuse decline rifiutare negare respingere
allow permit enable activate abilitare attivare permettere
disable deactivate forbid block disabilitare disattivare vietare
choose pick decide decision selection scegliere scelta decidere decisione
agree agreement settle accordo concordare
reason cause why motivo causa ragione
problem issue trouble problema guaio
solution workaround soluzione rimedio
plan roadmap strategy piano strategia
deadline due consegna
money price cost fee payment prezzo costo pagamento pagare pay billing charge
invoice bill receipt fattura ricevuta
order purchase ordine acquisto
cart basket carrello
tax vat tassa imposta iva
discount coupon sconto
currency valuta
date day calendar data giorno calendario
time clock hour orario ora tempo
timezone utc fuso
week settimana
month mese
year anno
search find locate cerca cercare trovare ricerca
filter filtrare filtro
sort order ranking ordinare ordinamento classifica
page pagination paginate pagina paginazione
button click pulsante cliccare
screen view display show mostrare schermo visualizzare vista
layout arrange position disposizione posizione
colour color theme colore tema
image picture photo icon immagine foto icona
font typeface carattere
mobile phone smartphone telefono cellulare
keyboard shortcut tastiera scorciatoia
upload send submit push inviare invio caricamento mandare
download fetch pull retrieve get scaricare recuperare prelevare ottenere
stream streaming flusso
compress zip gzip comprimere compressione
extract unzip unpack estrarre estrazione
container docker image contenitore
cluster node kubernetes grappolo nodo
cloud aws azure gcp nuvola
pipeline ci workflow automation automazione
script command shell terminal comando
proxy gateway proxy
firewall iptables
domain dns hostname dominio
balance balancer distribute bilanciare bilanciatore distribuire
replica replication mirror replicare replicazione
primary master leader main principale primario
secondary slave follower standby secondario
health healthcheck alive liveness salute
permission chmod ownership proprietà
language locale translation lingua traduzione localization
encoding utf charset unicode codifica
random seed shuffle casuale
average mean media
sum total totale somma
percent percentage percentuale
round truncate rounding arrotondare troncare
precision accuracy precisione accuratezza
negative minus negativo
positive plus positivo
first initial primo iniziale
last final latest ultimo finale
new fresh nuovo nuova
old legacy previous former vecchio precedente
temporary temp provisional temporaneo provvisorio
permanent persistent lasting permanente persistente
optional opzionale facoltativo
required mandatory necessary obbligatorio necessario
public open exposed pubblico aperto
private internal hidden privato interno nascosto
safe secure security sicuro sicurezza
vulnerability exploit attack injection vulnerabilità attacco
sanitize escape escaping sanificare
comment annotation commento annotazione
documentation docs readme guide manual documentazione guida manuale
example sample esempio campione
template scaffold modello sagoma
license licence licenza
team colleague collega squadra gruppo
meeting call standup riunione incontro
question ask domanda chiedere
explain describe clarify spiegare descrivere chiarire
understand comprehend capire comprendere
forget forgot dimenticare scordare
remember recall ricordare
wait pause sleep aspetta attendere attesa pausa
continue proceed resume continuare proseguire riprendere
skip ignore omit bypass saltare ignorare tralasciare
replace swap substitute sostituire scambiare
compare diff difference comparison confrontare differenza confronto
equal same identical uguale stesso identico
different distinct diverso differente
unique distinctive unico univoco
duplicate repeated twice doppio ripetuto doppione
"""
"""Blank-separated words of one meaning a line."""


@cache
def _by_root() -> dict[str, str]:
    found: dict[str, str] = {}
    for line in _CONCEPTS.split("\n"):
        listed = line.split()
        for word in listed:
            found.setdefault(_root(word), listed[0])
    return found


@lru_cache(maxsize=8192)
def concept_of(word: str) -> str | None:
    """The concept of a folded word: the first word of its line; None if it is in no line."""
    return _by_root().get(_root(word))


def _root(word: str) -> str:
    return root_of(word) or word
