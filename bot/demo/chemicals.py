"""Chemicals: well-known organic solvents and gases with their usual handbook values, and made-up solvent blends.

The pure compounds are the same for every seed; the blends are drawn. Some have no flash point.
"""

from dataclasses import dataclass
from random import Random

from bot.demo.records import CorpusRecord, draw_weighted, drop_missing_values
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField, SchemaOrder

_BLEND_COUNT = 250

SCHEMA = Schema(
    bucket=BucketId("chemicals"),
    title="Solvents and chemicals",
    description="Organic solvents, gases and solvent blends with boiling point, flash point, density and hazards.",
    synonyms=("solvents", "solvent", "chemicals", "chemical", "substances", "organic solvents"),
    order=SchemaOrder(field=FieldName("boiling_point"), descending=False),
    fields=(
        SchemaField(
            name=FieldName("family"),
            type=FieldType.CATEGORY,
            title="Family",
            synonyms=("family", "chemical family", "class of compound"),
            values={
                "alcohol": ("alcohols",),
                "ketone": ("ketones",),
                "ester": ("esters",),
                "ether": ("ethers",),
                "alkane": ("alkanes", "paraffin"),
                "aromatic": ("aromatics", "aromatic solvent"),
                "halogenated": ("chlorinated", "halogenated hydrocarbon"),
                "amine": ("amines",),
                "nitrile": ("nitriles",),
                "amide": ("amides",),
                "blend": ("blends", "mixture", "mixtures", "solvent blend"),
            },
            facet=True,
        ),
        SchemaField(
            name=FieldName("formula"), type=FieldType.TEXT, title="Formula", synonyms=("formula", "molecular formula")
        ),
        SchemaField(
            name=FieldName("cas"),
            type=FieldType.TEXT,
            title="CAS number",
            synonyms=("CAS number", "CAS", "CAS no"),
        ),
        SchemaField(
            name=FieldName("boiling_point"),
            type=FieldType.NUMBER,
            title="Boiling point",
            synonyms=("boiling point", "boils", "boil", "boiling"),
            unit="degC",
            facet=True,
        ),
        SchemaField(
            name=FieldName("flash_point"),
            type=FieldType.NUMBER,
            title="Flash point",
            description="Closed cup; gases and what does not burn have none.",
            synonyms=("flash point", "flashpoint", "flash"),
            unit="degC",
            facet=True,
        ),
        SchemaField(
            name=FieldName("density"),
            type=FieldType.NUMBER,
            title="Density",
            description="At 20 °C.",
            synonyms=("density", "dense", "specific gravity"),
            unit="g/cm^3",
            facet=True,
        ),
        SchemaField(
            name=FieldName("hazards"),
            type=FieldType.LIST,
            title="Hazards",
            synonyms=("hazards", "hazard", "hazardous"),
            values={
                "flammable": ("inflammable", "fire hazard"),
                "toxic": ("poisonous", "toxicity"),
                "irritant": ("irritating", "irritants"),
                "carcinogenic": ("carcinogen", "carcinogens", "causes cancer"),
                "corrosive": ("corrosion",),
                "harmful to water": ("hazardous to water", "aquatic hazard"),
            },
            facet=True,
        ),
        SchemaField(
            name=FieldName("water_miscible"),
            type=FieldType.FLAG,
            title="Water miscible",
            synonyms=("water miscible", "miscible with water", "mixes with water", "mix with water"),
            facet=True,
        ),
    ),
)

