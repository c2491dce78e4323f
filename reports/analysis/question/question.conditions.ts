import { type LifecyclePhase, lifecyclePhases } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import { phaseLabel } from '../../kernel/charts/charts.labels.ts';
import type { QuestionCursor } from './question.cursor.ts';
import grammar from './question.grammar.json' with { type: 'json' };
import type { FieldMeaning, QuestionNames } from './question.names.ts';
import type { QuestionTexts } from './question.says.ts';
import { quoted } from './question.vocabulary.ts';

/** A condition in the filter language, and its description. */
export interface Condition {
  filter: string;
  says: string;
}

/** "for a year", which is said of what did not happen. */
export function readPeriod(cursor: QuestionCursor, names: QuestionNames): Condition | undefined {
  return cursor.attempt(() => {
    const field = names.takeField(({ valueType }) => valueType === 'timestamp');
    if (!field || !cursor.takeAny(['for more than', 'for over', 'for', 'in'])) return undefined;
    const span = cursor.takeDuration(true);
    return (
      span && {
        filter: `${field.path} >= ${span.from}`,
        says: cursor.texts.say('question.from', { label: field.label, date: span.from }),
      }
    );
  });
}

/** The condition that a card is in a phase on a date: the last phase that has begun; `plan` also if all are in the future. */
export function inPhase(phase: LifecyclePhase, { today, texts }: QuestionCursor): Condition {
  const later = lifecyclePhases
    .slice(lifecyclePhases.indexOf(phase) + 1)
    .map((name) => `not lifecycle.${name} <= ${today}`);
  const own =
    phase === 'plan'
      ? `(${lifecyclePhases.map((name) => `lifecycle.${name} is not empty`).join(' or ')})`
      : `lifecycle.${phase} <= ${today}`;
  return { filter: `(${[own, ...later].join(' and ')})`, says: phaseSays(phase, today, texts) };
}

/** That a card is in a phase. */
export const phaseSays = (phase: LifecyclePhase, date: string, texts: QuestionTexts): string =>
  texts.say('question.inPhase', { phase: phaseLabel(phase, texts), date });

type Field = Pick<FieldMeaning, 'path' | 'label'>;

/** A comparison of a field in words: those of the filter language, but for ranges. */
function comparisonSays(label: string, tests: readonly string[], texts: QuestionTexts): string {
  const [, low, high] = /^between (\S+) and (\S+)$/.exec(tests[0]!) ?? [];
  if (low !== undefined) return texts.say('question.between', { label, low, high: high! });
  return `${label} ${texts.join(tests, 'and')}`;
}

/** A comparison of a number, such as `over 100,000` or `between 5 and 10`, in the filter language. */
const takeComparison = (cursor: QuestionCursor): string | undefined =>
  cursor.attempt(() => {
    // "is over 5", "of at least 3"
    const isLinked = cursor.takeAny(['is', 'are', 'of', 'has', 'have']);
    if (cursor.takePhrase('between')) {
      const low = cursor.takeNumber();
      const high = cursor.takePhrase('and') ? cursor.takeNumber() : undefined;
      cursor.takeAny(grammar.units);
      return low === undefined || high === undefined ? undefined : `between ${low} and ${high}`;
    }
    const found = Object.entries(grammar.comparisons).find(([, phrases]) => cursor.takeAny(phrases));
    if (!found && !isLinked) return undefined;
    const value = cursor.takeNumber();
    if (value === undefined) return undefined;
    cursor.takeAny(grammar.units);
    cursor.takeAny(grammar.perYear);
    return `${found?.[0] ?? '='} ${value}`;
  });

/** "data quality below 50 %". */
function readNumberTest(
  cursor: QuestionCursor,
  names: QuestionNames,
  { path, label }: Field,
): Condition | undefined {
  const test = takeComparison(cursor);
  if (test === undefined) return undefined;
  // "above 10 and below 20"
  const second = cursor.attempt(() => {
    if (names.isRelated || !cursor.takeAny(['and', 'but']) || cursor.sees('have') || cursor.sees('has'))
      return undefined;
    const further = takeComparison(cursor);
    return names.see('counted') || names.see('field') || names.see('type') ? undefined : further;
  });
  const tests = second ? [test, second] : [test];
  const filter = tests.map((text) => `${path} ${text}`).join(' and ');
  return { filter: second ? `(${filter})` : filter, says: comparisonSays(label, tests, cursor.texts) };
}

/** "more than 1000 users", "below 50 % data quality". */
export const readQuantity = (cursor: QuestionCursor, names: QuestionNames): Condition | undefined =>
  cursor.attempt(() => {
    const test = takeComparison(cursor);
    const field = test && (names.takeCounted() ?? names.takeField(({ valueType }) => valueType === 'number'));
    return field
      ? { filter: `${field.path} ${test}`, says: comparisonSays(field.label, [test], cursor.texts) }
      : undefined;
  });

