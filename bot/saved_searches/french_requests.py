"""What people say to Parley about saved searches in French. The patterns are folded: no accents, no capitals."""

import re
from typing import Final

from bot.saved_searches.request_patterns import ArrivalPattern, RequestPatterns

_DAYS: Final = {
    "lundi": frozenset({0}),
    "mardi": frozenset({1}),
    "mercredi": frozenset({2}),
    "jeudi": frozenset({3}),
    "vendredi": frozenset({4}),
    "samedi": frozenset({5}),
    "dimanche": frozenset({6}),
    "jours ouvres": frozenset(range(5)),
    "jour ouvre": frozenset(range(5)),
    "jours ouvrables": frozenset(range(5)),
    "jour ouvrable": frozenset(range(5)),
    "jours de la semaine": frozenset(range(5)),
    "jours de semaine": frozenset(range(5)),
    "en semaine": frozenset(range(5)),
    "jour": frozenset(range(7)),
    "matin": frozenset(range(7)),
    "quotidiennement": frozenset(range(7)),
}
_WEEKDAY: Final = "(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)"
_PLEASE: Final = r"s'il (?:te|vous) plait|stp|svp|merci"
_POLITE: Final = rf"(?:(?:bonjour|salut),? )?(?:(?:{_PLEASE}),? )?"
_END: Final = rf"(?:,? (?:{_PLEASE})(?: d'avance)?)? ?[.!?]*"
_INFINITIVES: Final = (
    r"(?:prevenir|avertir|alerter|informer|notifier|dire|signaler|faire savoir|tenir au courant|tenir informee?s?"
    r"|faire signe)"
)
_TELL: Final = rf"{_POLITE}(?:" + "|".join((
    r"(?:previens|prevenez|avertis|avertissez|alerte|alertez|informe|informez|notifie|notifiez|dis|dites|signale"
    r"|signalez)[- ](?:moi|nous)",
    r"(?:fais|faites)[- ](?:moi|nous) (?:le )?(?:savoir|signe)",
    r"(?:tiens|tenez)[- ](?:moi|nous) (?:au courant|informee?s?)",
    r"(?:envoie|envoyez|donne|donnez|mets|mettez)[- ](?:moi|nous) (?:une alerte|une notification|un message|un mail)",
    rf"(?:merci de|veuillez|peux-tu|pouvez-vous|pourrais-tu|pourriez-vous|tu peux|vous pouvez|tu pourrais"
    rf"|vous pourriez|il faut|est-ce que (?:tu peux|vous pouvez)) (?:bien )?(?:me|m'|nous) ?{_INFINITIVES}",
    rf"(?:me|m'|nous) ?{_INFINITIVES}",
    r"(?:je voudrais|je souhaite|je souhaiterais|je veux|j'aimerais|nous voudrions|nous souhaitons|nous aimerions)"
    r" (?:bien )?etre (?:prevenu|averti|alerte|informe|notifie)e?s?",
    r"(?:je voudrais|je souhaite|je veux|j'aimerais) que (?:tu|vous) (?:me|m'|nous) ?"
    r"(?:previennes|preveniez|avertisses|avertissiez|alertes|alertiez|informes|informiez|dises|disiez)",
)) + r")(?: ici)?,?"  # fmt: skip
_WHEN: Final = (
    r"(?:quand|lorsque|lorsqu'|des que|des qu'|aussitot que|aussitot qu'|(?:a )?chaque fois que|(?:a )?chaque fois qu'"
    r"|si|s') ?"
)
_SINGLE: Final = r"(?:une? autre |une? |chaque |tout |toute )"
_NEW: Final = rf"(?P<article>(?:{_SINGLE}|de |des |d'autres |les |plusieurs )?(?:nouveaux?|nouvel|nouvelles?)) "
_INDEFINITE: Final = r"(?P<article>une? autre|une?|d'autres|des) "
_THERE_IS: Final = (
    r"(?:il y a|il y aura|y a|on recoit|nous recevons|je recois|on a|nous avons|arrive(?:nt)?|parait|paraissent)"
)
_COMES: Final = (
    r"(?:arrive(?:nt)?|arrivera|arriveront|entre(?:nt)?|rentre(?:nt)?|apparait|apparaissent|parait|paraissent|tombe(?:nt)?"
    r"|(?:nous )?parvient|(?:nous )?parviennent|est la|sont la"
    r"|(?:est|sont|a ete|ont ete|sera|seront) (?:disponible|ajoute|recu|arrive|charge|importe|televerse"
    r"|mis en ligne|en ligne)e?s?)"
)
_ARRIVES: Final = (
    rf"(?:{_COMES}|(?:est|sont|a ete|ont ete|sera|seront) (?:depose|enregistre|cree|signe|conclu|publie|ouvert|emis"
    r"|saisi|etabli|declare|signale|soumis|classe)e?s?)"
)
_TAIL: Final = r"(?: (?:ici|chez nous))?(?P<tail> (?:avec|de|du|des|chez|pour|par) .+?|(?: d'.+?))?"
_EXCEEDS: Final = r"(?:depasse(?:nt)?|excede(?:nt)?|est superieure? a|sont superieure?s a)"
_QUESTION: Final = "Liste {quantifier} {documents} {tail}"


