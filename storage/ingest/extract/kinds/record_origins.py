"""Fields that say where a record stands: in which folders its file is, in which sheet its row is, and of what kind it
is where its table says so.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from itertools import combinations
from pathlib import PurePosixPath

from storage.ingest.extract.kinds.kind_phrases import folder_names_of
from storage.ingest.extract.kinds.kind_reader import KindReader
from storage.ingest.records import RecordOrigin
from storage.ingest.schemas.sheet_names import is_default_sheet_name
from storage.search.documents import FieldValue
from storage.search.ids import FieldName
from storage.search.schema import FieldOrigin, FieldType, Schema, SchemaField

_FOLDER_NAME, _SHEET_NAME = FieldName("folder"), FieldName("sheet")
_ROW_FORMATS = (".csv", ".xlsx")
_LINE_FORMATS = (".jsonl", ".jsonl.gz")  # whose records have metadata of their own
_MIN_DOCUMENTS_OF_FOLDER = 2  # on average; fewer, and a folder is only another name of a document
_MAX_FOLDERS = 200
_MAX_COMPARED_TABLES = 50
_MIN_SHARED_COLUMNS = 0.5  # of all columns of two tables; of fewer, they hold different things
_SENTENCES_OF_FOLDER = {"en": "is in the folder {value}"}
_SENTENCES_OF_SHEET = {"en": "is in the sheet {value}"}
_FOLDER_SYNONYMS = ("folder name", "directory", "subfolder", "ordner", "dossier", "carpeta")
_SHEET_SYNONYMS = ("sheet name", "worksheet", "tab", "tabellenblatt", "arbeitsblatt", "feuille", "hoja")


def is_row_of_table(path: str) -> bool:
    return PurePosixPath(path.lower()).suffix in _ROW_FORMATS


def has_own_metadata(path: str) -> bool:
    """Whether the file holds records whose metadata say all that is to be said of them."""
    return path.lower().endswith(_LINE_FORMATS)


class OriginTally:
    """Counts the folders and the sheets of the records of one bucket, and the columns of its tables."""

    def __init__(self) -> None:
        self._folders = Counter[tuple[str, ...]]()
        self._sheets = Counter[str]()
        self._files = set[str]()
        self.columns_by_table = defaultdict[str, set[FieldName]](set)
        self.other_keys = set[FieldName]()  # metadata that no table gives

    def add_record(self, path: str, sheet: str | None, keys: Iterable[FieldName]) -> None:
        if len(self._files) <= 1:
            self._files.add(path)
        if has_own_metadata(path):
            self.other_keys.update(keys)
            return
        self._folders[folder_names_of(path)] += 1
        if is_row_of_table(path):
            self.columns_by_table[path].update(keys)
        if sheet is not None:
            self._sheets[sheet] += 1

    @property
    def names_of_only_table(self) -> tuple[str, ...]:
        """The names of the file whose rows are all records, without its suffix, and of their only sheet."""
        path = next(iter(self._files), "")
        if len(self._files) != 1 or not (is_row_of_table(path) or has_own_metadata(path)):
            return ()
        sheets = {sheet for sheet in self._sheets if not is_default_sheet_name(sheet)}
        return (PurePosixPath(path).name.partition(".")[0], *(sheets if len(sheets) == 1 else ()))

    def different_tables(self) -> tuple[str, ...]:
        """Returns the names of two tables that share less than half of all their columns; nothing if there are none."""
        for (first, columns), (second, other_columns) in combinations(
            sorted(self.columns_by_table.items())[:_MAX_COMPARED_TABLES], 2
        ):
            if len(columns & other_columns) < _MIN_SHARED_COLUMNS * len(columns | other_columns):
                return PurePosixPath(first).name, PurePosixPath(second).name
        return ()

    def decide_fields(self, reader: KindReader, taken_names: Collection[str], language: str) -> Iterator[SchemaField]:
        """Yields a field for the folders and one for the sheets, if they vary and no field has that name.

        A folder that is called like a kind is none: its documents are of this kind.
        """
        if _FOLDER_NAME not in taken_names and (folder := self._folder_field(reader, language)):
            yield folder
        names = {sheet for sheet in self._sheets if not is_default_sheet_name(sheet)}
        if _SHEET_NAME not in taken_names and len(names) > 1:
            yield SchemaField(
                name=_SHEET_NAME,
                type=FieldType.CATEGORY,
                title="Sheet",
                synonyms=tuple(word for word in _SHEET_SYNONYMS if word not in taken_names),
                says=_SENTENCES_OF_SHEET.get(language, ""),
                origin=FieldOrigin.SHEET,
                facet=True,
            )

    def _folder_field(self, reader: KindReader, language: str) -> SchemaField | None:
        parts_by_path = {folders: plain_folders_in(folders, reader) for folders in self._folders}
        counts = Counter[str]()
        for folders, parts in parts_by_path.items():
            counts.update(dict.fromkeys(parts, self._folders[folders]))
        varying = {part for part, count in counts.items() if count < self._folders.total()}
        if not varying or len(varying) > _MAX_FOLDERS:
            return None
        if sum(counts[part] for part in varying) < _MIN_DOCUMENTS_OF_FOLDER * len(varying):
            return None
        return SchemaField(
            name=_FOLDER_NAME,
            type=FieldType.LIST,  # a document in no folder is not one whose folder is unknown
            title="Folder",
            synonyms=_FOLDER_SYNONYMS,
            says=_SENTENCES_OF_FOLDER.get(language, ""),
            origin=FieldOrigin.FOLDER,
            facet=True,
        )


def plain_folders_in(folders: Iterable[str], reader: KindReader) -> tuple[str, ...]:
    """Returns the folders that are not called like a kind, each once, the outermost first."""
    return tuple(dict.fromkeys(folder for folder in folders if not reader.is_named_like_kind(folder)))


class OriginReader:
    """Reads the values of a schema's fields that come from the place of a record."""

    def __init__(self, schema: Schema) -> None:
        self._fields = [field for field in schema.fields if field.origin is not None]
        self._kinds = KindReader(schema)

    def values_of(self, origin: RecordOrigin) -> dict[FieldName, FieldValue]:
        """Returns the folder, the sheet, and for a row the kind; records with metadata of their own have none."""
        if has_own_metadata(origin.file):
            return {}
        values = ((field.name, self._value_of(field, origin)) for field in self._fields)
        return {name: value for name, value in values if value}

    def _value_of(self, field: SchemaField, origin: RecordOrigin) -> FieldValue:
        match field.origin:
            case FieldOrigin.FOLDER:
                folders = plain_folders_in(folder_names_of(origin.file), self._kinds)
                return folders if field.type is FieldType.LIST else folders[0] if folders else ""
            case FieldOrigin.SHEET:
                return origin.sheet or ""
            case FieldOrigin.KIND:
                return (self._kinds.kind_of_table(origin.file) or "") if is_row_of_table(origin.file) else ""
            case None:
                return ""
