"""Closed word classes of English that give a question its form. No field, bucket or value of a corpus is here."""

from storage.quantities.spelled_numbers import NUMBERS_BY_WORD, ORDINALS_BY_WORD
from storage.search.plan import AggregateFunction, CalendarPeriod

STOP_WORDS = frozenset(
    """a an the of in on at to for by from with and or but none as is are was were be been being do does did done have
    has had having it its this that these those there here i we you they he she me us them our your their my his her who
    whom what which when where why how much many any all every each some both either neither than then so such only
    just also can could will would shall should may might must about into onto over under out up down off s t re ve
    ll d m not no nor without please want need like get got give show list find tell let know see look display
    enumerate name return fetch bring one ones per if whose more most less least between during within against via
    etc""".split()
)
# They say how sure, how surprised or how polite the asker is, or stand for a person; they restrict no documents.
EMPTY_WORDS = frozenset(
    """actually afterwards again along already although altogether always anybody anyhow anymore anyone
    anyway anyways anywhere around apparently approximately basically because beforehand behind besides
    briefly certainly clearly definitely else ensure especially essentially even ever everybody everyone
    everywhere evidently exact exactly fairly forth forward frankly fully furthermore generally gonna gotta guess hardly
    hence herself himself honestly hopefully however incidentally indeed instead itself just kinda likewise
    literally mainly maybe mean meanwhile merely moreover mostly myself namely naturally nearly necessarily notably
    obviously okay only ought ourselves overall perhaps personally please plus precisely presumably probably properly
    purely quickly quite rather readily really respectively roughly seem seemed seems simply somebody somehow someone
    sometime somewhat somewhere soon sorry sorta specifically straight strictly supposed supposedly surely themselves
    thereby therefore tho though through throughout thru thus together told too towards truly typically upon usually
    very via wanna well whatever whatsoever whenever whereas wherever whether whichever whilst whoever whomever wonder
    wondering yeah yep yet yourself""".split()
)
# Words of any talk. That no document holds one of them tells nothing.
EVERYDAY_WORDS = frozenset(
    """able actually again ago ahead almost already although always another anybody anyone anywhere around away back
    bad because before behind best better big bit both bring busy call care case cause change close day doing early
    easy else enough even ever everybody everyone everywhere far fast feel few fine first going gone good got great
    guy half happy hard home hope idea instead keep kept kind lady last late later leave left little long look lot
    man maybe mean meanwhile moment more morning most move near never new next nice nobody now nowadays often old
    once open other ours own part people perhaps person place point possible pretty probably put quick quickly quite
    rather ready real really reason right round run runs same saw second see seem send sent several short side simple
    since sit sitting small somebody someone something sometimes somewhere soon sorry sort stand start stay still stop
    sure take taken tell thank think thought time today together told tomorrow took try turn two until usually wait
    way week well went while whoever whole woman wonder word work world worth wrong year yesterday""".split()
)
# Words about asking for documents and having them; they do not tell which documents are meant.
FILLER_WORDS = frozenset(
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
    employ employs employing
    else altogether roughly simply ever sort sorted already nearly anywhere somewhere obviously maybe perhaps probably
    completely entirely wholly totally fully absolutely
    send sends sending sent hand handed
    basically counting too around throughout everywhere wherever marked flagged single""".split()
)
# Verbs that relate documents to their values. In another position they are ordinary words.
RELATING_VERBS = frozenset(
    """list lists listing state states stating cover covers covering feature features hold holds holding show shows
    showing bear bears bearing carry carries carrying cost costs coming sold order ordered orders received receive sent
    written drawn stock stocks keep keeps own owns owned deal deals dealing require need needs provide provides
    providing known worth subject want wants ask asks apply mark marked present run runs""".split()
)
# Legal forms of companies, stemmed and unstemmed. A name may be given without its legal form.
LEGAL_FORMS = frozenset(
    """inc incorporated incorpor ltd limited limit llc llp lp corp corporation corpor co company compani plc gmbh ag kg
    sa sas sarl srl spa bv nv ab as oy sdn bhd pte pty""".split()
)
# Pronouns that stand for one person.
PRONOUNS_OF_PERSONS = frozenset("he she him her his hers".split())
PRONOUNS = frozenset("i we you they he she it somebody someone anybody anyone".split())
# Nouns for parts of a document. Beside a value that names the part they add nothing; else they are words of the text.
DOCUMENT_PART_NOUNS = frozenset(
    """clause clauses provision provisions section sections requirement requirements restriction restrictions condition
    conditions obligation obligations language term terms article articles paragraph paragraphs""".split()
)
# Words of order and exception. They never point at a value that contains them among other words.
ORDERING_WORDS = frozenset(
    "top bottom first last other others apart aside rather leaving single next least most".split()
)
FORMS_OF_BE = frozenset("is are was were be been being".split())
MODAL_VERBS = frozenset("can could may might must will would shall should".split())
LINKING_VERBS = FORMS_OF_BE | frozenset("has have had does do did gets get got".split())
# Words that put documents in the order of their days.
DAY_ORDER_WORDS = frozenset("recently recent latest earliest last first lately newest".split())
SORT_WORDS = frozenset("sort sorted order ordered rank ranked arrange arranged".split())
AMOUNT_SUPERLATIVES = frozenset({"most", "fewest", "least"})  # they need a noun: "the most visits"
WIDENING_WORDS = frozenset("also too include including add plus".split())  # a follow-up with one of them adds documents
RELATIVE_PRONOUNS = frozenset("that which who whose where".split())
DOCUMENT_NOUNS = frozenset("document documents doc docs file files record records entry entries everything".split())
# Kinds of writing, in the plural: who asks for them wants them all, and no sentence of one of them.
KINDS_OF_WRITING = frozenset(
    """documents docs files records letters emails mails messages reports notes memos minutes protocols contracts
    agreements policies certificates surveys reviews articles papers pages manuals guides invoices receipts statements
    complaints applications""".split()
)
LIST_VERBS = frozenset("list show find give display enumerate name return fetch bring get pull search".split())
# Verbs that open a request; before a noun without an article they are not participles or adjectives.
REQUEST_VERBS = LIST_VERBS | frozenset(
    """compile collect gather grab dump print produce provide prepare generate extract fetch run dig pull draw
    put send hand share make write create retrieve locate identify check count""".split()
)
# Nouns for a list or a file. "A list of the open jobs" asks for the jobs.
CONTAINER_NOUNS = frozenset(
    """list lists listing sheet spreadsheet table tables file overview summary rundown roster inventory set collection
    copy copies export report breakdown csv names record records details number count rest""".split()
)
# Nouns for what keeps entries. "The jobs *in the lab book*" are the jobs.
KEEPING_NOUNS = frozenset(
    """book log register sheet list listing diary system file ledger tracker spreadsheet database table calendar planner
    logbook inventory roster catalogue catalog index""".split()
)
# Nouns for what tells an entry from the others: "stock *codes*", "job *numbers*".
IDENTIFYING_NOUNS = frozenset(
    "code codes number numbers no nos reference references ref refs id ids identifier identifiers".split()
)
# Words before what the text must hold: "letters *about* noise".
MENTION_WORDS = frozenset(
    """about mention mentions mentioning mentioned contain contains containing include includes including regarding
    concerning named called titled saying with""".split()
)
# Nouns for people in general. They name the documents of a bucket of people, and no kind of people.
PEOPLE_NOUNS = frozenset("people persons person folk folks guys guy somebody someone anybody anyone".split())
MEMBER_NOUNS = frozenset({"member", "members"})  # "a member of staff"
# Nouns that stand for any document, whatever it is about: "the *ones* from May", "in how many *cases*".
GENERIC_NOUNS = frozenset(
    """thing things stuff item items one ones case cases times lot record records entry entries document documents file
    files doc docs""".split()
)
# Verbs that say only that somebody has the documents: "the coins that we *hold*".
HAVING_VERBS = frozenset(
    """hold holds held own owns owned keep keeps kept store stores stored possess possesses possessed run runs operate
    operates carry carries employ employs manage manages handle handles offer offers maintain maintains""".split()
)
# Verbs after "where" that ask for the place of a thing; nobody is asked for: "where are the keys *kept*".
KEEPING_VERBS = frozenset(
    """keep keeps kept store stores stored stow stowed hold held put live lives sit sits stand stands hang hangs
    located stashed""".split()
)
# Verbs after "where" that ask of whom a thing comes.
ACQUIRING_VERBS = frozenset(
    "buy buys bought get gets got order orders ordered purchase purchased source sourced".split()
)
# "Throughout the *house*": words before a place that leaves out nothing.
EVERYWHERE_WORDS = frozenset("anywhere somewhere everywhere throughout wherever".split())
# They leave out what is over, where documents have a date for their end.
PRESENT_WORDS = frozenset("currently presently now still nowadays".split())
VAGUE_ADJECTIVES = frozenset(
    """relevant pertinent applicable various respective individual actual corresponding specific particular possible
    remaining suitable appropriate nice main typical usual common similar there own single complete entire real proper
    precise exact certain""".split()
)
QUANTIFIERS = frozenset("all every each any which what whichever everything".split())
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
OWING_WORDS = frozenset("owe owes owed owing".split())
NEGATION_PAIRS = frozenset(
    {("other", "than"), ("apart", "from"), ("aside", "from"), ("leaving", "out"), ("leave", "out"), ("rather", "than")}
)
CONTRACTED_NEGATIONS = frozenset("isn aren wasn weren don doesn didn hasn haven hadn won cannot".split())
LACK_WORDS = frozenset("without no lacking lack lacks missing".split())
HAVE_WORDS = frozenset("with has have having".split())
MISSING_ADJECTIVES = frozenset("missing unknown absent unspecified blank empty".split())
DISJUNCTIONS = frozenset({"or", "either"})
# Nouns for rates: without a named function the average is meant, since their sum has no meaning.
RATE_NOUNS = frozenset(
    """price rate rating score grade age salary wage temperature percentage percent efficiency ratio height width length
    depth size area weight speed voltage power density pressure year""".split()
)
ENDED_WORDS = frozenset("expired lapsed ended ran run elapsed".split())  # they compare an end date with today
GROUPING_WORDS = frozenset({"by", "per", "each", "every"})

AGGREGATE_PHRASES: dict[tuple[str, ...], AggregateFunction] = {
    ("how", "many"): AggregateFunction.COUNT,
    ("number", "of"): AggregateFunction.COUNT,
    ("count", "of"): AggregateFunction.COUNT,
    ("count",): AggregateFunction.COUNT,
    ("headcount",): AggregateFunction.COUNT,
    ("tally",): AggregateFunction.COUNT,
    ("sum",): AggregateFunction.SUM,
    ("total",): AggregateFunction.SUM,
    ("totals",): AggregateFunction.SUM,
    ("add", "up"): AggregateFunction.SUM,
    ("how", "much"): AggregateFunction.SUM,
    ("altogether",): AggregateFunction.SUM,
    ("spend",): AggregateFunction.SUM,
    ("spent",): AggregateFunction.SUM,
    ("spending",): AggregateFunction.SUM,
    ("average",): AggregateFunction.AVERAGE,
    ("mean",): AggregateFunction.AVERAGE,
    ("avg",): AggregateFunction.AVERAGE,
    ("typical",): AggregateFunction.AVERAGE,
    ("median",): AggregateFunction.MEDIAN,
    ("minimum",): AggregateFunction.MINIMUM,
    ("min",): AggregateFunction.MINIMUM,
    ("lowest",): AggregateFunction.MINIMUM,
    ("smallest",): AggregateFunction.MINIMUM,
    ("least",): AggregateFunction.MINIMUM,
    ("earliest",): AggregateFunction.MINIMUM,
    ("oldest",): AggregateFunction.MINIMUM,
    ("shortest",): AggregateFunction.MINIMUM,
    ("narrowest",): AggregateFunction.MINIMUM,
    ("cheapest",): AggregateFunction.MINIMUM,
    ("lightest",): AggregateFunction.MINIMUM,
    ("maximum",): AggregateFunction.MAXIMUM,
    ("max",): AggregateFunction.MAXIMUM,
    ("highest",): AggregateFunction.MAXIMUM,
    ("largest",): AggregateFunction.MAXIMUM,
    ("biggest",): AggregateFunction.MAXIMUM,
    ("greatest",): AggregateFunction.MAXIMUM,
    ("most", "expensive"): AggregateFunction.MAXIMUM,
    ("most", "costly"): AggregateFunction.MAXIMUM,
    ("least", "expensive"): AggregateFunction.MINIMUM,
    ("costliest",): AggregateFunction.MAXIMUM,
    ("priciest",): AggregateFunction.MAXIMUM,
    ("dearest",): AggregateFunction.MAXIMUM,
    ("latest",): AggregateFunction.MAXIMUM,
    ("newest",): AggregateFunction.MAXIMUM,
    ("longest",): AggregateFunction.MAXIMUM,
    ("widest",): AggregateFunction.MAXIMUM,
    ("tallest",): AggregateFunction.MAXIMUM,
    ("heaviest",): AggregateFunction.MAXIMUM,
    ("most", "recent"): AggregateFunction.MAXIMUM,
    ("most", "powerful"): AggregateFunction.MAXIMUM,
    ("strongest",): AggregateFunction.MAXIMUM,
    ("best", "rated"): AggregateFunction.MAXIMUM,
    ("top", "rated"): AggregateFunction.MAXIMUM,
    ("highest", "rated"): AggregateFunction.MAXIMUM,
    ("worst", "rated"): AggregateFunction.MINIMUM,
    ("lowest", "rated"): AggregateFunction.MINIMUM,
    ("least", "powerful"): AggregateFunction.MINIMUM,
}
AGGREGATE_WORDS = frozenset(word for words in AGGREGATE_PHRASES for word in words)
# They ask for a sum, but beside other words they mean something else: "taken", "combined".
SUMMING_PHRASES = frozenset({
    ("combined",), ("put", "together"), ("taken", "together"), ("added", "together"), ("added", "up"),
    ("adding", "up"), ("summed", "up"), ("all", "told"), ("in", "sum"), ("set", "us"), ("setting", "us"),
})  # fmt: skip
SUPERLATIVE_PHRASES = frozenset(
    words
    for words, function in AGGREGATE_PHRASES.items()
    if function in (AggregateFunction.MINIMUM, AggregateFunction.MAXIMUM)
)
# A word for a measure, and the noun that may name a field of this measure.
MEASURE_NOUNS = {
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
# A dimension, and a unit of it.
DIMENSION_UNITS = {
    "voltage": "volt", "current": "ampere", "amperage": "ampere", "power": "watt", "wattage": "watt",
    "resistance": "ohm", "capacitance": "farad", "inductance": "henry", "frequency": "hertz", "energy": "joule",
    "temperature": "celsius", "pressure": "pascal", "force": "newton", "weight": "kilogram", "mass": "kilogram",
    "length": "meter", "width": "meter", "height": "meter", "depth": "meter", "diameter": "meter", "distance": "meter",
    "thickness": "meter", "area": "meter**2", "volume": "liter", "capacity": "liter", "speed": "meter/second",
    "duration": "day", "angle": "degree",
}  # fmt: skip
# The word after "how", and units that may answer it, the likeliest first.
HOW_QUESTION_UNITS = {
    "long": ("minute", "meter"), "far": ("meter",), "tall": ("meter",), "high": ("meter",), "wide": ("meter",),
    "deep": ("meter",), "thick": ("meter",), "heavy": ("kilogram",), "hot": ("celsius",), "warm": ("celsius",),
    "cold": ("celsius",), "fast": ("kilometer/hour",), "big": ("meter**2",), "large": ("meter**2",),
}  # fmt: skip
# Direction: words before a place, and words in the names of fields for such places.
DEPARTURE_WORDS = frozenset("from departing leaving starting out".split())
ARRIVAL_WORDS = frozenset("to into towards toward arriving reaching bound heading".split())
ORIGIN_FIELD_WORDS = frozenset("origin from source departure start sender exporter departing".split())
DESTINATION_FIELD_WORDS = frozenset("destination to target arrival end recipient receiver importer arriving".split())
SMALL_NUMBERS = {word: number for word, number in NUMBERS_BY_WORD.items() if number}
_ORDINALS_IN_DIGITS = {1: "1st", 2: "2nd", 3: "3rd"}
# Ranks up to ten, in words and in digits.
ORDINALS = {word: rank for word, rank in ORDINALS_BY_WORD.items() if rank <= 10} | {
    _ORDINALS_IN_DIGITS.get(rank, f"{rank}th"): rank for rank in range(1, 11)
}
DAY_WORDS = frozenset("""earliest oldest latest newest recent date dated day when before after since until""".split())
MONEY_WORDS = frozenset(
    """cheapest costliest priciest dearest costly expensive cheaper spend spent cost costs price paid pay worth
    money""".split()
)
PERIOD_WORDS = {
    "year": CalendarPeriod.YEAR, "years": CalendarPeriod.YEAR, "yearly": CalendarPeriod.YEAR,
    "annual": CalendarPeriod.YEAR, "annually": CalendarPeriod.YEAR,
    "quarter": CalendarPeriod.QUARTER, "quarters": CalendarPeriod.QUARTER, "quarterly": CalendarPeriod.QUARTER,
    "month": CalendarPeriod.MONTH, "months": CalendarPeriod.MONTH, "monthly": CalendarPeriod.MONTH,
    "day": CalendarPeriod.DAY, "days": CalendarPeriod.DAY, "daily": CalendarPeriod.DAY,
}  # fmt: skip
BREAKDOWN_WORDS = frozenset(
    "break broken breakdown split divided distribution distributed grouped group itemised itemized".split()
)
SPENDING_NOUNS = frozenset("spending spendings expenses expense expenditure expenditures outlay outlays".split())
DISTINCT_WORDS = frozenset("different distinct unique separate individual various".split())  # each value counts once
# Participles after "longest": how long something has been there.
LASTING_VERBS = frozenset("serving standing running lasting lived living established held owned longest".split())
SUMMARY_WORDS = frozenset("summarise summarize summary summaries overview gist outline".split())
QUESTION_WORDS = frozenset("what which when where who whom whose how why".split())
YES_NO_VERBS = frozenset("is are was were do does did has have can could will would should must may".split())
EXPORT_WORDS = frozenset("export download csv spreadsheet".split())
REFERRING_WORDS = frozenset("them those these they it that this ones same all results everything".split())
FOLLOW_UP_STARTS = (
    ("only",), ("just",), ("and",), ("but",), ("also",), ("what", "about"), ("how", "about"), ("now",), ("of", "those"),
    ("of", "these"), ("of", "them"), ("among", "them"), ("narrow",), ("limit",), ("restrict",),
)  # fmt: skip
START_OVER_PHRASES = (
    ("start", "over"), ("start", "again"), ("new", "topic"), ("reset",), ("forget", "it"), ("forget", "that"),
    ("never", "mind"),
)  # fmt: skip
# Words of a chat that stand for another word, if the documents do not use them.
NUMBER_NOUN = "number"
SHORT_FORMS = {
    "nr": NUMBER_NOUN, "qty": "quantity", "amt": "amount", "avg": "average", "approx": "about", "yr": "year",
    "yrs": "years", "mth": "month", "mths": "months", "dept": "department", "depts": "departments", "mgr":
    "manager", "mgrs": "managers", "ur": "your", "ppl": "people", "abt": "about", "wich": "which", "whcih":
    "which", "hwo": "how", "hw": "how", "waht": "what", "wat": "what", "teh": "the", "adn": "and", "mnay":
    "many", "amny": "many", "howmany": "how many", "bc": "because", "cuz": "because", "coz": "because", "cos":
    "because", "tmrw": "tomorrow", "addr": "address",
}  # fmt: skip
# A message's words of courtesy. They carry nothing wherever they appear.
COURTESY_WORDS = frozenset(
    """pls plz please thx thnx thanks ta tia ty cheers asap btw fyi lol haha hmm hm um umm uh er oops
    afaik imo tbh""".split()
)
GREETING_WORDS = frozenset("hi hello hey hiya heya howdy yo greetings dear morning afternoon evening gday".split())
ADDRESSEES = frozenset(
    "all team folks everyone everybody guys people there colleagues both friend friends mate bot gang".split()
)
# Words about the asker and the asking. A clause of these and of function words carries nothing.
ASKING_WORDS = frozenset(
    """am 'm im wondering wonder wondered curious sure unsure certain think thinking guess suppose sorry apologies
    excuse quick quickly short small question questions q qs ask asks asked asking query thing things sec second
    seconds minute minutes moment chance possible possibly maybe perhaps time rush hurry urgent urgently soon
    today help favour favor hand great good nice lovely super awesome perfect brilliant helpful useful
    appreciated appreciate grateful advance lot much happy hope hoping day week weekend again back mind bother
    bothering trouble idea know remember forgot forget check checking really very two three few couple try
    trying first next another ok okay right anyway well so oh ah while when whenever get got free sense makes
    start begin begins""".split()
)
