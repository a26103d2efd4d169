"""What people say about saved searches in French and Spanish, and what stays a question to the documents.

The phrases of the first tables were written before the code that reads them.
"""

from datetime import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.saved_searches import search_wording
from bot.saved_searches.request_kinds import ListRequest, SaveLastRequest, SaveRequest, StopRequest
from bot.saved_searches.schedule import ChangeSchedule, MonthlySchedule, SearchSchedule, WeeklySchedule
from bot.saved_searches.search_requests import find_request_language, recognise_request
from bot.translation import translate_message, use_language

WORKDAYS, EVERY_DAY = frozenset(range(5)), frozenset(range(7))
DAY_NAMES = {
    "fr": ("lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"),
    "es": ("lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"),
}
times_of_day = st.builds(time, st.integers(0, 23), st.integers(0, 59))
weekly_schedules = st.builds(
    WeeklySchedule, weekdays=st.frozensets(st.integers(0, 6), min_size=1), time_of_day=times_of_day
)
calendar_schedules = st.one_of(
    weekly_schedules, st.builds(MonthlySchedule, day=st.integers(1, 31), time_of_day=times_of_day)
)


def weekly(*days: int, at_hour: int, minute: int = 0) -> WeeklySchedule:
    return WeeklySchedule(weekdays=frozenset(days), time_of_day=time(at_hour, minute))


def monthly(day: int, at_hour: int) -> MonthlySchedule:
    return MonthlySchedule(day=day, time_of_day=time(at_hour))


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Préviens-moi quand un nouveau contrat avec ACME arrive", "Liste chaque contrat avec ACME"),
        (
            "Préviens-moi dès qu'il y a une nouvelle facture de plus de 5 000 €",
            "Liste chaque facture de plus de 5 000 €",
        ),
        ("Prévenez-moi quand un nouveau contrat est signé avec ACME", "Liste chaque contrat avec ACME"),
        ("Dis-moi quand un nouveau reçu arrive", "Liste chaque reçu"),
        ("Dites-moi dès qu'un nouveau contrat avec ACME est disponible", "Liste chaque contrat avec ACME"),
        ("Fais-moi savoir quand il y a de nouveaux reçus pour des pneus", "Liste les reçus pour des pneus"),
        ("Faites-moi savoir s'il y a du nouveau dans les contrats de ACME", "Liste les contrats de ACME"),
        ("Avertis-moi si un nouveau bail est ajouté", "Liste chaque bail"),
        ("Avertissez-moi quand une facture de ACME arrive", "Liste chaque facture de ACME"),
        ("Merci de me prévenir quand une nouvelle facture de ACME arrive", "Liste chaque facture de ACME"),
        ("Peux-tu me prévenir quand un nouveau contrat avec ACME arrive ?", "Liste chaque contrat avec ACME"),
        (
            "Je voudrais être prévenu quand une facture dépasse 10 000 euros",
            "Liste chaque facture de plus de 10 000 euros",
        ),
        ("Tiens-moi au courant des nouveaux contrats avec ACME", "Liste les contrats avec ACME"),
        ("Surveille les contrats avec ACME", "Liste les contrats avec ACME"),
        ("Envoie-moi une alerte dès qu'un nouveau reçu de ACME est ajouté", "Liste chaque reçu de ACME"),
        ("préviens-moi dès l’arrivée d’une nouvelle facture de Bolt, s’il te plaît", "Liste chaque facture de Bolt"),
        ("PREVIENS MOI QUAND DES NOUVEAUX CONTRATS ARRIVENT", "Liste les CONTRATS"),
        ("Informe-moi de tout nouveau contrat avec ACME", "Liste chaque contrat avec ACME"),
        ("Avísame cuando llegue un nuevo contrato con ACME", "Lista cada contrato con ACME"),
        ("Avísame cuando haya una nueva factura de más de 5.000 €", "Lista cada factura de más de 5.000 €"),
        ("Avíseme cuando se firme un contrato nuevo con ACME", "Lista cada contrato con ACME"),
        ("Dime cuándo llega un recibo nuevo", "Lista cada recibo"),
        ("Dígame cuando haya contratos nuevos con ACME", "Lista todos los contratos con ACME"),
        ("Hazme saber cuando haya nuevos recibos de neumáticos", "Lista todos los recibos de neumáticos"),
        ("Hágame saber si llega algo nuevo de ACME", "Lista los documentos de ACME"),
        ("Notifícame si se añade un nuevo contrato de alquiler", "Lista cada contrato de alquiler"),
        ("Notifíqueme cuando llegue una factura de ACME", "Lista cada factura de ACME"),
        ("Por favor, avísame cuando llegue una nueva factura de ACME", "Lista cada factura de ACME"),
        ("¿Puedes avisarme cuando llegue un nuevo contrato con ACME?", "Lista cada contrato con ACME"),
        (
            "Quiero que me avises cuando una factura supere los 10.000 euros",
            "Lista cada factura de más de 10.000 euros",
        ),
        ("Mantenme al tanto de los nuevos contratos con ACME", "Lista todos los contratos con ACME"),
        ("Vigila los contratos con ACME", "Lista todos los contratos con ACME"),
        ("Envíame una alerta en cuanto se añada un nuevo recibo de ACME", "Lista cada recibo de ACME"),
        ("avisame cuando lleguen facturas nuevas de Bolt, por favor", "Lista todas las facturas de Bolt"),
        ("AVÍSAME CUANDO UN NUEVO CONTRATO LLEGUE", "Lista cada CONTRATO"),
        ("Infórmame de cada nuevo contrato con ACME", "Lista cada contrato con ACME"),
    ],
)
def test_documents_are_watched_for(text: str, question: str) -> None:
    assert recognise_request(text) == SaveRequest(question=question, schedule=ChangeSchedule())


