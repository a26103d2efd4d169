"""Exports while other processes replace all documents, and kills of the exporting process, on every engine."""

import pytest

from tests.attack.changing_documents import attack_engine, check_rows

_DOCUMENTS = 3_300  # four pages of an export


@pytest.mark.parametrize("engine", ["embedded", pytest.param("opensearch", marks=pytest.mark.servers)])
async def test_an_export_is_of_one_state_though_all_documents_are_replaced_and_it_is_killed(engine: str) -> None:
    assert await attack_engine(engine, _DOCUMENTS, 1)


def test_a_file_of_several_states_is_recognised() -> None:
    whole = [(number, 3 if number < 4 else 2) for number in range(9)]

    assert check_rows(whole, 9).is_sound
    assert not check_rows(whole[1:], 9).is_sound
    assert not check_rows([*whole, (2, 2)], 9).is_sound
    assert not check_rows([(0, 2), (1, 3), *whole[2:]], 9).is_sound