/** Replaces the placeholders of a template, such as `{from}`. */
const filled = (template: string, values: Readonly<Record<string, string>>): string =>
  template.replace(/\{(\w+)\}/g, (_, name: string) => values[name]!);

/** Two conditions on related cards could be met by different ones, so that these have one. */
const within = (path: string, { from, until }: { from: string; until: string }): string => {
  if (!path.startsWith('relation.')) return `(${path} >= ${from} and ${path} < ${until})`;
  const last = new Date(Date.parse(until) - 86_400_000).toISOString().slice(0, 10);
  return `${path} between ${from} and ${last}`;
};

type DayTest = (field: Field) => Condition;

const timeBounds = grammar.timeBounds as {
  words: string[];
  filter: string;
  says: 'question.before' | 'question.from' | 'question.within';
  edge: 'from' | 'until';
}[];

/** A test of a day, such as `before 2027` or `in the next 12 months`. */
const takeDayTest = (cursor: QuestionCursor, isPast: boolean): DayTest | undefined => {
  const lasting = takeDurationTest(cursor, isPast);
  if (lasting) return lasting;
  const range = takeRange(cursor);
  if (range) return range;
  for (const { words, filter, says, edge } of timeBounds) {
    for (const phrase of words) {
      const span = cursor.attempt(() =>
        phrase === '' || cursor.takePhrase(phrase) ? cursor.takeSpan() : undefined,
      );
      if (!span) continue;
      return ({ path, label }) => ({
        filter: filter === '' ? within(path, span) : filled(filter, { path, ...span }),
        says: cursor.texts.say(says, { label, date: span[edge], ...span }),
      });
    }
  }
  return undefined;
};

/** "between 2027 and 2028", "from 2027 to 2028". */
const takeRange = (cursor: QuestionCursor): DayTest | undefined =>
  cursor.attempt(() => {
    const joint = cursor.takePhrase('between') ? 'and' : cursor.takePhrase('from') ? 'to' : undefined;
    const first = joint && cursor.takeSpan();
    const last = first && cursor.takePhrase(joint) ? cursor.takeSpan() : undefined;
    if (!first || !last || last.until <= first.from) return undefined;
    const span = { from: first.from, until: last.until };
    return ({ path, label }) => ({
      filter: within(path, span),
      says: cursor.texts.say('question.within', { label, ...span }),
    });
  });

/** "within 6 months"; of a field that records the past, these are the last ones. "more than 2 years ago". */
const takeDurationTest = (cursor: QuestionCursor, isPast: boolean): DayTest | undefined =>
  cursor.attempt(() => {
    const isWithin = cursor.takePhrase('within');
    const isBefore = !isWithin && cursor.takeAny(['more than', 'over', 'before']);
    if (!isWithin && !isBefore) return undefined;
    const span = cursor.takeDuration(isPast || isBefore);
    if (!span || (isBefore && !cursor.takePhrase('ago'))) return undefined;
    const { from, until } = span;
    if (isBefore)
      return ({ path, label }) => ({
        filter: `${path} < ${from}`,
        says: cursor.texts.say('question.before', { label, date: from }),
      });
    return ({ path, label }) => ({
      filter: within(path, span),
      says: cursor.texts.say('question.within', { label, from, until }),
    });
  });

const recordsPast = (path: string): boolean => path.endsWith('_at');

/** The test of a day after its name: "end of life before 2027". */
export const readDateTest = (cursor: QuestionCursor, field: Field): Condition | undefined =>
  cursor.attempt(() => {
    cursor.takePhrase('date');
    cursor.takeAny(['is', 'are', 'was']);
    return takeDayTest(cursor, recordsPast(field.path))?.(field);
  });

/** The test of a day before its name: "reach in 2027 their end of life". */
export const readDateFirst = (
  cursor: QuestionCursor,
  names: QuestionNames,
): (Condition & { path: string }) | undefined =>
  cursor.attempt(() => {
    const start = cursor.at;
    const isDuration = takeDurationTest(cursor, false) !== undefined;
    cursor.at = start;
    const test = isDuration ? undefined : takeDayTest(cursor, false);
    if (!test) return undefined;
    while (cursor.takeAny(grammar.beforeDays));
    const isLasting = names.see('phase')?.meanings[0]?.isLasting;
    if (isLasting && !cursor.norms.slice(0, start).includes('go')) return undefined;
    const day = names.takeDay();
    return day && { ...test(day), path: day.path };
  });

