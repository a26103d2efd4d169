"""The cache of what models returned: families, keys, several handles on one file."""

from pathlib import Path

import pytest

from bot.errors import ResultCacheUnavailable
from bot.models.result_cache import FILE_NAME, ResultCache, result_key_of

ONE, TWO = result_key_of("one"), result_key_of("two")


async def test_results_are_found_by_family_and_key_by_every_handle(tmp_path: Path) -> None:
    cache = ResultCache(tmp_path)
    await cache.store_results("a", {ONE: b"1", TWO: b"2"})
    await cache.store_results("a", {ONE: b"1 later"})
    cache.close()

    other = ResultCache(tmp_path)

    assert await other.load_results("a", [ONE, TWO, result_key_of("three")]) == {ONE: b"1 later", TWO: b"2"}
    assert await other.load_results("b", [ONE]) == {}


async def test_families_with_a_prefix_are_forgotten_except_one(tmp_path: Path) -> None:
    cache = ResultCache(tmp_path)
    for family in ("x old", "x new", "y"):
        await cache.store_results(family, {ONE: b"1"})

    await cache.forget_families("x ", exclude="x new")

    assert [bool(await cache.load_results(family, [ONE])) for family in ("x old", "x new", "y")] == [False, True, True]


def test_keys_differ_where_texts_or_their_borders_do() -> None:
    assert len({result_key_of("ab", "c"), result_key_of("a", "bc"), result_key_of("abc"), result_key_of("\ud800")}) == 4


async def test_a_damaged_file_is_an_error_with_its_path(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"no database at all" * 100)

    with pytest.raises(ResultCacheUnavailable, match=FILE_NAME):
        await ResultCache(tmp_path).load_results("a", [ONE])
