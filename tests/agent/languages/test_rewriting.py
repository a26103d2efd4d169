"""Questions of other languages in the words that the rules read."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.languages.language_pack import LanguagePack, list_packs, load_pack
from agent.languages.rewriting import rewrite_question


class FakeBucketWords:
    """A bucket that knows the given words; `values` are values of its documents."""

    def __init__(self, language: str = "en", names: str = "", values: Sequence[str] = ()) -> None:
        self.language = language
        self._names = frozenset(names.split(", "))
        self._values = values

    @property
    def field_names(self) -> Sequence[str]:
        return sorted(self._names)

    def names_field_or_kind(self, phrase: str) -> bool:
        return phrase.lower() in self._names

    def knows_word(self, word: str) -> bool:
        return word.lower() in self._names or any(word.lower() in value.lower().split() for value in self._values)

    def is_part_of_name(self, word: str) -> bool:
        return any(word.lower() in value.lower().split() for value in self._values if " " in value)

    def find_values(self, question: str) -> Sequence[tuple[int, int]]:
        places = [(question.lower().find(value.lower()), len(value)) for value in self._values]
        return [(start, start + length) for start, length in places if start >= 0]


def load_known_pack(language: str) -> LanguagePack:
    pack = load_pack(language)
    assert pack is not None
    return pack


@pytest.mark.parametrize(
    ("question", "english"),
    [
        ("Wie viele Verträge mit Müller enden vor dem 31.12.2025?",
         "how many contracts with Müller end before 2025-12-31?"),
        ("wann endet der vertrag mit Acme", "when does the contract with Acme end"),
        ("zeig mir alle offenen rechnungen über 1.200,50 €", "show me all open invoices over 1200.50 €"),
        ("welche vertraege laufen 2025 ab", "which contracts expire 2025"),
        ("Welche Rechnungen wurden im Mai 2024 bezahlt?", "which invoices were paid in May 2024?"),
        ("verträge die 2025 enden", "contracts that end 2025"),
        ("Verträge, die vor dem 3. Mai 2024 gekündigt wurden", "contracts, that were terminated before 3 May 2024"),
        ("wer hat den Vertrag unterschrieben", "who has signed the contract"),
        ("rechnungen von mai bis juli 2024", "invoices from May to July 2024"),
        ("was wurde vor 3 Monaten gekauft", "what was bought 3 months ago"),
        ("sortiert nach Umsatz", "sorted by revenue"),
        ("rechnungen nach dem 1. Mai", "invoices after 1 May"),
        ("der teuerste Artikel", "the most expensive item"),
        ("ein neuer Vertrag", "a new contract"),
        ("Wo wohnt Frau Schmidt?", "where does Schmidt live?"),
        ("welche lieferanten kommen nicht aus Polen", "which suppliers come not from Poland"),
        ("Verträge, die der Müller unterschrieben hat", "contracts, that the Müller has signed"),
        ("Verträge, bei denen die Frist abgelaufen ist", "contracts, where the deadline is expired"),
        ("Verträge, deren Preis mehr als 3 Euro beträgt", "contracts, whose price amount to more than 3 EUR"),
        ("Fotos bitte weglassen", "without photos"),
        ("Hallo, welche Aufträge sind offen?", "hello, which orders are open?"),
        ("welche Geräte müssen heute gewartet werden", "which devices must be serviced today"),
        ("wer ist als Fahrer eingetragen", "who is entered as drivers"),
        ("größer als der Preis", "more than the price"),
        ("Protokolle zum neuen Wagen", "minutes the new cars"),
        ("Ich brauche für die Besprechung alle Rechnungen", "i need all invoices"),
        ("Eine kurze Frage vom Chef: wie viele Kunden haben wir", "how many customers do we have"),
    ],
)  # fmt: skip
def test_a_german_question_is_read_in_english(question: str, english: str) -> None:
    rewritten = rewrite_question(question, load_known_pack("de"), [FakeBucketWords()])

    assert rewritten.text == english


@pytest.mark.parametrize(
    ("question", "english"),
    [
        ("combien de factures avons-nous de chez Dupont ?", "how many invoices are there from Dupont ?"),
        ("contrats qui finissent avant le 31/12/2025", "contracts that end before 2025-12-31"),
        ("quelle est la facture la plus chère", "what is the most expensive invoice"),
        ("Quand finit le contrat avec Durand ?", "when does the contract with Durand end ?"),
        ("salaire moyen par service", "average salary per department"),
        ("est-ce que la facture F-12 est payée", "is the invoice F-12 paid"),
        ("les commandes des 3 derniers mois", "the orders of the last 3 months"),
        ("contrats signés il y a plus de 2 ans", "contracts signed more than 2 years ago"),
        ("factures de mai à juillet 2024 au format csv", "invoices from May to July 2024 as csv"),
        ("factures de plus de 1 200,50 €", "invoices more than 1200.50 €"),
        ("factures pour le mois prochain", "invoices for next month"),
        ("cb de factures en euros", "how many invoices"),
    ],
)
def test_a_french_question_is_read_in_english(question: str, english: str) -> None:
    assert rewrite_question(question, load_known_pack("fr"), [FakeBucketWords()]).text == english


@pytest.mark.parametrize(
    ("question", "english"),
    [
        ("¿Cuántas facturas hay de Acme?", "how many invoices are there of Acme?"),
        ("contratos que terminan antes del 31/12/2025", "contracts that end before 2025-12-31"),
        ("¿cuál es la factura más cara?", "what is the most expensive invoice?"),
        ("¿Cuándo vence el contrato con Gómez?", "when does the contract with Gómez expire?"),
        ("salario medio por departamento", "average salary per department"),
        ("¿está pagada la factura F-12?", "is the invoice F-12 paid?"),
        ("contratos firmados hace más de 2 años", "contracts signed more than 2 years ago"),
        ("facturas de mayo a julio de 2024 en csv", "invoices from May to July 2024 as csv"),
        ("productos más baratos que 50 euros", "products cheaper than 50 EUR"),
        ("facturas para el próximo mes", "invoices for next month"),
    ],
)
def test_a_spanish_question_is_read_in_english(question: str, english: str) -> None:
    assert rewrite_question(question, load_known_pack("es"), [FakeBucketWords()]).text == english


def test_a_word_of_documents_in_the_language_stays() -> None:
    bucket = FakeBucketWords("de", values=("bezahlt", "Die Brücke"))

    rewritten = rewrite_question("welche rechnungen sind bezahlt", load_known_pack("de"), [bucket])

    assert "bezahlt" in rewritten.text


def test_a_name_of_the_documents_is_never_translated() -> None:
    bucket = FakeBucketWords(values=("Haus am See",))

    rewritten = rewrite_question("Wie viele Zimmer hat Haus am See?", load_known_pack("de"), [bucket])

    assert "Haus am See" in rewritten.text


def test_the_synonym_that_a_bucket_knows_is_taken() -> None:
    rewritten = rewrite_question("alle Lieferanten", load_known_pack("de"), [FakeBucketWords(names="vendor")])

    assert rewritten.text == "all vendors"


def test_a_compound_is_read_by_its_parts() -> None:
    bucket = FakeBucketWords(names="supplier number")

    assert rewrite_question("Lieferantennummer", load_known_pack("de"), [bucket]).text == "supplier number"


@pytest.mark.parametrize(
    ("question", "english"),
    [
        ("Heizungsaufträge in Bonn", "heizung aufträge in Bonn"),
        ("Sanitaerauftraege", "sanitaer auftraege"),
        ("Dezemberaufträge", "December aufträge"),
        ("Heizungssachen", "heizung things"),
        ("Gagensumme", "sum of gage"),
        ("lektoriert von Weber", "lektorat of Weber"),
        ("alle aufträge von weber", "all aufträge of Weber"),
        ("welche auftraege hat weber angenommen", "which auftraege has Weber accepted"),
    ],
)
def test_words_are_read_by_the_names_and_values_that_they_contain(question: str, english: str) -> None:
    values = ("Heizung", "Sanitär", "sanitaer", "Kaya Weber")
    bucket = FakeBucketWords("de", names="aufträge, auftraege, gage, gagen, lektorat", values=values)

    assert rewrite_question(question, load_known_pack("de"), [bucket]).text == english


def test_a_value_is_found_in_another_gender_and_number() -> None:
    bucket = FakeBucketWords("fr", values=("annulée",))

    rewritten = rewrite_question("les contrats annulés", load_known_pack("fr"), [bucket])

    assert "annulée" in rewritten.text


def test_a_purpose_that_the_documents_know_is_part_of_the_question() -> None:
    bucket = FakeBucketWords("de", values=("besprechung",))

    rewritten = rewrite_question("ich brauche für die Besprechung alle Rechnungen", load_known_pack("de"), [bucket])

    assert "besprechung" in rewritten.text.lower()


def test_words_lead_back_to_those_that_the_person_wrote() -> None:
    rewritten = rewrite_question("welche Rechnungen wurden im Mai bezahlt", load_known_pack("de"), [FakeBucketWords()])

    assert rewritten.written_words("paid") == "bezahlt"
    assert rewritten.written_words("invoices") == "Rechnungen"
    assert rewritten.written_words("unheard of") == "unheard of"


_NAMES = st.text(alphabet="abcdefghijklmnopqrstuvwxyzäöüßéñ", min_size=4, max_size=12).map(lambda text: f"Qx{text}")
_WORDS_BY_LANGUAGE = {language: load_known_pack(language).content.function_words for language in list_packs()}


@st.composite
def _draw_question(draw: st.DrawFn) -> tuple[str, str, list[str]]:
    language = draw(st.sampled_from(list_packs()))
    names = draw(st.lists(_NAMES, min_size=1, max_size=3))
    words = draw(st.lists(st.sampled_from(_WORDS_BY_LANGUAGE[language]), max_size=8))
    mixed = draw(st.permutations([*names, *words]))
    return language, draw(st.sampled_from([" ", ", ", " "])).join(mixed), names


@given(_draw_question())
def test_names_survive_and_the_way_back_is_monotone(drawn: tuple[str, str, list[str]]) -> None:
    language, question, names = drawn

    rewritten = rewrite_question(question, load_known_pack(language), [FakeBucketWords()])

    assert all(name.casefold() in rewritten.text.casefold() for name in names)
    places = [rewritten.original_span(index, index + 1) for index in range(len(rewritten.text))]
    assert all(0 <= start <= end <= len(question) for start, end in places)
    assert all(first[0] <= second[0] and first[1] <= second[1] for first, second in pairwise(places))


@given(st.text(max_size=80))
def test_any_text_can_be_rewritten(text: str) -> None:
    for language in list_packs():
        assert rewrite_question(text, load_known_pack(language), [FakeBucketWords()]).original == text


@given(st.sampled_from(list_packs()), st.text(alphabet="abcdef ghi", min_size=1, max_size=20).filter(str.strip))
def test_quoted_text_stays(language: str, phrase: str) -> None:
    rewritten = rewrite_question(f'die le los "{phrase}"', load_known_pack(language), [FakeBucketWords()])

    assert f'"{phrase}"' in rewritten.text
