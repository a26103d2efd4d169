"""Kinds of invented documents: their fields as somebody writes them in a schema, and sentences that state the values.

The kinds of `TUNED_KINDS` were looked at while the rules were written; those of `HELD_OUT_KINDS` only measured.
"""

from dataclasses import dataclass

from storage.search.schema import FieldType
from tests.storage.ingest.extract.forms.form_values import (
    ValueMaker,
    choose_word,
    make_address,
    make_code,
    make_day,
    make_duration,
    make_firm,
    make_model,
    make_money,
    make_package,
    make_people,
    make_person,
    make_place,
    make_quantity,
)

_CATEGORY, _DATE, _MONEY, _NUMBER, _LIST = (
    FieldType.CATEGORY,
    FieldType.DATE,
    FieldType.MONEY,
    FieldType.NUMBER,
    FieldType.LIST,
)


@dataclass(frozen=True, slots=True)
class FormField:
    """A field with its labels: the title first, the others are synonyms in the schema. A sentence has `{value}`."""

    labels: tuple[str, ...]
    type: FieldType
    make_value: ValueMaker
    sentences: tuple[str, ...]
    unit: str = ""

    @property
    def name(self) -> str:
        return self.labels[0].casefold().replace(" ", "_").replace(".", "")


@dataclass(frozen=True, slots=True)
class FormKind:
    """A kind of document. `other_labels` stand in the documents, but are no fields."""

    noun: str
    language: str
    code: str  # of the titles: `Service report SR-0017`
    fields: tuple[FormField, ...]
    other_labels: tuple[tuple[str, ValueMaker], ...]
    banner: str  # in all documents


