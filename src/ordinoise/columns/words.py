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

# From lowest to highest, the words of each place in English, German, French, Spanish, Italian and Polish.
SCALES = (
    (  # level
        "very low|sehr niedrig|sehr gering|très faible|très bas|très basse|muy bajo|muy baja|molto basso|molto bassa|"
        "bardzo niski|bardzo niska|bardzo niskie",
        "low|niedrig|gering|faible|bas|basse|bajo|baja|basso|bassa|niski|niska|niskie",
        "medium|middle|mid|moderate|med|mittel|mäßig|moyen|moyenne|modéré|modérée|medio|media|moderado|moderada|"
        "moderato|moderata|średni|średnia|średnie|umiarkowany|umiarkowana|umiarkowane",
        "high|hoch|élevé|élevée|haut|haute|fort|forte|alto|alta|wysoki|wysoka|wysokie",
        "very high|sehr hoch|très élevé|très élevée|très haut|très haute|très fort|très forte|muy alto|muy alta|"
        "molto alto|molto alta|bardzo wysoki|bardzo wysoka|bardzo wysokie",
        "critical|extreme|urgent|kritisch|extrem|dringend|critique|extrême|crítico|crítica|critico|critica|krytyczny|"
        "krytyczna|krytyczne",
    ),
    (  # severity
        "none|absent|keine|kein|aucun|aucune|ninguno|ninguna|nessuno|nessuna|assente|brak",
        "minimal|trivial|minimale|minimo|minima|mínimo|mínima|minimalny|minimalna",
        "mild|slight|leicht|léger|légère|leve|lieve|łagodny|łagodna|łagodne|lekki|lekka|lekkie",
        "moderate|mittel|mäßig|mittelschwer|mittelgradig|moyen|moyenne|modéré|modérée|moderado|moderada|moderato|"
        "moderata|umiarkowany|umiarkowana|umiarkowane",
        "severe|serious|schwer|sévère|grave|severo|severa|ciężki|ciężka|ciężkie",
        "very severe|profound|sehr schwer|très sévère|très grave|muy grave|molto grave|bardzo ciężki|bardzo ciężka",
        "fatal|critical|tödlich|kritisch|mortel|mortal|mortale|śmiertelny",
    ),
    (  # agreement
        "strongly disagree|totally disagree|completely disagree|stimme überhaupt nicht zu|stimme gar nicht zu|"
        "pas du tout d'accord|totalmente en desacuerdo|muy en desacuerdo|fortemente in disaccordo|"
        "per niente d'accordo|zdecydowanie się nie zgadzam|zdecydowanie nie",
        "disagree|stimme nicht zu|pas d'accord|en desacuerdo|in disaccordo|nie zgadzam się|nie",
        "somewhat disagree|slightly disagree|stimme eher nicht zu|plutôt pas d'accord|raczej nie|"
        "raczej się nie zgadzam",
        "neutral|neither|undecided|neither agree nor disagree|teils teils|weder noch|unentschieden|neutre|"
        "ni d'accord ni pas d'accord|ni de acuerdo ni en desacuerdo|neutrale|né d'accordo né in disaccordo|"
        "neutralny|trudno powiedzieć",
        "somewhat agree|slightly agree|stimme eher zu|plutôt d'accord|raczej tak|raczej się zgadzam",
        "agree|stimme zu|d'accord|de acuerdo|d'accordo|zgadzam się|tak",
        "strongly agree|totally agree|completely agree|stimme voll zu|stimme voll und ganz zu|tout à fait d'accord|"
        "totalmente de acuerdo|muy de acuerdo|fortemente d'accordo|completamente d'accordo|"
        "zdecydowanie się zgadzam|zdecydowanie tak",
    ),
    (  # frequency
        "never|nie|niemals|jamais|nunca|mai|nigdy",
        "rarely|seldom|selten|rarement|raramente|rara vez|rzadko",
        "sometimes|occasionally|manchmal|gelegentlich|parfois|a veces|qualche volta|a volte|czasami|czasem",
        "often|frequently|oft|häufig|souvent|a menudo|frecuentemente|spesso|często",
        "usually|very often|meistens|sehr oft|très souvent|muy a menudo|molto spesso|zwykle|bardzo często",
        "always|immer|toujours|siempre|sempre|zawsze",
    ),
    (  # German school
        "ungenügend", "mangelhaft|nicht ausreichend", "ausreichend|genügend", "befriedigend", "gut", "sehr gut",
    ),
    (  # Polish school
        "niedostateczny", "dopuszczający", "dostateczny", "dobry", "bardzo dobry", "celujący",
    ),
    (  # quality
        "terrible|awful|very bad|very poor|sehr schlecht|très mauvais|très mauvaise|muy malo|muy mala|pésimo|"
        "pessimo|pessima|bardzo zły|bardzo zła|bardzo źle",
        "bad|poor|weak|schlecht|mauvais|mauvaise|malo|mala|cattivo|cattiva|scarso|zły|zła|słaby|słaba|źle",
        "fair|average|acceptable|ok|okay|mediocre|sufficient|mittel|mittelmäßig|akzeptabel|moyen|moyenne|passable|"
        "regular|aceptable|sufficiente|discreto|przeciętny|przeciętna|średni|średnia",
        "good|gut|bon|bonne|bien|bueno|buena|buono|buona|dobry|dobra|dobrze",
        "very good|sehr gut|très bon|très bonne|très bien|muy bueno|muy buena|molto buono|molto buona|ottimo|"
        "bardzo dobry|bardzo dobra|bardzo dobrze",
        "excellent|outstanding|perfect|ausgezeichnet|hervorragend|exzellent|parfait|excelente|eccellente|doskonały|"
        "doskonała|znakomity|celujący",
    ),
    ("xxxs", "xxs", "xs", "s", "m", "l", "xl", "xxl", "xxxl"),
    (  # size
        "tiny|very small|winzig|sehr klein|très petit|très petite|muy pequeño|molto piccolo|bardzo mały",
        "small|klein|petit|petite|pequeño|pequeña|piccolo|piccola|mały|mała|małe",
        "medium|mittel|mittelgroß|moyen|moyenne|mediano|mediana|medio|media|średni|średnia|średnie",
        "large|big|groß|grand|grande|duży|duża|duże",
        "very large|huge|sehr groß|riesig|très grand|très grande|muy grande|molto grande|bardzo duży|bardzo duża",
    ),
    (  # traffic lights
        "green|grün|vert|verte|verde|zielony|zielona",
        "yellow|amber|gelb|jaune|amarillo|amarilla|giallo|gialla|żółty|żółta",
        "orange|naranja|arancione|pomarańczowy",
        "red|rot|rouge|rojo|roja|rosso|rossa|czerwony|czerwona",
    ),
    (  # satisfaction
        "very dissatisfied|very unsatisfied|sehr unzufrieden|très insatisfait|très insatisfaite|muy insatisfecho|"
        "muy insatisfecha|molto insoddisfatto|bardzo niezadowolony",
        "dissatisfied|unsatisfied|unzufrieden|insatisfait|insatisfaite|insatisfecho|insatisfecha|insoddisfatto|"
        "niezadowolony",
        "neutral|neutre|neutrale|neutralny",
        "satisfied|zufrieden|satisfait|satisfaite|satisfecho|satisfecha|soddisfatto|zadowolony",
        "very satisfied|sehr zufrieden|très satisfait|très satisfaite|muy satisfecho|muy satisfecha|"
        "molto soddisfatto|bardzo zadowolony",
    ),
    (  # likelihood
        "impossible|unmöglich|imposible|impossibile|niemożliwe",
        "very unlikely|sehr unwahrscheinlich|très improbable|muy improbable|molto improbabile|"
        "bardzo mało prawdopodobne",
        "unlikely|unwahrscheinlich|improbable|improbabile|mało prawdopodobne",
        "possible|neutral|möglich|posible|possibile|możliwe",
        "likely|probable|wahrscheinlich|probabile|prawdopodobne",
        "very likely|sehr wahrscheinlich|très probable|muy probable|molto probabile|bardzo prawdopodobne",
        "certain|sicher|seguro|certo|pewne",
    ),
    (  # difficulty
        "very easy|sehr leicht|sehr einfach|très facile|muy fácil|molto facile|bardzo łatwy|bardzo łatwa",
        "easy|leicht|einfach|facile|fácil|łatwy|łatwa",
        "medium|moderate|intermediate|mittel|moyen|moyenne|medio|media|średni|średnia",
        "hard|difficult|schwer|schwierig|difficile|difícil|trudny|trudna",
        "very hard|very difficult|sehr schwer|sehr schwierig|très difficile|muy difícil|molto difficile|"
        "bardzo trudny|bardzo trudna",
    ),
    (  # degree
        "not at all|none|gar nicht|überhaupt nicht|pas du tout|nada|per niente|wcale",
        "slightly|a little|wenig|ein wenig|un peu|peu|poco|mało|trochę",
        "moderately|somewhat|mittelmäßig|etwas|moyennement|algo|abbastanza|umiarkowanie",
        "very|quite a bit|a lot|ziemlich|sehr|assez|beaucoup|mucho|molto|bardzo",
        "extremely|extrem|äußerst|extrêmement|extremadamente|estremamente|niezwykle",
    ),
    (  # relevance
        "irrelevant|not relevant|nicht relevant|non pertinent|irrelevante|non rilevante|nieistotny",
        "partially relevant|marginally relevant|somewhat relevant|teilweise relevant|partiellement pertinent|"
        "parcialmente relevante|parzialmente rilevante|częściowo istotny",
        "relevant|pertinent|relevante|rilevante|istotny",
        "highly relevant|very relevant|sehr relevant|très pertinent|muy relevante|molto rilevante|bardzo istotny",
    ),
    ("trivial", "minor", "normal", "major", "critical", "blocker"),
    ("negative|negativ|négatif|négative|negativo|negativa|negatywny", "neutral|neutre|neutro|neutrale|neutralny",
     "positive|positiv|positif|positivo|positiva|pozytywny"),
    ("beginner|anfänger|débutant|principiante|początkujący", "intermediate|fortgeschritten|intermédiaire|intermedio|"
     "średniozaawansowany", "advanced|avancé|avanzado|avanzato|zaawansowany", "expert|experte|experto|esperto|ekspert"),
    ("a1", "a2", "b1", "b2", "c1", "c2"),
)  # fmt: skip
