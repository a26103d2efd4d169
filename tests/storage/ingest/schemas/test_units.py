"""The unit that a field's name gives."""

import pytest

from storage.ingest.schemas.units import FieldLabel, label_of_name


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("vceo_v", FieldLabel("Vceo", "V")),
        ("power_w", FieldLabel("Power", "W")),
        ("bp_c", FieldLabel("Bp", "degC")),
        ("weight_kg", FieldLabel("Weight", "kg")),
        ("notice_days", FieldLabel("Notice days", "day")),
        ("growth_pct", FieldLabel("Growth", "percent")),
        ("weightKg", FieldLabel("Weight", "kg")),
        ("Width (mm)", FieldLabel("Width", "mm")),
        ("Speed [km/h]", FieldLabel("Speed", "km/hour")),
        ("Motor Power kW", FieldLabel("Motor Power", "kW")),
        ("energyUsed_kWh", FieldLabel("Energy Used", "kWh")),
        ("area_sq_km", FieldLabel("Area", "km**2")),
        ("Area in square miles", FieldLabel("Area", "mile**2")),
        ("people_per_sq_km", FieldLabel("People per sq km", "")),
        ("max_k", FieldLabel("Max k", "")),
        ("temp_k", FieldLabel("Temp", "K")),
        ("year", FieldLabel("Year", "")),
        ("days", FieldLabel("Days", "")),
        ("draught m", FieldLabel("Draught", "m")),
        ("prot g", FieldLabel("Prot", "g")),
    ],
)
def test_a_name_gives_its_unit(name: str, label: FieldLabel) -> None:
    assert label_of_name(name) == label


def test_another_name_confirms_a_unit_that_means_other_things_too() -> None:
    assert label_of_name("foresail m", ["foresail m", "length m"]) == FieldLabel("Foresail", "m")
    assert label_of_name("foresail m", ["foresail m", "owner"]) == FieldLabel("Foresail m", "")
