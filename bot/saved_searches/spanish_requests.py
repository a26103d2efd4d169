"""What people say to Parley about saved searches in Spanish. The patterns are folded: no accents, no capitals."""

import re
from typing import Final

from bot.saved_searches.request_patterns import ArrivalPattern, RequestPatterns

_DAYS: Final = {
    "lunes": frozenset({0}),
    "martes": frozenset({1}),
    "miercoles": frozenset({2}),
    "jueves": frozenset({3}),
    "viernes": frozenset({4}),
    "sabado": frozenset({5}),
    "domingo": frozenset({6}),
    "dias laborables": frozenset(range(5)),
    "dia laborable": frozenset(range(5)),
    "dias habiles": frozenset(range(5)),
    "dia habil": frozenset(range(5)),
    "dias de la semana": frozenset(range(5)),
    "entre semana": frozenset(range(5)),
    "dia": frozenset(range(7)),
    "manana": frozenset(range(7)),
    "diariamente": frozenset(range(7)),
    "a diario": frozenset(range(7)),
}
_WEEKDAY: Final = "(?:lunes|martes|miercoles|jueves|viernes|sabado|domingo)"
_PLEASE: Final = r"por favor|porfa|gracias"
_POLITE: Final = rf"[¿¡ ]*(?:(?:hola|buenos dias),? )?(?:(?:{_PLEASE}),? )?[¿¡ ]*"
_END: Final = rf"(?:,? (?:{_PLEASE}))? ?[.!?]*"
_TELL: Final = rf"{_POLITE}(?:" + "|".join((
    r"(?:avisa|avise|avisen|notifica|notifique|informa|informe|alerta|alerte|advierte)(?:me|nos)",
    r"(?:di|diga|digan)(?:me|nos)",
    r"(?:haz|haga|hagan)(?:me|nos) saber",
    r"(?:manten|mantenga|mantengan)(?:me|nos) (?:al tanto|al corriente|informad[oa]s?)",
    r"(?:envia|envie|manda|mande|da|pon)(?:me|nos) (?:una alerta|un aviso|una notificacion|un mensaje|un correo)",
    r"(?:puedes|puede|podrias|podria|quieres|hay que) (?:avisar|notificar|informar|alertar|decir|advertir)(?:me|nos)",
    r"(?:me|nos) (?:puedes|puede|podrias|podria) (?:avisar|notificar|informar|alertar|decir|advertir)",
    r"(?:me|nos) (?:avisas|avisa|avisais|informas|notificas)",
    r"(?:quiero|quisiera|queremos|necesito|me gustaria|deseo) que (?:me|nos) (?:avises?|avisen|notifiques?|informes?"
    r"|alertes?|digas?|adviertas?)",
    r"(?:quiero|quisiera|me gustaria) (?:que se me avise|ser (?:avisad|informad)[oa]|recibir (?:un aviso|una alerta))",
)) + r")(?: aqui)?,?"  # fmt: skip
_WHEN: Final = r"(?:cuando|en cuanto|tan pronto como|apenas|cada vez que|siempre que|si) "
_FORMS: Final = r"(?:llegue|llega|entre|entra|aparezca|aparece|salga|exista)n?"
_ADDED: Final = (
    r"se (?:anada|anade|agregue|agrega|reciba|recibe|suba|sube|cargue|carga|incorpore|incorpora|importe|importa)n?"
)
_COMES: Final = rf"(?:{_FORMS}|{_ADDED}|este disponible|esten disponibles|haya llegado|hayan llegado)"
_ARRIVES: Final = (
    rf"(?:{_COMES}|se (?:firme|firma|publique|publica|registre|registra|cree|crea|emita|emite|abra|abre|presente"
    r"|presenta|archive|archiva|contabilice|declare)n?)"
)
_THERE_IS: Final = r"(?:haya|hay|tengamos|tenga|recibamos|reciba|nos llegue|nos lleguen|me llegue|me lleguen)"
_SINGLE: Final = r"(?:un |una |otro |otra |algun |alguna |cada |todo )"
_PLURAL: Final = r"(?:unos |unas |otros |otras |algunos |algunas |los |las |mas )"
_NEW_BEFORE: Final = rf"(?P<article>(?:{_SINGLE}|{_PLURAL})?(?:nuevos?|nuevas?)) (?P<documents>.+?)"
_NEW_BEHIND: Final = (
    rf"(?P<article>{_SINGLE}|{_PLURAL})?(?P<documents>[^ ]+(?: de [^ ]+)??) (?P<new>nuev[oa]s?)(?P<tail> .+?)?"
)
_INDEFINITE: Final = r"(?P<article>un|una|otro|otra|algun|alguna|unos|unas) (?P<documents>.+?)"
_TAIL: Final = r"(?: aqui)?(?P<tail> (?:con|de|del|para|por|sobre) .+?)?"
_EXCEEDS: Final = (
    r"(?:superen?|supera|supere|excedan?|excede|sobrepasen?|sobrepasa|pasen? de|pasa de|sea (?:superior|mayor) a"
    r"|sean (?:superiores|mayores) a) (?:los |las )?"
)
_QUESTION: Final = "Lista {quantifier} {documents} {tail}"