@pytest.mark.parametrize(
    ("text", "question", "schedule"),
    [
        (
            "Tous les lundis à 9 h : les reçus de plus de 5 000 de la semaine dernière",
            "Les reçus de plus de 5 000 de la semaine dernière",
            weekly(0, at_hour=9),
        ),
        (
            "Chaque lundi à 9h00 : les reçus de la semaine dernière",
            "Les reçus de la semaine dernière",
            weekly(0, at_hour=9),
        ),
        (
            "Tous les jours à 8h30 : les nouveaux contrats",
            "Les nouveaux contrats",
            weekly(*EVERY_DAY, at_hour=8, minute=30),
        ),
        ("Chaque jour à 18 h, les factures du jour", "Les factures du jour", weekly(*EVERY_DAY, at_hour=18)),
        ("Tous les matins à 8 heures : les factures impayées", "Les factures impayées", weekly(*EVERY_DAY, at_hour=8)),
        (
            "Le vendredi à 17 h : les contrats signés cette semaine",
            "Les contrats signés cette semaine",
            weekly(4, at_hour=17),
        ),
        ("Le 1er de chaque mois à 9 h : les reçus du mois dernier", "Les reçus du mois dernier", monthly(1, 9)),
        ("Tous les mois, le 15 à 10h : les factures de ACME", "Les factures de ACME", monthly(15, 10)),
        (
            "Chaque semaine, le mardi à 14 h : combien de contrats avons-nous ?",
            "Combien de contrats avons-nous ?",
            weekly(1, at_hour=14),
        ),
        ("Du lundi au vendredi à 9 h : les reçus de la veille", "Les reçus de la veille", weekly(*WORKDAYS, at_hour=9)),
        (
            "Tous les jours ouvrés à 7h45 : les factures reçues hier",
            "Les factures reçues hier",
            weekly(*WORKDAYS, at_hour=7, minute=45),
        ),
        (
            "Envoie-moi chaque vendredi à 16h30 les reçus de plus de 1 000 €",
            "Les reçus de plus de 1 000 €",
            weekly(4, at_hour=16, minute=30),
        ),
        (
            "Montre-moi tous les mercredis à midi les contrats avec ACME",
            "Les contrats avec ACME",
            weekly(2, at_hour=12),
        ),
        (
            "Envoie-moi les factures de Bolt tous les lundis à 9 heures du matin",
            "Les factures de Bolt",
            weekly(0, at_hour=9),
        ),
        ("Chaque samedi et dimanche à 6 heures du soir : les reçus", "Les reçus", weekly(5, 6, at_hour=18)),
        ("À la fin de chaque mois : les factures", "Les factures", monthly(31, 9)),
        ("chaque lundi, envoie-moi les factures", "Les factures", weekly(0, at_hour=9)),
        (
            "Cada lunes a las 9: los recibos de más de 5.000 de la semana pasada",
            "Los recibos de más de 5.000 de la semana pasada",
            weekly(0, at_hour=9),
        ),
        (
            "Todos los lunes a las 9:00: los recibos de la semana pasada",
            "Los recibos de la semana pasada",
            weekly(0, at_hour=9),
        ),
        (
            "Todos los días a las 8:30: los contratos nuevos",
            "Los contratos nuevos",
            weekly(*EVERY_DAY, at_hour=8, minute=30),
        ),
        ("Cada día a las 18 h, las facturas del día", "Las facturas del día", weekly(*EVERY_DAY, at_hour=18)),
        ("Cada mañana a las 8: las facturas pendientes", "Las facturas pendientes", weekly(*EVERY_DAY, at_hour=8)),
        (
            "Los viernes a las 17:00: los contratos firmados esta semana",
            "Los contratos firmados esta semana",
            weekly(4, at_hour=17),
        ),
        ("El día 1 de cada mes a las 9: los recibos del mes pasado", "Los recibos del mes pasado", monthly(1, 9)),
        ("Cada mes, el día 15 a las 10: las facturas de ACME", "Las facturas de ACME", monthly(15, 10)),
        (
            "Cada semana, el martes a las 14 h: ¿cuántos contratos tenemos?",
            "¿cuántos contratos tenemos?",
            weekly(1, at_hour=14),
        ),
        ("De lunes a viernes a las 9: los recibos de ayer", "Los recibos de ayer", weekly(*WORKDAYS, at_hour=9)),
        (
            "Todos los días laborables a las 7:45: las facturas de ayer",
            "Las facturas de ayer",
            weekly(*WORKDAYS, at_hour=7, minute=45),
        ),
        (
            "Envíame cada viernes a las 16:30 los recibos de más de 1.000 €",
            "Los recibos de más de 1.000 €",
            weekly(4, at_hour=16, minute=30),
        ),
        ("Muéstrame todos los miércoles a las 5 de la tarde los contratos", "Los contratos", weekly(2, at_hour=17)),
        (
            "Mándame las facturas de Bolt cada lunes a las 8 y media",
            "Las facturas de Bolt",
            weekly(0, at_hour=8, minute=30),
        ),
        ("Los sábados y domingos a mediodía: los recibos", "Los recibos", weekly(5, 6, at_hour=12)),
        ("A final de cada mes: las facturas", "Las facturas", monthly(31, 9)),
        ("cada lunes, envíame las facturas", "Las facturas", weekly(0, at_hour=9)),
    ],
)
def test_a_question_is_asked_by_the_clock(text: str, question: str, schedule: SearchSchedule) -> None:
    assert recognise_request(text) == SaveRequest(question=question, schedule=schedule)