TUNED_KINDS = (
    FormKind(
        "Service report",
        "en",
        "SR",
        (
            FormField(
                ("Device", "Unit", "Machine"),
                _CATEGORY,
                make_model,
                ("The device is a {value}.", "We worked on the device {value}."),
            ),
            FormField(
                ("Technician", "Engineer", "Serviced by"),
                _CATEGORY,
                make_person,
                ("The technician was {value}.", "It was serviced by {value}."),
            ),
            FormField(
                ("Service date", "Visit date"),
                _DATE,
                make_day(),
                ("The service date was {value}.", "The service date is {value}."),
            ),
            FormField(("Next service", "Next due"), _DATE, make_day(2027), ("The next service is due on {value}.",)),
            FormField(
                ("Labour", "Hours"),
                _NUMBER,
                make_quantity("h", 0.5, 9, 1),
                ("Labour took {value}.", "Labour came to {value}."),
                "h",
            ),
            FormField(
                ("Cost", "Charge"), _MONEY, make_money(40, 9000), ("The cost was {value}.", "The charge is {value}.")
            ),
            FormField(
                ("Status",), _CATEGORY, choose_word("done", "open", "waiting for parts"), ("The status is {value}.",)
            ),
        ),
        (("Customer no.", make_code("C")), ("Site", make_place), ("Approved by", make_person)),
        "Brackwater Service Centre, Harbury",
    ),
    FormKind(
        "Lease",
        "en",
        "L",
        (
            FormField(
                ("Landlord", "Lessor"),
                _CATEGORY,
                make_firm,
                ("The landlord is {value}.", '{value} (the "Landlord") lets the premises.'),
            ),
            FormField(
                ("Tenant", "Lessee"),
                _CATEGORY,
                make_person,
                ("The tenant is {value}.", '{value} (the "Tenant") takes the premises.'),
            ),
            FormField(("Premises", "Property"), _CATEGORY, make_address, ("The premises are {value}.",)),
            FormField(
                ("Monthly rent", "Rent"),
                _MONEY,
                make_money(400, 4800),
                ("The monthly rent is {value}.", "The tenant pays a monthly rent of {value}."),
            ),
            FormField(
                ("Deposit",),
                _MONEY,
                make_money(500, 9000),
                ("The deposit is {value}.", "A deposit of {value} is payable."),
            ),
            FormField(
                ("Start date", "Commencement"),
                _DATE,
                make_day(),
                ("The lease starts on {value}.", "The term begins on {value}."),
            ),
            FormField(
                ("End date", "Ends"),
                _DATE,
                make_day(2028),
                ("The lease ends on {value}.", "It expires on {value}.", "It runs until {value}."),
            ),
            FormField(
                ("Notice period", "Notice"),
                _NUMBER,
                make_duration(("day", 14, 90), ("month", 1, 6), ("week", 2, 8)),
                (
                    "It may be terminated by notice of {value}.",
                    "Either party may end it by giving {value} notice.",
                    "The notice period is {value}.",
                ),
                "day",
            ),
            FormField(
                ("Floor area", "Area"),
                _NUMBER,
                make_quantity("m²", 20, 300, 1),
                ("The floor area is {value}.",),
                "meter**2",
            ),
        ),
        (("Agent", make_person), ("File no.", make_code("F")), ("Heating", choose_word("gas", "district heating"))),
        "Norvik Property Management",
    ),
    FormKind(
        "Data sheet",
        "en",
        "DS",
        (
            FormField(("Type", "Part number"), _CATEGORY, make_model, ("The part number is {value}.",)),
            FormField(
                ("Manufacturer", "Maker"),
                _CATEGORY,
                make_firm,
                ("It is made by {value}.", "It is manufactured by {value}."),
            ),
            FormField(("Package", "Case"), _CATEGORY, make_package, ("It comes in a {value} package.",)),
            FormField(
                ("Power", "Power dissipation"),
                _NUMBER,
                make_quantity("W", 0.1, 90, 2),
                ("The power is {value}.", "The power dissipation is at most {value}."),
                "W",
            ),
            FormField(
                ("Voltage", "Supply voltage"),
                _NUMBER,
                make_quantity("V", 1.2, 60, 1),
                ("The supply voltage is {value}.",),
                "V",
            ),
            FormField(("Unit price", "Price"), _MONEY, make_money(0.01, 0.9, 3), ("The unit price is {value}.",)),
            FormField(
                ("Weight", "Mass"),
                _NUMBER,
                make_quantity("g", 0.1, 20, 2),
                ("The weight is {value}.", "It weighs {value}."),
                "g",
            ),
        ),
        (("Revision", make_code("R")), ("RoHS", choose_word("yes", "compliant"))),
        "Components catalogue",
    ),
    FormKind(
        "Delivery note",
        "en",
        "DN",
        (
            FormField(
                ("Supplier", "Vendor"),
                _CATEGORY,
                make_firm,
                ("The supplier is {value}.", "It was supplied by {value}."),
            ),
            FormField(("Customer", "Ship to"), _CATEGORY, make_firm, ("The customer is {value}.",)),
            FormField(("Order no.", "PO number"), _CATEGORY, make_code("PO"), ("The order no. is {value}.",)),
            FormField(
                ("Delivery date", "Delivered on"),
                _DATE,
                make_day(),
                ("The goods were delivered on {value}.", "The delivery date is {value}."),
            ),
            FormField(
                ("Gross weight", "Weight"),
                _NUMBER,
                make_quantity("kg", 2, 1800, 1),
                ("The gross weight is {value}.",),
                "kg",
            ),
            FormField(
                ("Packages", "Parcels"), _NUMBER, make_quantity("", 1, 40), ("The number of packages is {value}.",)
            ),
            FormField(
                ("Freight", "Freight cost"),
                _MONEY,
                make_money(10, 2500),
                ("The freight cost is {value}.", "Freight costs {value}."),
            ),
        ),
        (("Driver", make_person), ("Incoterm", choose_word("DAP", "EXW", "FCA"))),
        "Thank you for your order",
    ),
    FormKind(
        "Servicebericht",
        "de",
        "SB",
        (
            FormField(("Gerät", "Maschine"), _CATEGORY, make_model, ("Das Gerät ist ein {value}.",)),
            FormField(("Techniker", "Monteur"), _CATEGORY, make_person, ("Der Techniker war {value}.",)),
            FormField(
                ("Datum", "Einsatzdatum"),
                _DATE,
                make_day(),
                ("Das Datum ist der {value}.", "Der Einsatz war am {value}."),
            ),
            FormField(("Kosten", "Betrag"), _MONEY, make_money(40, 9000), ("Die Kosten betragen {value}.",)),
            FormField(
                ("Arbeitszeit", "Stunden"),
                _NUMBER,
                make_quantity("h", 0.5, 9, 1),
                ("Die Arbeitszeit betrug {value}.",),
                "h",
            ),
            FormField(("Gewicht",), _NUMBER, make_quantity("kg", 1, 90, 3), ("Das Gewicht beträgt {value}.",), "kg"),
        ),
        (("Kundennr.", make_code("K")), ("Standort", make_place)),
        "Brackwater Kundendienst",
    ),
    FormKind(
        "Mietvertrag",
        "de",
        "MV",
        (
            FormField(("Vermieter",), _CATEGORY, make_firm, ("Vermieter ist {value}.", "Vermieter ist die {value}.")),
            FormField(("Mieter", "Mieterin"), _CATEGORY, make_person, ("Mieter ist {value}.",)),
            FormField(("Miete", "Monatsmiete"), _MONEY, make_money(300, 4000), ("Die Monatsmiete beträgt {value}.",)),
            FormField(("Kaution",), _MONEY, make_money(500, 9000), ("Die Kaution beträgt {value}.",)),
            FormField(("Beginn", "Mietbeginn"), _DATE, make_day(), ("Das Mietverhältnis beginnt am {value}.",)),
            FormField(
                ("Ende", "Mietende"),
                _DATE,
                make_day(2028),
                ("Das Mietverhältnis endet am {value}.", "Der Vertrag läuft bis zum {value}."),
            ),
            FormField(
                ("Kündigungsfrist",),
                _NUMBER,
                make_duration(("month", 1, 9), ("week", 2, 6)),
                ("Die Kündigungsfrist beträgt {value}.",),
                "day",
            ),
            FormField(
                ("Wohnfläche", "Fläche"),
                _NUMBER,
                make_quantity("m²", 20, 300, 1),
                ("Die Wohnfläche beträgt {value}.",),
                "meter**2",
            ),
        ),
        (("Aktenzeichen", make_code("AZ")), ("Hausverwaltung", make_firm)),
        "Norvik Hausverwaltung",
    ),
    FormKind(
        "Bon de livraison",
        "fr",
        "BL",
        (
            FormField(("Fournisseur",), _CATEGORY, make_firm, ("Le fournisseur est {value}.",)),
            FormField(("Client", "Destinataire"), _CATEGORY, make_firm, ("Le client est {value}.",)),
            FormField(("Date de livraison", "Livré le"), _DATE, make_day(), ("La date de livraison est le {value}.",)),
            FormField(("Montant", "Total"), _MONEY, make_money(40, 9000), ("Le montant est de {value}.",)),
            FormField(
                ("Poids", "Poids brut"), _NUMBER, make_quantity("kg", 2, 800, 1), ("Le poids est de {value}.",), "kg"
            ),
        ),
        (("N° de commande", make_code("CMD")), ("Transporteur", make_firm)),
        "Merci de votre confiance",
    ),
)

