import fc from 'fast-check';

const word = fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_-]{0,8}$/);
const quoted = fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => JSON.stringify(text));
const figure = fc.oneof(
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString().slice(0, 10)),
  fc.uuid(),
);
const anyValue = fc.oneof(word, quoted, figure);

/** A way to write a condition on one of the fields, with values of its own or any other. */
export function writtenCondition(field: fc.Arbitrary<string>, value: fc.Arbitrary<string> = anyValue) {
  return fc
    .tuple(
      field,
      fc.constantFrom(
        ...['= v', '!= v', '< v', '<= v', '> v', '>= v', '~ v', 'starts with v', 'between v and v'],
        ...['in (v)', 'in (v, v)', 'not in (v, v)', 'is empty', 'is not empty', 'exists'],
      ),
      fc.infiniteStream(value),
    )
    .map(([name, test, values]) => `${name} ${test.replace(/\bv\b/g, () => values.next().value as string)}`);
}

/** A whole filter made of such conditions. */
export function writtenFilter(condition: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.letrec<{ filter: string }>((tie) => ({
    filter: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      condition,
      fc
        .tuple(tie('filter'), fc.constantFrom('and', 'or', 'AND'), tie('filter'))
        .map((parts) => parts.join(' ')),
      tie('filter').map((inner) => `(${inner})`),
      tie('filter').map((inner) => `not ${inner}`),
    ),
  })).filter;
}

/** Text of the language's own tokens in any order. */
export const tokenSoup = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...['and', 'or', 'not', 'in', 'between', 'is', 'empty', 'exists', 'starts', 'with', 'null', 'me'],
        ...['(', ')', ',', '.', '=', '!=', '<', '<=', '>', '>=', '~', '"', '\\', '!', '\0', '\ud800', '😀'],
        ...['attributes', 'relation', 'relAppToITC', 'target', 'tags', 'stakeholder', 'lifecycle', 'name'],
      ),
      anyValue,
    ),
    { maxLength: 40 },
  )
  .chain((parts) => fc.constantFrom('', ' ').map((between) => parts.join(between)));

export const fieldPath = fc.oneof(
  fc.constantFrom('name', 'type', 'tags', 'stakeholder.responsible', 'attributes."a b".c', 'x.1st'),
  fc.array(word, { minLength: 1, maxLength: 3 }).map((parts) => `f${parts.join('.')}`),
);