/** "nearing end of life in the next 6 months"; without a day it is unclear when. */
export const readApproach = (cursor: QuestionCursor, names: QuestionNames): Condition | undefined =>
  cursor.attempt(() => {
    if (!cursor.takeAny(grammar.approaching)) return undefined;
    while (cursor.takeAny(grammar.beforeDays));
    const day = names.takeDay();
    return day && readDateTest(cursor, day);
  });

/** A field without a value: "business criticality is not set". */
export function readUnset(
  cursor: QuestionCursor,
  { path, label, valueType }: FieldMeaning,
): Condition | undefined {
  if (path === 'approval_status' || valueType === 'boolean' || !cursor.takeAny(grammar.unset))
    return undefined;
  return { filter: `${path} is empty`, says: cursor.texts.say('question.without', { what: label }) };
}

/** "with JSON": a text that values of one field have. */
export const readValue = (cursor: QuestionCursor, names: QuestionNames): Condition | undefined =>
  cursor.attempt(() => {
    cursor.takeAny(grammar.valueVerbs);
    const found = names.see('value');
    const [value, ...others] = found?.meanings ?? [];
    if (!value || others.some(({ path }) => path !== value.path)) return undefined;
    cursor.at += found!.length;
    const text = `"${value.text}"`;
    return {
      filter: `${names.pathOf(value.path)} ~ ${quoted(value.text)}`,
      says: cursor.texts.say('question.part', { label: value.label, text }),
    };
  });

/** A test of a text, with the text in quotes. */
export const readTextTest = (
  cursor: QuestionCursor,
  { path, label }: Field,
  names?: QuestionNames,
): Condition | undefined =>
  cursor.attempt(() => {
    const isExact = cursor.takeAny(['is', 'equal to', '=']);
    const isStart = !isExact && cursor.takeAny(['starting with', 'start with', 'beginning with']);
    if (!isExact && !isStart) cursor.takeAny(['containing', 'contain', 'with', 'like', 'of']);
    const value = isExact || isStart ? undefined : names?.see('value');
    const known = value?.meanings.find((one) => names!.pathOf(one.path) === path);
    if (known) cursor.at += value!.length;
    const text = known?.text ?? cursor.takeQuoted();
    const operator = isExact ? '=' : isStart ? 'starts with' : '~';
    if (text === undefined) return undefined;
    const values = { label, text: `"${text}"` };
    return {
      filter: `${path} ${operator} ${quoted(text)}`,
      says: isExact
        ? `${label} = "${text}"`
        : cursor.texts.say(isStart ? 'question.starts' : 'question.part', values),
    };
  });

/** A field or phase that has a value; a boolean is true. */
export function readExistence(names: QuestionNames): Condition | undefined {
  const roles = names.takeRoles();
  if (roles)
    return {
      filter: `(${roles.paths.map((path) => `${path} is not empty`).join(' or ')})`,
      says: roles.label,
    };
  const field =
    names.takeFlows() ??
    names.takeDay() ??
    names.takeField(({ path }) => path !== 'phase' || !names.isRelated);
  if (!field) return undefined;
  const isBoolean = 'valueType' in field && field.valueType === 'boolean';
  return { filter: `${field.path} ${isBoolean ? '= true' : 'is not empty'}`, says: field.label };
}

/** Options of a field, of the given one if any. */
export function readOptions(names: QuestionNames, path?: string): Condition | undefined {
  const found = names.takeOptions(path);
  if (!found) return undefined;
  const values = found.values.map(({ value }) => value).join(', ');
  const filter = found.values.length > 1 ? `${found.path} in (${values})` : `${found.path} = ${values}`;
  return {
    filter,
    says: names.texts.join(
      found.values.map(({ label }) => label),
      'or',
    ),
  };
}

/** The test of a field whose name was consumed. */
export function readTest(
  cursor: QuestionCursor,
  names: QuestionNames,
  field: FieldMeaning,
): Condition | undefined {
  switch (field.valueType) {
    case 'number':
      return readNumberTest(cursor, names, field);
    case 'date':
    case 'timestamp':
      return readDateTest(cursor, field);
    case 'text':
      return readTextTest(cursor, field, names);
    case 'boolean':
      return { filter: `${field.path} = true`, says: field.label };
    case 'options':
      return cursor.attempt(() => {
        cursor.takeAny(['is', 'are', 'of', '=', 'in', 'with']);
        return readOptions(names, field.path);
      });
    case 'key': {
      const phase = field.path === 'phase' ? names.see('phase') : undefined;
      if (!phase) return undefined;
      cursor.at += phase.length;
      return inPhase(phase.meanings[0]!.phase, cursor);
    }
  }
}
