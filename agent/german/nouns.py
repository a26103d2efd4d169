"""German forms of nouns for documents. The nouns are data of the schemas, so only regular forms can be derived."""

from storage.search.analyser import fold_text


def german_forms_of(singular: str, regular_plural: str, label: str) -> tuple[str, str]:
    """Returns singular and plural, capitalised.

    The bucket's label is taken as the plural if it begins like the singular: `Rechnung`, `Rechnungen`; `Vertrag`,
    `Verträge`. Otherwise the noun is taken for an English one.
    """
    plural = label if fold_text(label).startswith(fold_text(singular)) else regular_plural
    return _capitalize_noun(singular), _capitalize_noun(plural)


def dative_plural_of(plural: str) -> str:
    """ "Verträge" → "Verträgen": only a plural in -e, -el or -er has an ending of its own (Duden, Grammatik)."""
    return f"{plural}n" if plural.endswith(("e", "el", "er")) else plural


def _capitalize_noun(noun: str) -> str:
    return noun[:1].upper() + noun[1:]
