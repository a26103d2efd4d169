"""The names of the demo's buckets and fields: the generator's own, and a second set with other words people use.

A path names a bucket (`receipts`), a field (`receipts.total`) or a column (`receipts.items.qty`) by the generator's own
names. Only names, titles and synonyms change: values and texts stay, and so does what any question's answer is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from storage.search.ids import BucketId, FieldName
from storage.search.schema import Field, Schema, SchemaOrder


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What one bucket or field is called. Synonyms stand in order of use: a bucket's begin with plural and singular."""

    name: str
    title: str
    synonyms: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Naming:
    """New words by path; a path that is not there keeps the words of the generator."""

    words: Mapping[str, Words] = field(default_factory=dict[str, Words])

    def name(self, path: str) -> str:
        """What the last part of `path` is called."""
        words = self.words.get(path)
        return path.rpartition(".")[2] if words is None else words.name

    def schema(self, schema: Schema) -> Schema:
        """The generator's schema in these words."""
        path = str(schema.bucket)
        named = replace(
            schema,
            bucket=BucketId(self.name(path)),
            fields=tuple(self._field(one, path) for one in schema.fields),
            order=schema.order
            and SchemaOrder(field=self._name(path, schema.order.field), descending=schema.order.descending),
        )
        words = self.words.get(path)
        return named if words is None else replace(named, title=words.title, synonyms=words.synonyms)

    def _field(self, one: Field, bucket: str) -> Field:
        path = f"{bucket}.{one.name}"
        named = replace(
            one,
            name=FieldName(self.name(path)),
            currency_field=one.currency_field and self._name(bucket, one.currency_field),
            columns=tuple(self._field(column, path) for column in one.columns),
        )
        words = self.words.get(path)
        return named if words is None else replace(named, title=words.title, description="", synonyms=words.synonyms)

    def _name(self, bucket: str, name: FieldName) -> FieldName:
        return FieldName(self.name(f"{bucket}.{name}"))


def _words(name: str, title: str, *synonyms: str) -> Words:
    return Words(name=name, title=title, synonyms=synonyms)