def _arrival(pattern: str, question: str = _QUESTION) -> ArrivalPattern:
    return ArrivalPattern(pattern=re.compile(pattern + _END), question=question)


_ARRIVALS: Final = (
    _arrival(rf"{_TELL} {_WHEN}(?:{_THERE_IS}) du nouveau (?:dans|parmi|pour|du cote de) (?:les |nos |mes )?"
             r"(?P<documents>.+?)", "Liste les {documents}"),
    _arrival(rf"{_TELL} {_WHEN}{_THERE_IS} {_NEW}(?P<documents>.+?)"),
    _arrival(rf"{_TELL} {_WHEN}{_NEW}(?P<documents>.+?) {_ARRIVES}{_TAIL}"),
    _arrival(rf"{_TELL} {_WHEN}{_INDEFINITE}(?P<documents>.+?) {_COMES}{_TAIL}"),
    _arrival(rf"{_TELL} {_WHEN}{_INDEFINITE}(?P<documents>.+?) {_EXCEEDS} (?P<amount>.+?)",
             "Liste {quantifier} {documents} de plus de {amount}"),
    _arrival(rf"{_TELL} (?:des |a )l'(?:arrivee|ajout) (?:de |d')?{_NEW}(?P<documents>.+?)"),
    _arrival(rf"{_TELL} (?:de |d'|des |pour )(?:tous |toutes |chaque )?{_NEW}(?P<documents>.+?)"),
    _arrival(rf"{_POLITE}(?:surveille|surveillez|surveiller|guette|guettez) {_NEW}(?P<documents>.+?)"),
    _arrival(rf"{_POLITE}(?:surveille|surveillez|surveiller) (?P<article>les|tous les|toutes les|nos|mes) "
             r"(?P<documents>.+?)"),
)  # fmt: skip
_CLOCK: Final = (
    r"(?:(?P<noon>midi)|(?P<midnight>minuit)|(?P<hour>\d{1,2})(?: ?(?:h|heures?|:|\.) ?(?P<minute>\d{2})?"
    r"(?: et (?:(?P<half>demie)|(?P<quarter>quart)))?)?(?: (?:du matin|(?P<evening>de l'apres-midi|du soir)))?)"
)
_TIMED: Final = rf",? ?(?:(?:a|vers|des) )?{_CLOCK}"
_EVERY: Final = r"(?:tous les|toutes les|chaque)"
_DAY_LIST: Final = rf"{_WEEKDAY}s?(?:(?:, | et )(?:les |le |chaque |tous les )?{_WEEKDAY}s?)*"
_GROUPS: Final = rf"{_EVERY} (?:jours ouvres|jour ouvre|jours ouvrables|jour ouvrable|jours de (?:la )?semaine|jours?"
_WEEKLY: Final = (
    rf"(?P<days>{_EVERY} {_DAY_LIST}|{_GROUPS}|matins?)|quotidiennement|en semaine"
    rf"|(?:tous les jours,? )?du {_WEEKDAY} au {_WEEKDAY}|{_EVERY} semaines?,? (?:le |les |chaque )?{_DAY_LIST})"
)
_HABIT: Final = rf"(?P<days>les? {_DAY_LIST})"  # needs a time
_MONTHLY: Final = (
    r"(?:(?:le|tous les|chaque) (?P<month_day>\d{1,2})(?:er|e)? (?:de chaque mois|du mois|de tous les mois|par mois)"
    r"|(?P<month_end>(?:a la fin de chaque mois|a chaque fin de mois|le dernier jour (?:de chaque|du) mois)))"
)
_MONTHS_DAY: Final = r"(?:tous les mois|chaque mois),? le (?P<month_day>\d{1,2})(?:er|e)?"
_VERB: Final = (
    r"(?:(?:envoie|envoyez|montre|montrez|donne|donnez|dis|dites|affiche|affichez|trouve|trouvez|fais|faites|sors"
    r"|liste|listez|indique|indiquez)(?:[- ](?:moi|nous))?)"
)
_SCHEDULED: Final = tuple(
    form
    for when in (_WEEKLY, _MONTHLY, _MONTHS_DAY)
    for form in (
        rf"{_POLITE}{when}(?:{_TIMED})? ?: ?(?P<question>\S.*)",
        rf"{_POLITE}{when}(?:{_TIMED})?,? (?P<question>{_VERB} .+)",
        rf"{_POLITE}{when}{_TIMED}, (?P<question>.+)",
        rf"{_POLITE}{_VERB} {when}{_TIMED},? (?P<question>.+)",
        rf"{_POLITE}{_VERB} (?P<question>.+),? {when}{_TIMED}{_END}",
    )
)
_ALERT: Final = r"(?:recherches? (?:enregistree|sauvegardee)s?|alertes?|surveillances?)"
_NUMBER: Final = (
    r"(?:(?: (?:pour|de|sur))?(?: la| le| l')? ?(?:recherche|alerte|surveillance)?)(?: ?(?:numero|n[°o]\.?|#))? "
)