HELD_OUT_KINDS = (
    FormKind(
        "Job offer",
        "en",
        "JO",
        (
            FormField(
                ("Position", "Job title"),
                _CATEGORY,
                choose_word("Welder", "Nurse, night shift", "Sr. Analyst", "Cook"),
                ("We offer you the position of {value}.",),
            ),
            FormField(("Employer", "Company"), _CATEGORY, make_firm, ("Your employer will be {value}.",)),
            FormField(
                ("Reports to", "Manager"),
                _CATEGORY,
                make_person,
                ("You will report to {value}.", "Your manager is {value}."),
            ),
            FormField(
                ("Salary", "Annual salary"),
                _MONEY,
                make_money(18_000, 99_000),
                ("Your annual salary is {value}.", "We pay you a salary of {value}."),
            ),
            FormField(
                ("Start date", "First day"), _DATE, make_day(), ("You start on {value}.", "Your first day is {value}.")
            ),
            FormField(("Weekly hours",), _NUMBER, make_quantity("", 15, 42, 1), ("Your weekly hours are {value}.",)),
            FormField(
                ("Notice period",),
                _NUMBER,
                make_duration(("week", 1, 12), ("month", 1, 3)),
                (
                    "Either side may terminate with {value} notice.",
                    "The employment can be terminated on {value} notice.",
                ),
                "day",
            ),
            FormField(
                ("Probation", "Probation period"),
                _NUMBER,
                make_duration(("month", 1, 6), gold_unit="month"),
                ("There is a probation period of {value}.",),
                "month",
            ),
        ),
        (("Reference", make_code("HR")), ("Location", make_place), ("Recruiter", make_person)),
        "Private and confidential",
    ),
    FormKind(
        "Policy",
        "en",
        "P",
        (
            FormField(
                ("Insured", "Policyholder"),
                _CATEGORY,
                make_person,
                ("The insured is {value}.", "The policyholder is {value}."),
            ),
            FormField(
                ("Insurer",), _CATEGORY, make_firm, ("The insurer is {value}.", "The cover is provided by {value}.")
            ),
            FormField(
                ("Annual premium", "Premium"),
                _MONEY,
                make_money(60, 4000),
                ("The annual premium is {value}.", "The premium comes to {value}."),
            ),
            FormField(("Sum insured",), _MONEY, make_money(5_000, 900_000, 0), ("The sum insured is {value}.",)),
            FormField(("Excess", "Deductible"), _MONEY, make_money(50, 900, 0), ("An excess of {value} applies.",)),
            FormField(("Valid from", "Inception"), _DATE, make_day(), ("Cover is valid from {value}.",)),
            FormField(
                ("Valid until", "Expiry"),
                _DATE,
                make_day(2028),
                ("Cover expires on {value}.", "It is valid until {value}."),
            ),
        ),
        (("Broker", make_firm), ("Object", choose_word("car", "house", "boat"))),
        "Keep this policy in a safe place.",
    ),
    FormKind(
        "Minutes",
        "en",
        "M",
        (
            FormField(
                ("Chair", "Chaired by"),
                _CATEGORY,
                make_person,
                ("The meeting was chaired by {value}.", "The chair was {value}."),
            ),
            FormField(("Date", "Held on"), _DATE, make_day(), ("The meeting was held on {value}.",)),
            FormField(("Place", "Venue"), _CATEGORY, make_place, ("The place was {value}.",)),
            FormField(("Present", "Attendees"), _LIST, make_people, ("Present were {value}.",)),
            FormField(("Next meeting",), _DATE, make_day(2027), ("The next meeting is on {value}.",)),
            FormField(("Budget",), _MONEY, make_money(900, 90_000), ("The budget is {value}.",)),
        ),
        (("Apologies", make_person), ("Room", make_code("R"))),
        "Minutes are binding unless objected to.",
    ),
    FormKind(
        "Arbeitsvertrag",
        "de",
        "AV",
        (
            FormField(("Arbeitgeber",), _CATEGORY, make_firm, ("Arbeitgeber ist die {value}.",)),
            FormField(("Arbeitnehmer", "Mitarbeiter"), _CATEGORY, make_person, ("Arbeitnehmer ist {value}.",)),
            FormField(
                ("Gehalt", "Monatsgehalt"), _MONEY, make_money(1500, 9000), ("Das Monatsgehalt beträgt {value}.",)
            ),
            FormField(
                ("Eintritt", "Beginn"),
                _DATE,
                make_day(),
                ("Der Eintritt ist am {value}.", "Das Arbeitsverhältnis beginnt am {value}."),
            ),
            FormField(
                ("Probezeit",),
                _NUMBER,
                make_duration(("month", 1, 6), gold_unit="month"),
                ("Die Probezeit beträgt {value}.",),
                "month",
            ),
            FormField(
                ("Kündigungsfrist",),
                _NUMBER,
                make_duration(("month", 1, 6), ("week", 2, 8)),
                ("Die Kündigungsfrist beträgt {value}.", "Es kann mit einer Frist von {value} gekündigt werden."),
                "day",
            ),
            FormField(
                ("Wochenstunden", "Arbeitszeit"),
                _NUMBER,
                make_quantity("", 15, 42, 1),
                ("Die Arbeitszeit beträgt {value} Stunden.",),
            ),
        ),
        (("Personalnr.", make_code("PN")), ("Abteilung", choose_word("Lager", "Einkauf"))),
        "Vertraulich",
    ),
    FormKind(
        "Contrat de maintenance",
        "fr",
        "CM",
        (
            FormField(("Prestataire",), _CATEGORY, make_firm, ("Le prestataire est {value}.",)),
            FormField(("Client",), _CATEGORY, make_firm, ("Le client est {value}.",)),
            FormField(("Date de début", "Début"), _DATE, make_day(), ("Le contrat commence le {value}.",)),
            FormField(("Date de fin", "Fin"), _DATE, make_day(2028), ("Le contrat prend fin le {value}.",)),
            FormField(("Redevance", "Prix"), _MONEY, make_money(90, 9000), ("La redevance est de {value}.",)),
            FormField(
                ("Préavis",),
                _NUMBER,
                make_duration(("month", 1, 6), ("day", 15, 90)),
                ("Le préavis est de {value}.",),
                "day",
            ),
        ),
        (("Dossier", make_code("D")), ("Site", make_place)),
        "Conditions particulières",
    ),
    FormKind(
        "Contrato de alquiler",
        "es",
        "CA",
        (
            FormField(("Arrendador", "Propietario"), _CATEGORY, make_firm, ("El arrendador es {value}.",)),
            FormField(("Arrendatario", "Inquilino"), _CATEGORY, make_person, ("El arrendatario es {value}.",)),
            FormField(("Renta", "Renta mensual"), _MONEY, make_money(300, 4000), ("La renta mensual es de {value}.",)),
            FormField(("Fianza",), _MONEY, make_money(500, 9000), ("La fianza es de {value}.",)),
            FormField(("Inicio", "Fecha de inicio"), _DATE, make_day(), ("El contrato empieza el {value}.",)),
            FormField(("Fin", "Fecha de fin"), _DATE, make_day(2028), ("El contrato termina el {value}.",)),
            FormField(
                ("Superficie",), _NUMBER, make_quantity("m²", 20, 300, 1), ("La superficie es de {value}.",), "meter**2"
            ),
        ),
        (("Referencia", make_code("RF")), ("Gestor", make_person)),
        "Documento privado",
    ),
)