# name | family | formula | CAS | boiling point °C | flash point °C or - | density g/cm³ | hazard letters | w: miscible
_COMPOUNDS = """
Acetone|ketone|C3H6O|67-64-1|56.1|-20|0.784|f i|w
2-Butanone|ketone|C4H8O|78-93-3|79.6|-9|0.805|f i|
Cyclohexanone|ketone|C6H10O|108-94-1|155.6|44|0.947|f i|
Methyl isobutyl ketone|ketone|C6H12O|108-10-1|116.5|14|0.801|f i|
Acetophenone|ketone|C8H8O|98-86-2|202|77|1.028|i|
Methanol|alcohol|CH4O|67-56-1|64.7|11|0.792|f t|w
Ethanol|alcohol|C2H6O|64-17-5|78.4|13|0.789|f i|w
1-Propanol|alcohol|C3H8O|71-23-8|97.2|22|0.803|f i|w
2-Propanol|alcohol|C3H8O|67-63-0|82.5|12|0.786|f i|w
1-Butanol|alcohol|C4H10O|71-36-3|117.7|35|0.81|f i|
2-Butanol|alcohol|C4H10O|78-92-2|99.5|24|0.808|f i|
tert-Butanol|alcohol|C4H10O|75-65-0|82.4|11|0.781|f i|w
1-Pentanol|alcohol|C5H12O|71-41-0|138|49|0.814|f i|
1-Octanol|alcohol|C8H18O|111-87-5|195|81|0.824|i|
Ethylene glycol|alcohol|C2H6O2|107-21-1|197.3|111|1.113|t|w
Propylene glycol|alcohol|C3H8O2|57-55-6|188.2|99|1.036||w
Benzyl alcohol|alcohol|C7H8O|100-51-6|205.3|93|1.044|i|
Diethyl ether|ether|C4H10O|60-29-7|34.6|-45|0.713|f i|
Dimethyl ether|ether|C2H6O|115-10-6|-24.8|-|0.735|f|
Tetrahydrofuran|ether|C4H8O|109-99-9|66|-14|0.889|f i|w
1,4-Dioxane|ether|C4H8O2|123-91-1|101.1|12|1.033|f i c|w
Anisole|ether|C7H8O|100-66-3|153.8|43|0.995|f|
Methyl tert-butyl ether|ether|C5H12O|1634-04-4|55.2|-28|0.74|f i|
1,2-Dimethoxyethane|ether|C4H10O2|110-71-4|85|-2|0.868|f t|w
Methyl acetate|ester|C3H6O2|79-20-9|56.9|-13|0.932|f i|
Ethyl acetate|ester|C4H8O2|141-78-6|77.1|-4|0.902|f i|
Butyl acetate|ester|C6H12O2|123-86-4|126.1|22|0.882|f|
Ethyl lactate|ester|C5H10O3|97-64-3|154|46|1.034|f i|w
Ethyl formate|ester|C3H6O2|109-94-4|54.3|-20|0.917|f i|
Pentane|alkane|C5H12|109-66-0|36.1|-49|0.626|f n|
Hexane|alkane|C6H14|110-54-3|68.7|-22|0.661|f t n|
Heptane|alkane|C7H16|142-82-5|98.4|-4|0.684|f i n|
Octane|alkane|C8H18|111-65-9|125.6|13|0.703|f i n|
Decane|alkane|C10H22|124-18-5|174.1|46|0.73|f n|
Cyclohexane|alkane|C6H12|110-82-7|80.7|-20|0.779|f i n|
Propane|alkane|C3H8|74-98-6|-42.1|-|0.493|f|
Butane|alkane|C4H10|106-97-8|-0.5|-|0.573|f|
Isobutane|alkane|C4H10|75-28-5|-11.7|-|0.551|f|
Benzene|aromatic|C6H6|71-43-2|80.1|-11|0.877|f t c|
Toluene|aromatic|C7H8|108-88-3|110.6|4|0.867|f t|
o-Xylene|aromatic|C8H10|95-47-6|144.4|32|0.88|f i|
Ethylbenzene|aromatic|C8H10|100-41-4|136.2|15|0.867|f i c|
Cumene|aromatic|C9H12|98-82-8|152.4|31|0.862|f i n|
Pyridine|amine|C5H5N|110-86-1|115.2|20|0.982|f i|w
Triethylamine|amine|C6H15N|121-44-8|89|-11|0.726|f r t|
Diethylamine|amine|C4H11N|109-89-7|55.5|-28|0.707|f r|w
Methylamine|amine|CH5N|74-89-5|-6.3|-|0.656|f r|
Aniline|amine|C6H7N|62-53-3|184.1|70|1.022|t c n|
Dichloromethane|halogenated|CH2Cl2|75-09-2|39.6|-|1.327|t c|
Chloroform|halogenated|CHCl3|67-66-3|61.2|-|1.489|t c|
Carbon tetrachloride|halogenated|CCl4|56-23-5|76.7|-|1.594|t c n|
1,2-Dichloroethane|halogenated|C2H4Cl2|107-06-2|83.5|13|1.253|f t c|
Trichloroethylene|halogenated|C2HCl3|79-01-6|87.2|-|1.464|t c|
Tetrachloroethylene|halogenated|C2Cl4|127-18-4|121.1|-|1.622|c n|
Chlorobenzene|halogenated|C6H5Cl|108-90-7|131.7|28|1.106|f i n|
Chloromethane|halogenated|CH3Cl|74-87-3|-24.2|-|0.911|f t|
Vinyl chloride|halogenated|C2H3Cl|75-01-4|-13.4|-|0.911|f c|
Acetonitrile|nitrile|C2H3N|75-05-8|81.6|2|0.786|f i|w
Propionitrile|nitrile|C3H5N|107-12-0|97.1|6|0.772|f t|
Benzonitrile|nitrile|C7H5N|100-47-0|191|71|1.01|i|
N,N-Dimethylformamide|amide|C3H7NO|68-12-2|153|58|0.944|f t|w
N,N-Dimethylacetamide|amide|C4H9NO|127-19-5|165|63|0.937|t|w
N-Methyl-2-pyrrolidone|amide|C5H9NO|872-50-4|202|91|1.028|t i|w
Formamide|amide|CH3NO|75-12-7|210|154|1.133|t|w
"""
_HAZARD_BY_LETTER = {
    "f": "flammable",
    "t": "toxic",
    "i": "irritant",
    "c": "carcinogenic",
    "r": "corrosive",
    "n": "harmful to water",
}
_HAZARD_SHARES = {"flammable": 0.6, "toxic": 0.15, "irritant": 0.45, "corrosive": 0.1, "harmful to water": 0.25}
_BRANDS = ("Clarisol", "Tamasolv", "Purane", "Veltrane", "Lumosolv")
_USES = (
    "cleaning printing rollers",
    "thinning varnish",
    "degreasing machined parts",
    "extracting plant oils",
    "laboratory work",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _DemoChemical:
    name: str
    family: str
    formula: str | None
    cas: str | None
    boiling_point: float
    flash_point: float | None
    density: float
    hazards: list[str]
    water_miscible: bool

    def to_record(self, number: int, use: str) -> CorpusRecord:
        metadata = drop_missing_values(
            {
                "family": self.family,
                "formula": self.formula,
                "cas": self.cas,
                "boiling_point": self.boiling_point,
                "flash_point": self.flash_point,
                "density": self.density,
                "hazards": self.hazards,
                "water_miscible": self.water_miscible or None,
            }
        )
        return {
            "doc_id": f"chm-{number:04}",
            "title": self.name,
            "text": "\n".join(self._text_lines(use)),
            "metadata": metadata,
            "page_starts": None,
            "source": f"chemicals/chm-{number:04}.txt",
        }

    def _text_lines(self, use: str) -> list[str]:
        numbered = f" Formula: {self.formula}. CAS number: {self.cas}." if self.cas else ""
        return [
            f"{self.name}. Family: {self.family}.{numbered}",
            f"Boiling point: {self.boiling_point:g} °C at normal pressure.",
            f"Flash point: {self.flash_point:g} °C, closed cup."
            if self.flash_point is not None
            else "Flash point: not stated.",
            f"Density: {self.density:g} g/cm³ at 20 °C.",
            f"Hazards: {', '.join(self.hazards)}." if self.hazards else "Not classed as hazardous.",
            "Mixes with water in any ratio." if self.water_miscible else "Forms a separate layer on water.",
            f"Often used for {use}.",
        ]


def generate_chemical_records(seed: int, rng: Random) -> list[CorpusRecord]:
    chemicals = [*_parse_compounds(), *(_draw_blend(rng, number) for number in range(1, _BLEND_COUNT + 1))]
    return [chemical.to_record(number, rng.choice(_USES)) for number, chemical in enumerate(chemicals, start=1)]


def _parse_compounds() -> list[_DemoChemical]:
    return [_parse_compound(*line.split("|")) for line in _COMPOUNDS.strip().splitlines()]


def _parse_compound(
    name: str, family: str, formula: str, cas: str, boiling: str, flash: str, density: str, hazards: str, miscible: str
) -> _DemoChemical:
    return _DemoChemical(
        name=name,
        family=family,
        formula=formula,
        cas=cas,
        boiling_point=float(boiling),
        flash_point=None if flash == "-" else float(flash),
        density=float(density),
        hazards=[_HAZARD_BY_LETTER[letter] for letter in hazards.split()],
        water_miscible=miscible == "w",
    )


def _draw_blend(rng: Random, number: int) -> _DemoChemical:
    boiling_point = round(38 + 190 * rng.random(), 1)
    hazards = [hazard for hazard, share in _HAZARD_SHARES.items() if rng.random() < share]
    return _DemoChemical(
        name=f"{rng.choice(_BRANDS)} {200 + number}",
        family=draw_weighted(rng, {"blend": 4.0, "alkane": 1.0, "aromatic": 1.0, "ester": 1.0}),
        formula=None,
        cas=None,
        boiling_point=boiling_point,
        flash_point=round(boiling_point * 0.62 - 52 + 14 * rng.random(), 0) if rng.random() > 0.12 else None,
        density=round(0.68 + 0.55 * rng.random(), 3),
        hazards=hazards,
        water_miscible=rng.random() < 0.3,
    )