def _arrival(pattern: str, question: str = _QUESTION) -> ArrivalPattern:
    return ArrivalPattern(pattern=re.compile(pattern + _END), question=question)


_ARRIVALS: Final = (
    _arrival(rf"{_TELL} {_WHEN}(?:{_THERE_IS}|{_COMES}) (?:algo nuevo|novedades) (?:en|entre) (?:los |las |mis "
             r"|nuestros |nuestras )?(?P<documents>.+?)", "Lista todos los {documents}"),
    _arrival(rf"{_TELL} {_WHEN}(?:{_THERE_IS}|{_COMES}) (?:algo nuevo|novedades) de (?P<documents>.+?)",
             "Lista los documentos de {documents}"),
    _arrival(rf"{_TELL} {_WHEN}(?:{_THERE_IS}|{_ARRIVES}) {_NEW_BEFORE}"),
    _arrival(rf"{_TELL} {_WHEN}(?:{_THERE_IS}|{_ARRIVES}) {_NEW_BEHIND}"),
    _arrival(rf"{_TELL} {_WHEN}{_NEW_BEFORE} {_ARRIVES}{_TAIL}"),
    _arrival(rf"{_TELL} {_WHEN}{_NEW_BEHIND} {_ARRIVES}"),
    _arrival(rf"{_TELL} {_WHEN}{_COMES} {_INDEFINITE}"),
    _arrival(rf"{_TELL} {_WHEN}{_INDEFINITE} {_COMES}{_TAIL}"),
    _arrival(rf"{_TELL} {_WHEN}{_INDEFINITE} {_EXCEEDS}(?P<amount>.+?)",
             "Lista {quantifier} {documents} de más de {amount}"),
    _arrival(rf"{_TELL} (?:de|sobre) (?:todos |todas |cada )?{_NEW_BEFORE}"),
    _arrival(rf"{_TELL} (?:de|sobre) (?:todos |todas )?{_NEW_BEHIND}"),
    _arrival(rf"{_POLITE}(?:vigila|vigile|vigilar) {_NEW_BEFORE}"),
    _arrival(rf"{_POLITE}(?:vigila|vigile|vigilar) (?P<article>los|las|todos los|todas las|nuestros|nuestras|mis) "
             r"(?P<documents>.+?)"),
)  # fmt: skip
_CLOCK: Final = (
    r"(?:(?P<noon>(?:al? )?mediodia|(?:las )?12 del mediodia)|(?P<midnight>(?:la )?medianoche)"
    r"|(?P<hour>\d{1,2})(?: ?(?:h|horas?|[:.h])(?: ?(?P<minute>\d{2}))?(?: ?(?:h|horas?))?)?"
    r"(?: y (?:(?P<half>media)|(?P<quarter>cuarto)))?"
    r"(?: (?:de la manana|de la madrugada|a\.? ?m\.?|(?P<evening>de la tarde|de la noche|p\.? ?m\.?)))?)"
)
_TIMED: Final = rf",? ?(?:(?:a las|a la|a|hacia las|sobre las) )?{_CLOCK}"
_EVERY: Final = r"(?:todos los|todas las|cada)"
_DAY_LIST: Final = rf"{_WEEKDAY}s?(?:(?:, | y )(?:los |el |cada |todos los )?{_WEEKDAY}s?)*"
_WEEKLY: Final = (
    rf"(?P<days>(?:{_EVERY}|los) {_DAY_LIST}"
    rf"|(?:{_EVERY}|los) (?:dias laborables|dia laborable|dias habiles|dia habil|dias de la semana)"
    rf"|{_EVERY} (?:dias?|mananas?)|diariamente|a diario|entre semana|de {_WEEKDAY} a {_WEEKDAY}"
    rf"|(?:cada semana|todas las semanas),? (?:el |los |cada )?{_DAY_LIST})"
)
_MONTHLY: Final = (
    r"(?:(?:el|los|cada) (?:dia )?(?P<month_day>\d{1,2})[ºo°]? (?:de cada mes|del mes|de todos los meses|de mes)"
    r"|(?P<month_end>(?:a|al) (?:fin|final|finales) de cada mes|el ultimo dia (?:de cada|del) mes|cada fin de mes))"
)
_MONTHS_DAY: Final = r"(?:cada mes|todos los meses),? el (?:dia )?(?P<month_day>\d{1,2})[ºo°]?"
_VERB: Final = (
    r"(?:(?:envia|envie|manda|mande|muestra|muestre|ensena|da|de|di|diga|lista|liste|busca|busque|haz|pasa|pase"
    r"|indica|indique)(?:me|nos)?)"
)
_SCHEDULED: Final = tuple(
    re.compile(form)
    for when in (_WEEKLY, _MONTHLY, _MONTHS_DAY)
    for form in (
        rf"{_POLITE}{when}(?:{_TIMED})? ?: ?(?P<question>\S.*)",
        rf"{_POLITE}{when}(?:{_TIMED})?,? (?P<question>{_VERB} .+)",
        rf"{_POLITE}{when}{_TIMED}, (?P<question>.+)",
        rf"{_POLITE}{_VERB} {when}{_TIMED},? (?P<question>.+)",
        rf"{_POLITE}{_VERB} (?P<question>.+),? {when}{_TIMED}{_END}",
    )
)
_SAVED: Final = r"(?:busquedas? guardadas?|alertas?|avisos?)"
_NUMBER: Final = (
    r"(?:(?: (?:de|del|por|sobre))?(?: la| el)?(?: busqueda| alerta| aviso)?)(?: (?:numero|n[.º°]{0,2}|#))? ?#?"
)

