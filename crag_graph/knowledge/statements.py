"""The SQL of hybrid search, made of the ways that a question can be searched: by meaning, by words, or both."""

FUSION = 20


def search_statement(*, dimensions: int | None, exact: bool, words: int) -> str:
    """`dimensions`: of the question's vector, None without one; `words`: how many there are to weigh.

    Its parameters: spaces, limit, candidates, features_version, former, years; with a vector also vector, model, near and breadth;
    with words also hits, any_word and word0, word1, …
    """
    parts = [_DEMOTED.format(dimensions=dimensions) if dimensions is not None else _NOTHING_DEMOTED]
    if dimensions is not None:
        way = _NEAREST_EXACTLY if exact else _NEAREST_BY_INDEX
        parts.append(way.format(distance=_DISTANCE.format(dimensions=dimensions), dimensions=dimensions))
    if words:
        distance = "NULL" if dimensions is None else _DISTANCE_IF_ANY.format(dimensions=dimensions)
        parts.append(_worded(words, distance))
    ways = [name for name, used in (("nearest", dimensions is not None), ("worded", words)) if used]
    places = " UNION ALL ".join(f"TABLE {name}" for name in ways)
    return "WITH " + ",".join(parts) + _FUSED.format(places=places, fusion=FUSION)


_DISTANCE = "embedding::halfvec({dimensions}) <=> %(vector)s::halfvec({dimensions})"
_DISTANCE_IF_ANY = f"CASE WHEN vector_dims(embedding) = {{dimensions}} THEN {_DISTANCE} END"

# What was said against passages on questions like this one; one word of a reviewer is none.
_DEMOTED = """
demoted AS (
    SELECT space, digest FROM demotions
    WHERE space = ANY (%(spaces)s) AND model = %(model)s
      AND CASE WHEN model = %(model)s AND vector_dims(embedding) = {dimensions}
          THEN 1 - (embedding::halfvec({dimensions}) <=> %(vector)s::halfvec({dimensions})) >= %(near)s END
    GROUP BY space, digest HAVING bool_or(firm) OR count(*) >= 2
)"""
_NOTHING_DEMOTED = """
demoted AS (SELECT NULL::text AS space, NULL::text AS digest WHERE false)"""

_NEAREST_EXACTLY = """
nearest AS (
    SELECT id, row_number() OVER (ORDER BY distance, id) AS place
    FROM (
        SELECT id, {distance} AS distance FROM passages
        WHERE vector_dims(embedding) = {dimensions} AND space = ANY (%(spaces)s)
        ORDER BY ({distance}) + 0 LIMIT %(candidates)s  -- "+ 0": not by the index
    ) AS found
)"""

# The settings hold for this statement alone, and are made before the inner query runs, because that one reads `spaces`
# from them. The iterative scan goes on until enough of what it finds lies in the spaces. `space || ''` keeps Postgres
# from taking the index on spaces and sorting all that they hold, which it may prefer when it cannot know how much.
_NEAREST_BY_INDEX = """
settings AS MATERIALIZED (
    SELECT %(spaces)s::text[] AS spaces,
           set_config('hnsw.ef_search', %(breadth)s, true),
           set_config('hnsw.iterative_scan', 'relaxed_order', true)
),
nearest AS (
    SELECT id, row_number() OVER (ORDER BY distance, id) AS place
    FROM settings CROSS JOIN LATERAL (
        SELECT id, {distance} AS distance FROM passages
        WHERE vector_dims(embedding) = {dimensions} AND space || '' = ANY (settings.spaces)
        ORDER BY {distance} LIMIT %(candidates)s
    ) AS found
)"""


def _worded(words: int, distance: str) -> str:
    """The passages with the weightiest words; where these are the same, the nearest.

    A word weighs what it does in BM25, ln(1 + (n - f + 0.5) / (f + 0.5)) for a word in f of n hits: nothing if all
    hits have it. How often a passage has it does not count: passages are short.
    """
    marks = range(words)
    has = ", ".join(f"words @@ %(word{n})s::tsquery AS has{n}" for n in marks)
    frequency = ", ".join(f"(count(*) FILTER (WHERE has{n}))::float8 AS f{n}" for n in marks)
    score = " + ".join(f"CASE WHEN has{n} THEN weight{n} ELSE 0 END" for n in marks)
    weights = ", ".join(f"ln(1 + (n - f{n} + 0.5) / (f{n} + 0.5)) AS weight{n}" for n in marks)
    return f"""
hits AS MATERIALIZED (
    SELECT id, {distance} AS distance, {has} FROM passages
    WHERE words @@ %(any_word)s::tsquery AND space = ANY (%(spaces)s) LIMIT %(hits)s
),
frequencies AS (SELECT count(*)::float8 AS n, {frequency} FROM hits),
weights AS (SELECT {weights} FROM frequencies),
scored AS (
    SELECT id, {score} AS score, distance FROM hits CROSS JOIN weights
    ORDER BY score DESC, distance LIMIT %(candidates)s
),
worded AS (SELECT id, row_number() OVER (ORDER BY score DESC, distance, id) AS place FROM scored)"""  # noqa: S608  numbers of our own; every value is a parameter


# Places are fused, not scores: a distance and the weight of words cannot be compared. Reciprocal rank fusion (Cormack et
# al., 2009) has 60 for 20; over lists as short as these, 20 found a little more on seven sets of labelled questions. A
# superseded document counts half: it stands behind its successor, which the same meaning and the same words find, and
# is found all the same where nothing newer says it; not so where the question asks for what was. A demoted passage counts a quarter: it stands behind whatever else
# both ways find, and is still found where nothing else is.
_FUSED = """
SELECT passages.id, passages.document_id, passages.text, passages.headings, passages.page,
       CASE WHEN passages.features_version = %(features_version)s THEN passages.features END AS features,
       documents.title, documents.source, documents.link, documents.superseded,
       (
           SELECT other.title FROM documents AS other
           WHERE other.family = documents.family AND other.family <> '' AND other.edition > documents.edition
             AND other.space = ANY (%(spaces)s) AND other.passages > 0
           ORDER BY other.edition DESC, other.id LIMIT 1
       ) AS newer
FROM (
    SELECT id, sum(1.0::float8 / ({fusion} + place)) AS score FROM ({places}) AS places
    GROUP BY id ORDER BY score DESC, id LIMIT %(candidates)s
) AS fused
JOIN passages ON passages.id = fused.id JOIN documents ON documents.id = passages.document_id
LEFT JOIN demoted ON demoted.space = passages.space AND demoted.digest = md5(passages.text)
ORDER BY fused.score * CASE WHEN documents.superseded AND NOT (
        %(former)s OR concat_ws(' ', documents.title, documents.source) LIKE ANY (%(years)s::text[])
    ) THEN 0.5 ELSE 1 END
    * CASE WHEN demoted.digest IS NULL THEN 1 ELSE 0.25 END DESC, passages.id LIMIT %(limit)s
"""
