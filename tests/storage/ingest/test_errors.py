"""No exception of a library that reads Office files has no translation."""

from collections.abc import Iterator
from types import ModuleType

import docx.exceptions
import docx.opc.exceptions
import openpyxl.utils.exceptions
import pptx.exc

from storage.ingest.pages.docx import BROKEN as DOCX
from storage.ingest.pages.pptx import BROKEN as PPTX
from storage.ingest.pages.xlsx import BROKEN as XLSX

# Of writing, and of names that nobody asks for.
NOT_MET = {"NamedRangeException", "SheetTitleException", "ReadOnlyWorkbookException", "WorkbookAlreadySaved"}


def exceptions_in(*modules: ModuleType) -> Iterator[type[Exception]]:
    for module in modules:
        for one in vars(module).values():
            if isinstance(one, type) and issubclass(one, Exception) and one.__name__ not in NOT_MET:
                yield one


def test_every_exception_of_python_docx_is_translated() -> None:
    assert [one for one in exceptions_in(docx.exceptions, docx.opc.exceptions) if not issubclass(one, DOCX)] == []


def test_every_exception_of_python_pptx_is_translated() -> None:
    assert [one for one in exceptions_in(pptx.exc) if not issubclass(one, PPTX)] == []


def test_every_exception_of_openpyxl_is_translated() -> None:
    assert [one for one in exceptions_in(openpyxl.utils.exceptions) if not issubclass(one, XLSX)] == []