FRENCH_REQUESTS: Final = RequestPatterns(
    language="fr",
    arrivals=_ARRIVALS,
    schedules=tuple(
        map(re.compile, (
            *_SCHEDULED,
            rf"{_POLITE}{_HABIT}{_TIMED} ?: ?(?P<question>\S.*)",
            rf"{_POLITE}{_HABIT}{_TIMED},? (?P<question>{_VERB} .+)",
        ))
    ),
    days=_DAYS,
    day_range=re.compile(rf"du (?P<first>{_WEEKDAY}) au (?P<last>{_WEEKDAY})"),
    passed_words=re.compile(rf"(?:(?:{_PLEASE}),? )?(?:(?:envoie|envoyez|montre|montrez|donne|donnez|dis|dites|affiche"
                            r"|indique|indiquez)[- ](?:moi|nous) )?"),
    quantifiers={
        "un ": "chaque", "une ": "chaque", "chaque": "chaque", "tout ": "chaque", "toute ": "chaque",
        "nouveau ": "chaque", "nouvel ": "chaque", "nouvelle ": "chaque",
        "tous les": "tous les", "toutes les": "toutes les",
    },
    any_quantifier="les",
    list_pattern=re.compile(
        rf"{_POLITE}(?:(?:quelles sont|liste[rz]?(?:[- ]moi)?|montre[rz]?(?:[- ]moi)?|affiche[rz]?(?:[- ]moi)?|voir"
        rf"|donne[rz]?(?:[- ]moi)?) )?(?:toutes )?(?:(?:mes|nos) {_ALERT}|(?:les|des) recherches enregistrees)"
        rf"(?: ici| en cours)?{_END}"
        r"|(?:que surveilles-tu|que surveillez-vous|qu'est-ce que (?:tu surveilles|vous surveillez)"
        rf"|(?:tu surveilles|vous surveillez) quoi)(?: pour (?:moi|nous))?(?: ici)?{_END}"
    ),
    save_last_pattern=re.compile(
        rf"{_POLITE}(?:(?:enregistre|sauvegarde|garde)[rz]? (?:cette|la) (?:recherche|question)"
        rf"|surveille[rz]? (?:ca|cela|ceci)(?: pour (?:moi|nous))?|repose[rz]? cette question(?: regulierement)?){_END}"
    ),
    stop_pattern=re.compile(
        rf"{_POLITE}(?:"
        r"(?P<all>(?:arrete|annule|supprime|stoppe|desactive)[rz]? toutes (?:mes |les |nos )?"
        r"(?:recherches enregistrees|alertes|surveillances)|(?:arrete|arretez|cesse|cessez) de tout surveiller)"
        r"|(?:(?:arrete|cesse)[rz]? de (?:surveiller|suivre"
        r"|(?:me |m'|nous )(?:prevenir|avertir|alerter|informer|notifier))"
        r"|ne (?:me |m'|nous )?(?:surveille|previens|avertis|alerte|informe|surveillez|prevenez|avertissez|alertez)"
        r" plus"
        r"|(?:arrete|annule|supprime|stoppe|desactive|termine)[rz]? (?:la |ma |cette |l'|mon )?"
        r"(?:recherche enregistree|alerte|surveillance)|mets fin a (?:la |l')(?:recherche(?: enregistree)?|alerte)"
        r"|(?:arrete|annule|supprime|stoppe|desactive|termine)[rz]? (?:la |ma |cette )recherche"
        r"(?= (?:numero |n[°o]\.? ?|#)?\d))"
        rf"(?:{_NUMBER}(?P<number>\d{{1,9}}))?)(?: ici)?{_END}"
    ),
)  # fmt: skip