ORIGINAL = Naming()
RENAMED = Naming(
    words={
        "receipts": _words("slips", "Till slips", "slips", "slip", "expense slips", "vouchers"),
        "receipts.date": _words("bought_on", "Bought on", "day of purchase", "bought on", "purchase day"),
        "receipts.vendor": _words("merchant", "Merchant", "merchant", "retailer", "seller"),
        "receipts.category": _words("expense_kind", "Expense kind", "kind of expense", "expense kind"),
        "receipts.currency": _words("money_unit", "Money unit", "money unit", "tender"),
        "receipts.total": _words("outlay", "Outlay", "outlay", "sum paid", "laid out", "cost"),
        "receipts.payment": _words("settled_with", "Settled with", "means of payment", "settled with"),
        "receipts.city": _words("town", "Town", "town", "place of purchase"),
        "receipts.reimbursed": _words("paid_back", "Paid back", "paid back", "refunded to the employee"),
        "receipts.items": _words("positions", "Positions", "positions", "position", "articles"),
        "receipts.items.name": _words("article", "Article", "article", "product"),
        "receipts.items.qty": _words("pieces", "Pieces", "pieces", "number of pieces"),
        "receipts.items.unit_price": _words("each", "Price for one", "price for one", "piece price"),
        "receipts.items.total": _words("row_sum", "Row sum", "row sum", "position sum"),
        "panels": _words("modules", "Photovoltaic modules", "modules", "module", "PV modules"),
        "panels.maker": _words("brand", "Brand", "brand", "built by"),
        "panels.model": _words("type_code", "Type code", "type code", "type designation"),
        "panels.width": _words("breadth", "Breadth", "breadth", "short side"),
        "panels.height": _words("long_side", "Long side", "long side", "tallness"),
        "panels.thickness": _words("depth", "Depth", "depth", "frame depth"),
        "panels.weight": _words("mass", "Mass", "mass", "heaviness"),
        "panels.power": _words("wattage", "Wattage", "wattage", "peak output"),
        "panels.efficiency": _words("yield_share", "Conversion yield", "conversion yield", "yield"),
        "panels.price": _words("list_cost", "List cost", "list cost", "tariff"),
        "panels.cell_type": _words("wafer", "Wafer", "wafer", "silicon kind"),
        "panels.warranty": _words("guarantee", "Guarantee", "guarantee", "guarantee period"),
        "panels.certificates": _words("approvals", "Approvals", "approvals", "approval", "approved to"),
        "manuals": _words("handbooks", "Handbooks", "handbooks", "handbook", "service books"),
        "manuals.product": _words("device", "Device", "device", "apparatus"),
        "manuals.equipment": _words("device_class", "Device class", "device class", "class of device"),
        "manuals.revised": _words("issued", "Issued", "issue day", "issued", "day of issue"),
        "manuals.capacity": _words("storage_energy", "Storage energy", "storage energy", "stored energy"),
        "manuals.voltage": _words("bus_level", "Bus level", "bus level", "system volts"),
        "manuals.weight": _words("heft", "Heft", "heft", "mass"),
        "manuals.outdoor": _words(
            "weatherproof", "Weatherproof", "weatherproof use", "weatherproof", "use in the open"
        ),
        "contracts": _words("deals", "Deals", "deals", "deal", "undertakings"),
        "contracts.parties": _words("signatories", "Signatories", "signatories", "signatory", "counterparty"),
        "contracts.kind": _words("deal_form", "Form of deal", "form of deal", "deal form"),
        "contracts.start_date": _words("in_force_from", "In force from", "commencement", "in force from", "commences"),
        "contracts.end_date": _words("lapses_on", "Lapses on", "lapse", "lapses on", "lapsing"),
        "contracts.notice_days": _words("quit_period", "Quit period", "quit period", "period to quit"),
        "contracts.governing_law": _words("jurisdiction", "Jurisdiction", "jurisdiction", "subject to the law of"),
        "contracts.currency": _words("denomination", "Denomination", "denomination", "denominated in"),
        "contracts.value": _words("volume", "Volume", "volume", "deal volume"),
        "contracts.clauses": _words("provisions", "Provisions", "provisions", "provision", "stipulation"),
        "contracts.auto_renewal": _words("rolls_over", "Rolls over", "rollover", "rolls over", "roll over"),
        "parts": _words("semiconductors", "Semiconductors", "semiconductors", "semiconductor", "switching devices"),
        "parts.polarity": _words("doping", "Doping", "doping", "conduction type"),
        "parts.maker": _words("fab", "Fab", "fab", "foundry"),
        "parts.package": _words("housing", "Housing", "housing", "outline"),
        "parts.voltage": _words("blocking_level", "Blocking level", "blocking level", "withstand level"),
        "parts.current": _words("load_rating", "Load rating", "load rating", "amperage"),
        "parts.power": _words("heat_budget", "Heat budget", "heat budget", "wattage"),
        "parts.frequency": _words("cutoff", "Cut-off", "cut-off", "unity gain point"),
        "parts.price": _words("piece_cost", "Piece cost", "piece cost", "cost of one"),
        "chemicals": _words("liquids", "Liquids and gases", "liquids", "liquid", "lab fluids"),
        "chemicals.family": _words("compound_class", "Compound class", "compound class", "class"),
        "chemicals.formula": _words("composition", "Composition", "composition", "sum formula"),
        "chemicals.cas": _words("registry_number", "Registry number", "registry number", "registry no"),
        "chemicals.boiling_point": _words("boils_at", "Boils at", "boiling temperature", "boils at"),
        "chemicals.flash_point": _words("ignites_at", "Ignites at", "ignition temperature", "ignites at"),
        "chemicals.density": _words("specific_mass", "Specific mass", "specific mass", "mass per volume"),
        "chemicals.hazards": _words("dangers", "Dangers", "dangers", "danger", "risk"),
        "chemicals.water_miscible": _words("dissolves", "Dissolves in water", "water soluble", "soluble in water"),
    }
)
