import { type LifecyclePhase, lifecyclePhases } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import type { QuestionCursor } from './question.cursor.ts';
import { readSpan, type Span } from './question.dates.ts';
import { type FieldKind, quoted } from './question.vocabulary.ts';

/** A condition in the filter language, and in words. */
export interface Condition {
  filter: string;
  says: string;
}

/** The cards that are in a phase on a day: the last phase that has begun; `plan` also while all lie ahead. */
export function inPhase(phase: LifecyclePhase, today: string): Condition {
  const later = lifecyclePhases
    .slice(lifecyclePhases.indexOf(phase) + 1)
    .map((name) => `not lifecycle.${name} <= ${today}`);
  const own =
    phase === 'plan'
      ? `(${lifecyclePhases.map((name) => `lifecycle.${name} is not empty`).join(' or ')})`
      : `lifecycle.${phase} <= ${today}`;
  return { filter: `(${[own, ...later].join(' and ')})`, says: `in the phase ${phase} on ${today}` };
}

interface Field {
  path: string;
  holds: FieldKind;
  label: string;
}

/** Words before a value, the longest first, by operator. */
const comparisons: [operator: string, ...phrases: string[]][] = [
  ['>=', 'greater than or equal to', 'at least', 'not less than', '>='],
  ['<=', 'less than or equal to', 'at most', 'up to', 'not more than', '<='],
  ['>', 'more than', 'greater than', 'higher than', 'larger than', 'over', 'above', 'exceeding', '>'],
  ['<', 'less than', 'fewer than', 'lower than', 'smaller than', 'under', 'below', '<'],
  ['=', 'equal to', 'equal', 'exactly', 'is', 'are', 'of', '='],
];

/** A comparison of a number with what follows, such as `over 100,000` or `between 5 and 10`. */
export function readNumberTest(cursor: QuestionCursor, field: Field): Condition | undefined {
  const start = cursor.at;
  const { path, label } = field;
  // "is over 5", "of at least 3"
  const linked = cursor.takeAny(['is', 'are', 'of', 'has', 'have']);
  if (cursor.takePhrase('between')) {
    const low = cursor.takeNumber();
    if (low !== undefined && cursor.takePhrase('and')) {
      const high = cursor.takeNumber();
      if (high !== undefined) {
        return { filter: `${path} between ${low} and ${high}`, says: `${label} between ${low} and ${high}` };
      }
    }
    cursor.at = start;
    return undefined;
  }
  for (const [operator, ...phrases] of comparisons) {
    if (!phrases.some((phrase) => cursor.takePhrase(phrase))) continue;
    const value = cursor.takeNumber();
    if (value !== undefined)
      return { filter: `${path} ${operator} ${value}`, says: `${label} ${operator} ${value}` };
    cursor.at = start;
    return undefined;
  }
  const value = linked ? cursor.takeNumber() : undefined;
  if (value !== undefined) return { filter: `${path} = ${value}`, says: `${label} = ${value}` };
  cursor.at = start;
  return undefined;
}

const bounds: [words: string[], test: (path: string, span: Span) => string, says: (span: Span) => string][] =
  [
    [
      ['on or before', 'until', 'till', 'by', 'no later than'],
      (path, { until }) => `${path} < ${until}`,
      ({ until }) => `before ${until}`,
    ],
    [
      ['before', 'earlier than', '<'],
      (path, { from }) => `${path} < ${from}`,
      ({ from }) => `before ${from}`,
    ],
    [
      ['on or after', 'since', 'from', 'starting'],
      (path, { from }) => `${path} >= ${from}`,
      ({ from }) => `from ${from}`,
    ],
    [
      ['after', 'later than', '>'],
      (path, { until }) => `${path} >= ${until}`,
      ({ until }) => `from ${until}`,
    ],
    [
      ['within', 'in', 'during', 'on', 'at', 'is', ''],
      (path, { from, until }) => `(${path} >= ${from} and ${path} < ${until})`,
      ({ from, until }) => `from ${from} to before ${until}`,
    ],
  ];

/** A test of a day with what follows, such as `before 2027` or `in the next 12 months`. */
export function readDateTest(cursor: QuestionCursor, field: Omit<Field, 'holds'>): Condition | undefined {
  const start = cursor.at;
  cursor.takePhrase('date');
  cursor.takeAny(['is', 'are', 'was']);
  const linked = cursor.at;
  for (const [phrases, test, says] of bounds) {
    for (const phrase of phrases) {
      cursor.at = linked;
      if (phrase !== '' && !cursor.takePhrase(phrase)) continue;
      const read = readSpan(cursor.words, cursor.at, cursor.today);
      if (!read) continue;
      cursor.at += read.length;
      return { filter: test(field.path, read.span), says: `${field.label} ${says(read.span)}` };
    }
  }
  cursor.at = start;
  return undefined;
}

/** A test of a text with what follows in quotes. */
export function readTextTest(cursor: QuestionCursor, field: Field): Condition | undefined {
  const start = cursor.at;
  const exact = cursor.takeAny(['is', 'equal to', '=']);
  const begins = !exact && cursor.takeAny(['starting with', 'start with', 'beginning with']);
  if (!exact && !begins) cursor.takeAny(['containing', 'contain', 'with', 'like', 'of']);
  const text = cursor.takeQuoted();
  if (text === undefined) {
    cursor.at = start;
    return undefined;
  }
  const operator = exact ? '=' : begins ? 'starts with' : '~';
  return {
    filter: `${field.path} ${operator} ${quoted(text)}`,
    says: `${field.label} ${operator} "${text}"`,
  };
}