SPANISH_REQUESTS: Final = RequestPatterns(
    language="es",
    arrivals=_ARRIVALS,
    schedules=_SCHEDULED,
    days=_DAYS,
    day_range=re.compile(rf"de (?P<first>{_WEEKDAY}) a (?P<last>{_WEEKDAY})"),
    passed_words=re.compile(rf"(?:(?:{_PLEASE}),? )?(?:(?:envia|envie|manda|mande|muestra|muestre|ensena|da|di|diga"
                            r"|pasa|pase|indica|indique)(?:me|nos) )?"),
    quantifiers={
        "un ": "cada", "una ": "cada", "otro ": "cada", "otra ": "cada", "algun ": "cada", "alguna ": "cada",
        "cada": "cada", "todo ": "cada", "nuevo ": "cada", "nueva ": "cada", "mas nuevas": "todas las",
        "nuevas": "todas las", "las": "todas las", "unas": "todas las", "algunas": "todas las", "todas": "todas las",
        "nuestras": "todas las",
    },
    any_quantifier="todos los",
    list_pattern=re.compile(
        rf"{_POLITE}(?:(?:cuales son|que son|lista(?:me)?|listar|muestra(?:me)?|ensena(?:me)?|ver|dime|dame) )?"
        rf"(?:todas )?(?:(?:mis|nuestras|nuestros) {_SAVED}|(?:las )?busquedas guardadas)(?: aqui)?{_END}"
        rf"|{_POLITE}que (?:estas vigilando|vigilas|esta vigilando|vigila)(?: (?:para|por) (?:mi|nosotros))?"
        rf"(?: aqui)?{_END}"
    ),
    save_last_pattern=re.compile(
        rf"{_POLITE}(?:guarda[r]?|guarde) (?:esta|la) (?:busqueda|pregunta){_END}"
        rf"|{_POLITE}(?:vigila|vigile) esto(?: (?:para|por) (?:mi|nosotros))?{_END}"
    ),
    stop_pattern=re.compile(
        rf"{_POLITE}(?:"
        r"(?P<all>(?:cancela|elimina|borra|deten|para|quita|desactiva|termina)r? todas (?:mis |las |nuestras )?"
        r"(?:busquedas guardadas|alertas)|(?:deja|deje|dejar) de vigilar(?:lo)? todo)"
        r"|(?:(?:deja|deje|dejar) de (?:vigilar|seguir|(?:avisar|notificar|informar|alertar)(?:me|nos))"
        r"|no (?:me |nos )?(?:avises|avise|notifiques|informes|vigiles|vigile) mas"
        r"|(?:cancela|elimina|borra|deten|para|quita|desactiva|termina)r? (?:la |mi |esta |el )?"
        r"(?:busqueda guardada|alerta|aviso)"
        r"|(?:cancela|elimina|borra|deten|para|quita|desactiva|termina)r? (?:la |mi |esta )busqueda"
        r"(?= (?:numero |#)?\d))"
        rf"(?:{_NUMBER} (?P<number>\d{{1,9}}))?)(?: aqui)?{_END}"
    ),
)  # fmt: skip