@pytest.mark.parametrize(
    ("text", "request_", "language"),
    [
        ("Arrête de surveiller 1", StopRequest(number=1), "fr"),
        ("Arrêter l'alerte 2", StopRequest(number=2), "fr"),
        ("Ne me préviens plus pour le 3", StopRequest(number=3), "fr"),
        ("supprime la recherche n° 4", StopRequest(number=4), "fr"),
        ("ne me préviens plus", StopRequest(), "fr"),
        ("Supprimez toutes mes alertes, merci", StopRequest(stops_all=True), "fr"),
        ("arrête de tout surveiller", StopRequest(stops_all=True), "fr"),
        ("Quelles sont mes recherches enregistrées ?", ListRequest(), "fr"),
        ("Liste mes recherches enregistrées", ListRequest(), "fr"),
        ("Mes alertes", ListRequest(), "fr"),
        ("Qu'est-ce que tu surveilles pour moi ?", ListRequest(), "fr"),
        ("Enregistre cette recherche", SaveLastRequest(), "fr"),
        ("surveille ça pour moi", SaveLastRequest(), "fr"),
        ("Deja de vigilar 1", StopRequest(number=1), "es"),
        ("Detén la alerta 2", StopRequest(number=2), "es"),
        ("No me avises más del 3", StopRequest(number=3), "es"),
        ("borra la búsqueda 4", StopRequest(number=4), "es"),
        ("no me avises más", StopRequest(), "es"),
        ("Cancela todas mis alertas, por favor", StopRequest(stops_all=True), "es"),
        ("deja de vigilar todo", StopRequest(stops_all=True), "es"),
        ("¿Cuáles son mis búsquedas guardadas?", ListRequest(), "es"),
        ("Lista mis búsquedas guardadas", ListRequest(), "es"),
        ("Mis alertas", ListRequest(), "es"),
        ("¿Qué estás vigilando para mí?", ListRequest(), "es"),
        ("Guarda esta búsqueda", SaveLastRequest(), "es"),
        ("vigila esto por mí", SaveLastRequest(), "es"),
    ],
)
def test_searches_are_saved_listed_and_stopped_in_the_language_of_the_message(
    text: str, request_: object, language: str
) -> None:
    assert (recognise_request(text), find_request_language(text)) == (request_, language)


