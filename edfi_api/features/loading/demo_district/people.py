"""Names of people who do not exist."""

from random import Random


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_GIRLS = _names(
    "Ada Amara Beatriz Camila Chloe Daniela Elena Esther Fatima Grace Hana Imani Ines Jade Keiko Laila Lucia Mae Maya "
    "Mei Nadia Naomi Olivia Priya Rosa Ruth Sofia Tala Valeria Zoe"
)
_BOYS = _names(
    "Aaron Amir Andre Ben Carlos Dante Diego Elias Emeka Felix Gabriel Hugo Isaac Jamal Javier Kenji Leo Liam Mateo "
    "Miguel Nikhil Omar Oscar Paul Rafael Samuel Theo Tomas Victor Yusuf"
)
_LAST = _names(
    "Abbott Adeyemi Alvarez Baker Bennett Brooks Castillo Chavez Chen Cohen Cruz Davis Delgado Diaz Edwards Evans "
    "Fischer Flores Foster Garcia Gomez Gray Greene Hall Hassan Hernandez Hughes Ibrahim Jackson Jimenez Johnson Kaur "
    "Kelly Kim Kowalski Lee Lopez Martin Mendoza Meyer Miller Moore Morales Murphy Nakamura Nguyen Novak Okafor Ortiz "
    "Park Patel Perez Peterson Quinn Ramirez Reed Reyes Rivera Robinson Ruiz Sanders Santos Schmidt Shah Silva Singh "
    "Soto Stewart Suarez Tanaka Thomas Torres Tran Turner Vargas Vega Walker Ward Washington Weber Wong Young Zhang"
)
_STREETS = ("Alder Street", "Creek Road", "Finch Lane", "Hill Avenue", "Lark Street", "Meadow Road", "Orchard Way")

FEMALE, MALE = "Female", "Male"


def sex(random: Random) -> str:
    """Return the sex as the code value of the descriptor."""
    return random.choice((FEMALE, MALE))


def first_name(random: Random, sex: str) -> str:
    return random.choice(_GIRLS if sex == FEMALE else _BOYS)


def last_name(random: Random) -> str:
    return random.choice(_LAST)


def street(random: Random) -> str:
    """House number and street."""
    return f"{random.randint(1, 999)} {random.choice(_STREETS)}"
