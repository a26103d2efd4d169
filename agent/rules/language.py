"""The closed words of English that give a question its form. No field, bucket or value of any corpus stands here."""

from storage.search.plan import Function, Period

STOP = frozenset(
    """a an the of in on at to for by from with and or but none as is are was were be been being do does did done have
    has had having it its this that these those there here i we you they he she me us them our your their my his her who
    whom what which when where why how much many any all every each some both either neither than then so such only
    just also can could will would shall should may might must about into onto over under out up down off s t re ve
    ll d m not no nor without please want need like get got give show list find tell let know see look display
    enumerate name return fetch bring one ones per if whose more most less least between during within against via
    etc""".split()
)
# Words that speak of asking and of having documents, and say nothing of which.
FILLER = frozenset(
    """document documents doc docs file files record records entry entries item items page pages thing things data
    database information info detail details available exist exists existing existed contain contains containing
    contained include includes including included mention mentions mentioning mentioned concerning regarding
    relating related found match matches matching matched say says said made make makes issued dated listed list
    lists everything anything something us our total number count amount value values kind kinds type types set
    overall altogether together currently ever still different whole entire complete full across among purchase
    purchases purchased buy buys bought pay paid pays spend spent spending come comes came go goes use uses used
    using recorded stored kept held following given certain called named titled hello hi hey thanks thank ok okay
    yes rated rating yet
    signed governed
    involve involves involved involving applies applied applicable filed classed classify classified categorise
    categorised categorized categorize tagged labelled labeled assigned belong belongs belonging pertain pertains
    pertaining occur occurred occurring happen happened specify specifies specified provided requires requiring needing
    covered featuring totalling totaling amounting costing housed packaged executed entered concluded created produced
    stocked considered described defined somebody someone anybody anyone currently presently actually really kindly
    interested looking searching asking wanted exactly precisely respectively pls plz please even ahead well
    else altogether roughly simply ever sort sorted""".split()
)
# Verbs that relate documents to what is said of them, where they stand as verbs; else words like any other.
RELATING = frozenset(
    """list lists listing state states stating cover covers covering feature features hold holds holding show shows
    showing bear bears bearing carry carries carrying cost costs coming sold order ordered orders received receive sent
    written drawn stock stocks keep keeps own owns owned deal deals dealing require need needs provide provides
    providing known worth subject want wants ask asks apply mark marked present run runs""".split()
)
# How companies call what they are, stemmed and not: no part of a name that is asked for without it.
LEGAL_FORMS = frozenset(
    """inc incorporated incorpor ltd limited limit llc llp lp corp corporation corpor co company compani plc gmbh ag kg
    sa sas sarl srl spa bv nv ab as oy sdn bhd pte pty""".split()
)
PRONOUNS = frozenset("i we you they he she it somebody someone anybody anyone".split())
# What a clause or part of a document is called: nothing beside a value that already names it, else a word of the text.
PARTS = frozenset(
    """clause clauses provision provisions section sections requirement requirements restriction restrictions condition
    conditions obligation obligations language term terms article articles paragraph paragraphs""".split()
)
# Words that order or except: never a thing that some value names among others.
ORDERING = frozenset("top bottom first last other others apart aside rather leaving single next least most".split())
RELATIVES = frozenset("that which who whose where".split())
DOCUMENT_NOUNS = frozenset("document documents doc docs file files record records entry entries everything".split())
LIST_VERBS = frozenset("list show find give display enumerate name return fetch bring get pull search".split())
ALL_WORDS = frozenset("all every each any which what whichever everything".split())
NEGATIONS = frozenset(
    """not no none neither without except excluding exclude excludes lacking lack lacks minus non never""".split()
)
COMPARATORS = frozenset(
    "above below under over exceeding exceed beyond at between before after since until least most minimum maximum"
    " more less than higher lower greater fewer".split()
)
PREPOSITIONS = frozenset(
    "in on at by for from with of to under over within as during into onto per via through against about".split()
)
NEGATION_PAIRS = frozenset(
    {("other", "than"), ("apart", "from"), ("aside", "from"), ("leaving", "out"), ("leave", "out"), ("rather", "than")}
)
CONTRACTED_NEGATIONS = frozenset("isn aren wasn weren don doesn didn hasn haven hadn won cannot".split())
LACK = frozenset("without no lacking lack lacks missing".split())
HAVE = frozenset("with has have having".split())
MISSING_AFTER = frozenset("missing unknown absent unspecified blank empty".split())
DISJUNCTIONS = frozenset({"or", "either"})
# What those are called who do something with a document: asked for by "who".
PEOPLE = frozenset(
    """person employee assignee agent owner author manager handler responsible member staff doctor physician teacher
    instructor lecturer driver editor reviewer requester reporter contact seller salesperson inspector auditor
    technician engineer lawyer attorney judge investigator analyst consultant clerk host guide trainer coach director
    artist composer writer photographer winner speaker sender""".split()
)
# Numbers of which the average is meant, where no function is named: their sum says nothing.
RATES = frozenset(
    """price rate rating score grade age salary wage temperature percentage percent efficiency ratio height width length
    depth size area weight speed voltage power density pressure year""".split()
)
ENDED = frozenset("expired lapsed ended ran run elapsed".split())  # what the day of an end compares with today by
GROUP_BEFORE = frozenset({"by", "per", "each", "every"})