@pytest.mark.parametrize(
    "text",
    [
        "Dis-moi quand le contrat avec ACME prend fin",
        "Préviens-moi quand le contrat avec ACME expire",
        "Dis-moi quand un contrat se termine",
        "Dis-moi combien de nouveaux contrats il y a",
        "Quels contrats commencent le lundi ?",
        "Chaque contrat : lesquels n'ont pas de date de fin ?",
        "Montre-moi les factures de chaque lundi",
        "Le lundi 3 avril : quelles réunions ?",
        "Tous les lundis à 25 h : les factures",
        "Tous les mois, le 32 : les factures",
        "Tous les lundis à 9 h :",
        "Liste les alertes",
        "Arrête",
        "Supprime le contrat avec ACME",
        "Qui surveille le magasin ?",
        "Dime cuándo termina el contrato con ACME",
        "Avísame cuando venza el contrato con ACME",
        "Dime cuántos contratos nuevos hay",
        "¿Qué contratos empiezan el lunes?",
        "Cada contrato: ¿cuáles no tienen fecha de fin?",
        "Muéstrame las facturas de cada lunes",
        "El lunes 3 de abril: ¿qué reuniones hay?",
        "Cada lunes a las 25: las facturas",
        "Cada mes, el día 32: las facturas",
        "Cada lunes a las 9:",
        "Lista las alertas",
        "Para",
        "Borra el contrato con ACME",
        "¿Quién vigila la tienda?",
    ],
)
def test_other_messages_are_questions_to_the_documents(text: str) -> None:
    assert (recognise_request(text), find_request_language(text)) == (None, None)


@given(st.sampled_from(["de", "fr", "es"]), weekly_schedules)
def test_a_weekly_schedule_is_read_back_as_parley_says_it(language: str, schedule: WeeklySchedule) -> None:
    assert _read_back(language, schedule) == schedule


@given(st.sampled_from(["fr", "es"]), calendar_schedules)
def test_every_schedule_is_read_back_as_parley_says_it(language: str, schedule: SearchSchedule) -> None:
    assert _read_back(language, schedule) == schedule


def _read_back(language: str, schedule: SearchSchedule) -> SearchSchedule | None:
    with use_language(language):
        words = search_wording.describe_schedule(schedule)
    request = recognise_request(f"{words}: contrats/contratos")
    return request.schedule if isinstance(request, SaveRequest) else None


@given(st.sampled_from(["fr", "es"]), weekly_schedules, st.data())
def test_any_list_of_days_in_any_order_is_read(language: str, schedule: WeeklySchedule, data: st.DataObject) -> None:
    names = [DAY_NAMES[language][day] for day in data.draw(st.permutations(sorted(schedule.weekdays)))]
    conjunction = {"fr": " et ", "es": " y "}[language]
    days = conjunction.join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    opening = data.draw(
        st.sampled_from({"fr": ["chaque ", "tous les "], "es": ["cada ", "todos los ", "los "]}[language])
    )
    clock = {"fr": "à {0:%H} h {0:%M}", "es": "a las {0:%H:%M}"}[language].format(schedule.time_of_day)

    assert recognise_request(f"{opening}{days} {clock}: X") == SaveRequest(question="X", schedule=schedule)


@pytest.mark.parametrize("language", ["de", "fr", "es"])
def test_what_the_replies_tell_people_to_say_is_read(language: str) -> None:
    with use_language(language):
        ending = translate_message("To end it, say “stop watching {number}”.", number=7)
        examples = translate_message(search_wording.NO_SEARCHES_NOTICE)
    quoted = [ending, *examples.split(" o " if language == "es" else " ou ")] if language != "de" else [ending]
    requests = [recognise_request(_quotation_in(text)) for text in quoted]

    assert requests[0] == StopRequest(number=7)
    assert all(isinstance(request, SaveRequest) for request in requests[1:])


def _quotation_in(text: str) -> str:
    opening, closing = next(marks for marks in ("„“", "«»", "“”") if marks[0] in text)
    return text.partition(opening)[2].partition(closing)[0].strip()
