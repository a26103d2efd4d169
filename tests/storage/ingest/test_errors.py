"""Every exception of the libraries that read Office files is translated."""

from collections.abc import Iterator
from types import ModuleType

import docx.exceptions
import docx.opc.exceptions
import openpyxl.utils.exceptions
import pptx.exc

from storage.ingest.pages.docx import TRANSLATED_ERRORS as DOCX
from storage.ingest.pages.pptx import TRANSLATED_ERRORS as PPTX
from storage.ingest.pages.xlsx import TRANSLATED_ERRORS as XLSX

# Raised only when writing a workbook, or for named ranges, which are not read.
UNREACHABLE_EXCEPTIONS = {
    "NamedRangeException",
    "SheetTitleException",
    "ReadOnlyWorkbookException",
    "WorkbookAlreadySaved",
}


def exceptions_in(*modules: ModuleType) -> Iterator[type[Exception]]:
    for module in modules:
        for member in vars(module).values():
            if (
                isinstance(member, type)
                and issubclass(member, Exception)
                and member.__name__ not in UNREACHABLE_EXCEPTIONS
            ):
                yield member


def test_every_exception_of_python_docx_is_translated() -> None:
    assert [error for error in exceptions_in(docx.exceptions, docx.opc.exceptions) if not issubclass(error, DOCX)] == []


def test_every_exception_of_python_pptx_is_translated() -> None:
    assert [error for error in exceptions_in(pptx.exc) if not issubclass(error, PPTX)] == []


def test_every_exception_of_openpyxl_is_translated() -> None:
    assert [error for error in exceptions_in(openpyxl.utils.exceptions) if not issubclass(error, XLSX)] == []