FUNCTIONS: dict[tuple[str, ...], Function] = {
    ("how", "many"): Function.COUNT,
    ("number", "of"): Function.COUNT,
    ("count", "of"): Function.COUNT,
    ("count",): Function.COUNT,
    ("sum",): Function.SUM,
    ("total",): Function.SUM,
    ("totals",): Function.SUM,
    ("add", "up"): Function.SUM,
    ("how", "much"): Function.SUM,
    ("altogether",): Function.SUM,
    ("spend",): Function.SUM,
    ("spent",): Function.SUM,
    ("spending",): Function.SUM,
    ("average",): Function.AVERAGE,
    ("mean",): Function.AVERAGE,
    ("avg",): Function.AVERAGE,
    ("typical",): Function.AVERAGE,
    ("median",): Function.MEDIAN,
    ("minimum",): Function.MINIMUM,
    ("min",): Function.MINIMUM,
    ("lowest",): Function.MINIMUM,
    ("smallest",): Function.MINIMUM,
    ("least",): Function.MINIMUM,
    ("earliest",): Function.MINIMUM,
    ("oldest",): Function.MINIMUM,
    ("shortest",): Function.MINIMUM,
    ("narrowest",): Function.MINIMUM,
    ("cheapest",): Function.MINIMUM,
    ("lightest",): Function.MINIMUM,
    ("maximum",): Function.MAXIMUM,
    ("max",): Function.MAXIMUM,
    ("highest",): Function.MAXIMUM,
    ("largest",): Function.MAXIMUM,
    ("biggest",): Function.MAXIMUM,
    ("greatest",): Function.MAXIMUM,
    ("most", "expensive"): Function.MAXIMUM,
    ("most", "costly"): Function.MAXIMUM,
    ("least", "expensive"): Function.MINIMUM,
    ("costliest",): Function.MAXIMUM,
    ("priciest",): Function.MAXIMUM,
    ("dearest",): Function.MAXIMUM,
    ("latest",): Function.MAXIMUM,
    ("newest",): Function.MAXIMUM,
    ("longest",): Function.MAXIMUM,
    ("widest",): Function.MAXIMUM,
    ("tallest",): Function.MAXIMUM,
    ("heaviest",): Function.MAXIMUM,
    ("most", "recent"): Function.MAXIMUM,
    ("most", "powerful"): Function.MAXIMUM,
    ("strongest",): Function.MAXIMUM,
    ("best", "rated"): Function.MAXIMUM,
    ("top", "rated"): Function.MAXIMUM,
    ("highest", "rated"): Function.MAXIMUM,
    ("worst", "rated"): Function.MINIMUM,
    ("lowest", "rated"): Function.MINIMUM,
    ("least", "powerful"): Function.MINIMUM,
}
FUNCTION_WORDS = frozenset(word for words in FUNCTIONS for word in words)
SUPERLATIVES = frozenset(
    words for words, function in FUNCTIONS.items() if function in (Function.MINIMUM, Function.MAXIMUM)
)
# An adjective of measure, and the noun by which a field of that measure may be called.
MEASURES = {
    "wide": "width", "wider": "width", "widest": "width", "narrow": "width", "narrower": "width", "narrowest": "width",
    "high": "height", "tall": "height", "taller": "height", "tallest": "height",
    "long": "length", "longer": "length", "longest": "length", "short": "length", "shorter": "length",
    "shortest": "length", "deep": "depth", "deeper": "depth", "deepest": "depth",
    "heavy": "weight", "heavier": "weight", "heaviest": "weight", "light": "weight", "lighter": "weight",
    "lightest": "weight", "weigh": "weight", "weighs": "weight", "weighing": "weight",
    "cost": "price", "costs": "price", "costing": "price", "cheap": "price", "cheaper": "price", "cheapest": "price",
    "powerful": "power", "strong": "power", "stronger": "power", "strongest": "power",
    "expensive": "price", "priced": "price", "efficient": "efficiency", "dense": "density", "denser": "density",
    "boil": "boiling point", "boils": "boiling point", "boiling": "boiling point",
    "melt": "melting point", "melts": "melting point", "melting": "melting point",
    "flash": "flash point", "flashes": "flash point", "rated": "rating",
}  # fmt: skip
# What is measured, and a unit it is measured in.
DIMENSIONS = {
    "voltage": "volt", "current": "ampere", "amperage": "ampere", "power": "watt", "wattage": "watt",
    "resistance": "ohm", "capacitance": "farad", "inductance": "henry", "frequency": "hertz", "energy": "joule",
    "temperature": "celsius", "pressure": "pascal", "force": "newton", "weight": "kilogram", "mass": "kilogram",
    "length": "meter", "width": "meter", "height": "meter", "depth": "meter", "diameter": "meter", "distance": "meter",
    "thickness": "meter", "area": "meter**2", "volume": "liter", "capacity": "liter", "speed": "meter/second",
    "duration": "day", "angle": "degree",
}  # fmt: skip
# "How long", and units that may measure it, the likeliest first.
HOW_MEASURED = {
    "long": ("minute", "meter"), "far": ("meter",), "tall": ("meter",), "high": ("meter",), "wide": ("meter",),
    "deep": ("meter",), "thick": ("meter",), "heavy": ("kilogram",), "hot": ("celsius",), "warm": ("celsius",),
    "cold": ("celsius",), "fast": ("kilometer/hour",), "big": ("meter**2",), "large": ("meter**2",),
}  # fmt: skip
# Superlatives without a noun beside them, and units of what they order, the likeliest first.
ORDERED_IN = {
    "longest": ("meter", "minute"), "shortest": ("meter", "minute"), "biggest": ("meter**2",), "largest": ("meter**2",),
    "smallest": ("meter**2",), "widest": ("meter",), "narrowest": ("meter",), "tallest": ("meter",),
    "heaviest": ("kilogram",), "lightest": ("kilogram",), "powerful": ("watt",),
}  # fmt: skip
# Which way something goes: words before a place, and what fields of such places are called.
FROM = frozenset("from departing leaving starting out".split())
TO = frozenset("to into towards toward arriving reaching bound heading".split())
ORIGINS = frozenset("origin from source departure start sender exporter departing".split())
DESTINATIONS = frozenset("destination to target arrival end recipient receiver importer arriving".split())
SMALL_NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
}  # fmt: skip
OF_DAYS = frozenset("""earliest oldest latest newest recent date dated day when before after since until""".split())
OF_MONEY = frozenset(
    """cheapest costliest priciest dearest costly expensive cheaper spend spent cost costs price paid pay worth
    money""".split()
)
PERIODS = {
    "year": Period.YEAR, "years": Period.YEAR, "yearly": Period.YEAR, "annual": Period.YEAR, "annually": Period.YEAR,
    "quarter": Period.QUARTER, "quarters": Period.QUARTER, "quarterly": Period.QUARTER,
    "month": Period.MONTH, "months": Period.MONTH, "monthly": Period.MONTH,
    "day": Period.DAY, "days": Period.DAY, "daily": Period.DAY,
}  # fmt: skip
BREAKDOWNS = frozenset("break breakdown split distribution distributed grouped group".split())
SPENDING = frozenset("spending spendings expenses expense expenditure expenditures outlay outlays".split())
APART = frozenset("different distinct unique separate individual various".split())  # values, each counted once
SUMMARISE = frozenset("summarise summarize summary summaries overview gist outline".split())
QUESTION_WORDS = frozenset("what which when where who whom whose how why".split())
YES_NO = frozenset("is are was were do does did has have can could will would should must may".split())
EXPORT = frozenset("export download csv spreadsheet".split())
POINTERS = frozenset("them those these they it that this ones same all results everything".split())
FOLLOW_UP_STARTS = (
    ("only",), ("just",), ("and",), ("but",), ("also",), ("what", "about"), ("how", "about"), ("now",), ("of", "those"),
    ("of", "these"), ("of", "them"), ("among", "them"), ("narrow",), ("limit",), ("restrict",),
)  # fmt: skip
START_OVER = (
    ("start", "over"), ("start", "again"), ("new", "topic"), ("reset",), ("forget", "it"), ("forget", "that"),
    ("never", "mind"),
)  # fmt: skip
