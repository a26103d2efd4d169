"""Other names for every bucket, field and column of the demo."""

from bot.demo.naming import CorpusNaming, SchemaLabels


def _schema_labels_for(name: str, title: str, *synonyms: str) -> SchemaLabels:
    return SchemaLabels(name=name, title=title, synonyms=synonyms)


ALTERNATIVE_NAMING = CorpusNaming(
    labels_by_path={
        "receipts": _schema_labels_for("slips", "Till slips", "slips", "slip", "expense slips", "vouchers"),
        "receipts.date": _schema_labels_for("bought_on", "Bought on", "day of purchase", "bought on", "purchase day"),
        "receipts.vendor": _schema_labels_for("merchant", "Merchant", "merchant", "retailer", "seller"),
        "receipts.category": _schema_labels_for("expense_kind", "Expense kind", "kind of expense", "expense kind"),
        "receipts.currency": _schema_labels_for("money_unit", "Money unit", "money unit", "tender"),
        "receipts.total": _schema_labels_for("outlay", "Outlay", "outlay", "sum paid", "laid out", "cost"),
        "receipts.payment": _schema_labels_for("settled_with", "Settled with", "means of payment", "settled with"),
        "receipts.city": _schema_labels_for("town", "Town", "town", "place of purchase"),
        "receipts.reimbursed": _schema_labels_for("paid_back", "Paid back", "paid back", "refunded to the employee"),
        "receipts.items": _schema_labels_for("positions", "Positions", "positions", "position", "articles"),
        "receipts.items.name": _schema_labels_for("article", "Article", "article", "product"),
        "receipts.items.qty": _schema_labels_for("pieces", "Pieces", "pieces", "number of pieces"),
        "receipts.items.unit_price": _schema_labels_for("each", "Price for one", "price for one", "piece price"),
        "receipts.items.total": _schema_labels_for("row_sum", "Row sum", "row sum", "position sum"),
        "panels": _schema_labels_for("modules", "Photovoltaic modules", "modules", "module", "PV modules"),
        "panels.maker": _schema_labels_for("brand", "Brand", "brand", "built by"),
        "panels.model": _schema_labels_for("type_code", "Type code", "type code", "type designation"),
        "panels.width": _schema_labels_for("breadth", "Breadth", "breadth", "short side"),
        "panels.height": _schema_labels_for("long_side", "Long side", "long side", "tallness"),
        "panels.thickness": _schema_labels_for("depth", "Depth", "depth", "frame depth"),
        "panels.weight": _schema_labels_for("mass", "Mass", "mass", "heaviness"),
        "panels.power": _schema_labels_for("wattage", "Wattage", "wattage", "peak output"),
        "panels.efficiency": _schema_labels_for("yield_share", "Conversion yield", "conversion yield", "yield"),
        "panels.price": _schema_labels_for("list_cost", "List cost", "list cost", "tariff"),
        "panels.cell_type": _schema_labels_for("wafer", "Wafer", "wafer", "silicon kind"),
        "panels.warranty": _schema_labels_for("guarantee", "Guarantee", "guarantee", "guarantee period"),
        "panels.certificates": _schema_labels_for("approvals", "Approvals", "approvals", "approval", "approved to"),
        "manuals": _schema_labels_for("handbooks", "Handbooks", "handbooks", "handbook", "service books"),
        "manuals.product": _schema_labels_for("device", "Device", "device", "apparatus"),
        "manuals.equipment": _schema_labels_for("device_class", "Device class", "device class", "class of device"),
        "manuals.revised": _schema_labels_for("issued", "Issued", "issue day", "issued", "day of issue"),
        "manuals.capacity": _schema_labels_for("storage_energy", "Storage energy", "storage energy", "stored energy"),
        "manuals.voltage": _schema_labels_for("bus_level", "Bus level", "bus level", "system volts"),
        "manuals.weight": _schema_labels_for("heft", "Heft", "heft", "mass"),
        "manuals.outdoor": _schema_labels_for(
            "weatherproof", "Weatherproof", "weatherproof use", "weatherproof", "use in the open"
        ),
        "contracts": _schema_labels_for("deals", "Deals", "deals", "deal", "undertakings"),
        "contracts.parties": _schema_labels_for(
            "signatories", "Signatories", "signatories", "signatory", "counterparty"
        ),
        "contracts.kind": _schema_labels_for("deal_form", "Form of deal", "form of deal", "deal form"),
        "contracts.start_date": _schema_labels_for(
            "in_force_from", "In force from", "commencement", "in force from", "commences"
        ),
        "contracts.end_date": _schema_labels_for("lapses_on", "Lapses on", "lapse", "lapses on", "lapsing"),
        "contracts.notice_days": _schema_labels_for("quit_period", "Quit period", "quit period", "period to quit"),
        "contracts.governing_law": _schema_labels_for(
            "jurisdiction", "Jurisdiction", "jurisdiction", "subject to the law of"
        ),
        "contracts.currency": _schema_labels_for("denomination", "Denomination", "denomination", "denominated in"),
        "contracts.value": _schema_labels_for("volume", "Volume", "volume", "deal volume"),
        "contracts.clauses": _schema_labels_for("provisions", "Provisions", "provisions", "provision", "stipulation"),
        "contracts.auto_renewal": _schema_labels_for("rolls_over", "Rolls over", "rollover", "rolls over", "roll over"),
        "parts": _schema_labels_for(
            "semiconductors", "Semiconductors", "semiconductors", "semiconductor", "switching devices"
        ),
        "parts.polarity": _schema_labels_for("doping", "Doping", "doping", "conduction type"),
        "parts.maker": _schema_labels_for("fab", "Fab", "fab", "foundry"),
        "parts.package": _schema_labels_for("housing", "Housing", "housing", "outline"),
        "parts.voltage": _schema_labels_for("blocking_level", "Blocking level", "blocking level", "withstand level"),
        "parts.current": _schema_labels_for("load_rating", "Load rating", "load rating", "amperage"),
        "parts.power": _schema_labels_for("heat_budget", "Heat budget", "heat budget", "wattage"),
        "parts.frequency": _schema_labels_for("cutoff", "Cut-off", "cut-off", "unity gain point"),
        "parts.price": _schema_labels_for("piece_cost", "Piece cost", "piece cost", "cost of one"),
        "chemicals": _schema_labels_for("liquids", "Liquids and gases", "liquids", "liquid", "lab fluids"),
        "chemicals.family": _schema_labels_for("compound_class", "Compound class", "compound class", "class"),
        "chemicals.formula": _schema_labels_for("composition", "Composition", "composition", "sum formula"),
        "chemicals.cas": _schema_labels_for("registry_number", "Registry number", "registry number", "registry no"),
        "chemicals.boiling_point": _schema_labels_for("boils_at", "Boils at", "boiling temperature", "boils at"),
        "chemicals.flash_point": _schema_labels_for("ignites_at", "Ignites at", "ignition temperature", "ignites at"),
        "chemicals.density": _schema_labels_for("specific_mass", "Specific mass", "specific mass", "mass per volume"),
        "chemicals.hazards": _schema_labels_for("dangers", "Dangers", "dangers", "danger", "risk"),
        "chemicals.water_miscible": _schema_labels_for(
            "dissolves", "Dissolves in water", "water soluble", "soluble in water"
        ),
    }
)
