"""Words as data: those for a missing value in ten languages, currencies, months, and scales of grades."""

from __future__ import annotations

# Compared without regard to capitals and outer blanks, and only in columns that otherwise hold numbers or dates.
GAP_WORDS = frozenset(
    {
        # signs and spreadsheets
        "-", "--", "---", "\u2013", "\u2014", ".", "..", "...", "?", "*", "/", "#n/a", "#na", "#null!", "#div/0!",
        "#value!", "#ref!", "#name?", "#num!", "#nv", "#bezug!", "#wert!", "#error!",
        # English
        "n/a", "na", "n.a", "n.a.", "n. a.", "nan", "nil", "null", "missing", "unknown", "unk", "unspecified",
        "undefined", "blank", "empty", "not available", "not applicable", "not known", "no data", "no answer",
        # German
        "k.a.", "k. a.", "k.a", "unbekannt", "entfällt", "fehlt", "leer", "n.v.", "keine angabe", "nicht bekannt",
        "nicht vorhanden", "keine daten",
        # French
        "nd", "n.d.", "n.d", "inconnu", "inconnue", "n.r.", "manquant", "non disponible", "non renseigné",
        "non renseignée", "pas de données",
        # Spanish
        "s/d", "s.d.", "sd", "desconocido", "desconocida", "sin datos", "no disponible", "no aplica",
        # Italian
        "sconosciuto", "sconosciuta", "mancante", "n.p.", "dato mancante", "non disponibile",
        # Polish
        "brak", "b.d.", "nieznany", "nieznana", "brak danych", "nie dotyczy",
        # Dutch
        "onbekend", "n.b.", "nvt", "n.v.t.", "geen data", "niet bekend",
        # Portuguese
        "desconhecido", "desconhecida", "ausente", "sem dados", "não informado", "não disponível",
        # Swedish, Norwegian and Danish
        "okänd", "saknas", "ukjent", "ukendt", "mangler", "ingen uppgift", "ej angivet", "ikke oppgitt",
        # Czech
        "neznámé", "neuvedeno", "není známo",
    }
)  # fmt: skip

# The spellings of a currency that mean the same, each by its code.
CURRENCIES = {
    "€": "EUR", "eur": "EUR", "euro": "EUR", "euros": "EUR",
    "$": "USD", "usd": "USD", "us$": "USD", "£": "GBP", "gbp": "GBP", "¥": "JPY", "jpy": "JPY",
    "chf": "CHF", "fr.": "CHF", "sfr.": "CHF", "zł": "PLN", "zl": "PLN", "pln": "PLN", "kč": "CZK", "czk": "CZK",
    "kr": "kr", "kr.": "kr", "sek": "SEK", "nok": "NOK", "dkk": "DKK", "ft": "HUF", "huf": "HUF", "lei": "RON",
    "ron": "RON", "₺": "TRY", "try": "TRY", "₽": "RUB", "rub": "RUB", "₹": "INR", "inr": "INR", "r$": "BRL",
    "brl": "BRL", "cad": "CAD", "aud": "AUD", "cny": "CNY",
}  # fmt: skip

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
LONG_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
