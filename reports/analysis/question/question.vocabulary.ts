import { approvalStatuses } from '../../../domain/inventory/cards/cards.model.ts';
import { textsOf, translated } from '../../../domain/kernel/metamodel/languages.ts';
import type {
  CardType,
  CompiledField,
  Metamodel,
} from '../../../domain/kernel/metamodel/metamodel.compile.ts';
import {
  type LabelledMetamodel,
  type LabelledType,
  labelledMetamodel,
} from '../../../domain/kernel/metamodel/metamodel.labels.ts';
import {
  type Field,
  type LifecyclePhase,
  lifecyclePhases,
  type Translations,
} from '../../../domain/kernel/metamodel/metamodel.types.ts';
import { type SettingValues, settingDefaults } from '../../../domain/kernel/settings/settings.read.ts';
import { embed, query, type Sql } from '../../../platform/database.ts';
import { phaseLabel } from '../../kernel/charts/charts.labels.ts';
import { type ChartLanguage, lowered } from '../../kernel/charts/charts.texts.ts';
import { knownText } from '../../kernel/report.texts.ts';
import grammar from './question.grammar.json' with { type: 'json' };
import type { CardMeaning, FieldKind, Meaning, PersonMeaning, ValueMeaning } from './question.meanings.ts';
import { QuestionTexts } from './question.says.ts';
import { type RelationPath, relationPathsFrom, translatedVerbs } from './question.verbs.ts';
import { phraseOf, wordsOf } from './question.words.ts';

/** All names for questions, by phrase. */
export interface Vocabulary {
  metamodel: Metamodel;
  /** The types with the labels of meanings. */
  labels: LabelledMetamodel;
  texts: QuestionTexts;
  /** By the words of a phrase, joined by blanks. */
  phrases: ReadonlyMap<string, Meaning[]>;
  /** Words of the longest phrase. */
  longest: number;
  ways(from: string): RelationPath[];
  /** Whether a word is the verb of a relation in another language. */
  isVerb(norm: string): boolean;
}

type CostKinds = SettingValues['cost_kinds'];

/** More tags than that are not looked for in questions. */
const MOST_TAGS = 5_000;

export interface NamedTag {
  group: string;
  tag: string;
}

/** The names of tags, for the vocabulary. */
export async function readTagNames(db: Sql): Promise<NamedTag[]> {
  return await query(db)
    .rows`select g.name as "group", t.name as tag from tags t join tag_groups g on g.id = t.tag_group_id
     order by g.name, t.name, t.id limit ${embed(MOST_TAGS)}`;
}

const fieldKinds: Record<CompiledField['type'], FieldKind> = {
  text: 'text',
  multiline_text: 'text',
  url: 'text',
  number: 'number',
  cost: 'number',
  boolean: 'boolean',
  date: 'date',
  single_select: 'options',
  multiple_select: 'options',
};

const phaseEvents: Partial<Record<LifecyclePhase, string[]>> = grammar.phaseEvents;

/** Fields that every card has. */
const commonFields = grammar.fields as { path: string; kind: FieldKind; names: string[] }[];

/** Usual names of built-in fields by key. */
const fieldNames: Readonly<Record<string, string[]>> = grammar.fieldNames;
const costSynonyms: Readonly<Record<string, string[]>> = grammar.costKinds;

/** A key or name as a part of a path in the filter language. */
export const part = (name: string): string =>
  /^[A-Za-z_][\w-]*$/.test(name) && !grammar.filterWords.includes(name.toLowerCase()) ? name : quoted(name);

/** A text of the filter language. */
export const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;

/**
 * The vocabulary of the visible part of the metamodel, and of the tags.
 * @param language of the labels of meanings.
 * @param costKinds the kinds of costs by period.
 */
export function createVocabulary(
  metamodel: Metamodel,
  tags: readonly NamedTag[],
  language: ChartLanguage = 'en',
  costKinds: CostKinds = settingDefaults.cost_kinds,
): Vocabulary {
  const labels = labelledMetamodel(metamodel, language);
  const texts = new QuestionTexts(language);
  const phrases = new Map<string, Meaning[]>();
  let longest = 1;
  const add = (name: string, meaning: Meaning) => {
    addWords(phraseOf(name), meaning);
    // "SaaS" is one word, in keys an upper-case letter begins another
    if (/\p{Ll}\p{Lu}/u.test(name)) {
      const norms = wordsOf(name).map(({ norm }) => norm);
      addWords(norms, meaning);
    }
  };
  const addWords = (words: string[], meaning: Meaning) => {
    if (words.length === 0) return;
    longest = Math.max(longest, words.length);
    const phrase = words.join(' ');
    const known = phrases.get(phrase) ?? [];
    const same = known.find((other) => isSame(other, meaning));
    if (same && 'types' in same && 'types' in meaning) {
      for (const type of meaning.types) if (!same.types.includes(type)) same.types.push(type);
    } else if (!same) known.push('types' in meaning ? { ...meaning, types: [...meaning.types] } : meaning);
    phrases.set(phrase, known);
  };
  const { visibleTypes } = metamodel;
  for (const { path, kind: valueType, names } of commonFields) {
    for (const name of names)
      add(name, {
        kind: 'field',
        path,
        valueType,
        types: visibleTypes,
        label: knownText(texts, 'column', path) ?? names[0]!,
      });
  }
  for (const value of approvalStatuses) {
    const path = 'approval_status';
    add(value, {
      kind: 'option',
      path,
      value,
      types: visibleTypes,
      label: texts.say('question.approval', { value: knownText(texts, 'value', value)! }),
    });
  }
  const lasting = grammar.lastingPhases;
  for (const phase of lifecyclePhases) {
    const label = lowered(phaseLabel(phase, texts), texts);
    for (const name of grammar.phases[phase])
      add(name, { kind: 'phase', phase, isEvent: false, isLasting: lasting.includes(name), label });
    for (const name of phaseEvents[phase] ?? [])
      add(name, { kind: 'phase', phase, isEvent: true, isLasting: false, label });
  }
  for (const key of visibleTypes)
    addType(metamodel.cardTypes.get(key)!, labels.cardTypes.get(key)!, language, add);
  for (const { group, tag } of tags) {
    const path = `tags.${part(group)}`;
    add(group, { kind: 'field', path, valueType: 'options', types: visibleTypes, label: group });
    for (const name of [tag, `${group} ${tag}`]) {
      const label = texts.say('question.tag', { group, tag });
      add(name, { kind: 'option', path, value: quoted(tag), types: visibleTypes, label, isOneOfMany: true });
    }
  }
  const isType = (name: string) =>
    (phrases.get(phraseOf(name).join(' ')) ?? []).some(({ kind }) => kind === 'type' || kind === 'subtype');
  for (const { key, label, translations } of costKinds) {
    const shown = texts.say('question.costsOfKind', { kind: translated(label, translations, language) });
    for (const name of [...textsOf(label, translations), key, ...(costSynonyms[key] ?? [])]) {
      // "project cost" is that of projects
      if (isType(name)) continue;
      for (const words of [`${name} cost`, `${name}kosten`, `${name}skosten`])
        add(words, { kind: 'cost', cost: key, label: shown });
    }
  }
  const ways = new Map(visibleTypes.map((key) => [key, relationPathsFrom(metamodel, key, labels)]));
  const verbs = translatedVerbs(metamodel);
  return {
    metamodel,
    labels,
    texts,
    phrases,
    longest,
    ways: (from) => ways.get(from) ?? [],
    isVerb: (norm) => verbs.has(norm),
  };
}

/** The vocabulary with cards, people and values that a question names. */
export function withCards(
  vocabulary: Vocabulary,
  cards: readonly (CardMeaning | ValueMeaning | PersonMeaning)[],
): Vocabulary {
  if (cards.length === 0) return vocabulary;
  const phrases = new Map(vocabulary.phrases);
  let { longest } = vocabulary;
  for (const card of cards) {
    const words = wordsOf(card.kind === 'value' ? card.text : card.name).map(({ norm }) => norm);
    const phrase = words.join(' ');
    longest = Math.max(longest, words.length);
    const label =
      card.kind === 'card' ? (vocabulary.labels.cardTypes.get(card.type)?.label ?? card.type) : card.label;
    phrases.set(phrase, [...(phrases.get(phrase) ?? []), { ...card, label }]);
  }
  return { ...vocabulary, phrases, longest };
}

type Add = (name: string, meaning: Meaning) => void;

const typeSynonyms: Readonly<Record<string, string[]>> = grammar.types;

function addType(type: CardType, labelled: LabelledType, language: ChartLanguage, add: Add): void {
  const { key } = type;
  const plurals = Object.values((type.translations.plural ?? {}) as Record<string, string>);
  for (const name of [
    ...textsOf(type.label, type.translations).flatMap(inflected),
    ...plurals.flatMap(inflected),
    key,
    ...(typeSynonyms[key] ?? []),
  ])
    add(name, { kind: 'type', type: key, label: labelled.label });
  for (const [at, subtype] of type.subtypes.entries()) {
    for (const name of [...textsOf(subtype.label, subtype.translations), subtype.key]) {
      add(name, { kind: 'subtype', types: [key], subtype: subtype.key, label: labelled.subtypes[at]!.label });
    }
  }
  for (const role of type.stakeholderRoles) {
    const path = `stakeholder.${part(role.key)}`;
    // "technical owner" of an application is its Technical Application Owner
    const short = role.label.replace(` ${type.label}`, '');
    for (const name of [
      ...textsOf(role.label, role.translations),
      short,
      ...(/ owner$/i.test(short) ? ['owner'] : []),
    ])
      add(name, {
        kind: 'field',
        path,
        valueType: 'key',
        types: [key],
        label: translated(role.label, role.translations, language),
      });
  }
  const declared = new Map(
    type.fields_schema.flatMap(({ fields }) => fields.map((field) => [field.key, field] as const)),
  );
  for (const field of type.fields.values())
    addField(type, field, labelled.fields.get(field.key)!, declared.get(field.key), add);
}

function addField(
  type: CardType,
  field: CompiledField,
  { label: own, optionLabels }: CompiledField,
  declared: Field | undefined,
  add: Add,
): void {
  const path = `attributes.${part(field.key)}`;
  const types = [type.key];
  const valueType = fieldKinds[field.type];
  const unit = field.type === 'cost' ? { unit: 'cost' as const } : {};
  const meaning: Meaning = { kind: 'field', path, valueType, ...unit, types, label: own };
  for (const name of [field.key, ...namesOf(type, field), ...textsOf(field.label, declared?.translations)])
    add(name, meaning);
  if (unit.unit) add('cost', meaning);
  for (const name of fieldNames[field.key] ?? []) add(name, meaning);
  for (const text of translationsOf(field.label, declared?.translations))
    for (const name of inflected(text)) add(name, meaning);
  const counted = /^number of (.+)$/i.exec(field.label)?.[1];
  if (counted) add(counted, { kind: 'counted', path, types, label: own });
  for (const option of field.options) {
    const label = field.optionLabels.get(option) ?? option;
    const value = part(option);
    const isOneOfMany = field.type === 'multiple_select';
    const { translations } = declared?.options?.find(({ key }) => key === option) ?? {};
    const translated = textsOf(label, translations).flatMap(plainForms);
    const adverb = /^\p{L}+(?= \p{L}+$)/u.exec(field.label)?.[0];
    // "technisch ungeeignet" of Technische Eignung
    const german = translationsOf(field.label, declared?.translations).flatMap(
      (text) => /^\p{L}+(?=e \p{Lu}\p{L}+$)/u.exec(text)?.[0] ?? [],
    );
    for (const name of [
      option,
      ...namesOfOption(label),
      ...translated.flatMap(declined),
      ...german.flatMap((word) => translated.map((text) => `${word} ${text}`)),
      ...(adverb ? [`${adverb}ly ${label}`] : []),
    ])
      add(name, {
        kind: 'option',
        path,
        value,
        types,
        label: `${own} ${optionLabels.get(option) ?? option}`,
        isOneOfMany,
      });
  }
}

/** The label of a field, and shorter forms that are usual: `AI features` for Has AI Features, `risk` for Risk Level. */
function namesOf(type: CardType, { label, type: kind }: CompiledField): string[] {
  const names = [label, `${type.label} ${label}`];
  if (kind === 'boolean') names.push(label.replace(/^(has|is|contains|uses) /i, ''));
  // "provider" is the card type, not its Provider Type
  const plain = label.replace(/(?<=.) (level|type)$/i, '');
  if (kind === 'single_select' && plain !== type.label) names.push(plain);
  if (kind === 'date') {
    const event = label.replace(/(?<=.) date$/i, '');
    names.push(event, ...eventForms(event));
  }
  return names;
}

/** The texts of a label in other languages. */
const translationsOf = (label: string, translations: Translations | undefined): string[] =>
  textsOf(label, translations).slice(1);

/** A noun with its usual endings in German: `Betriebsarten`, `Standortes`. */
const inflected = (noun: string): string[] =>
  ['', 'n', 'en', 'e', 's', 'es'].map((ending) => `${noun}${ending}`);

/** An adjective with its endings in German: `streng vertrauliche`. */
const declined = (text: string): string[] =>
  ['', 'e', 'en', 'er', 'es', 'em'].map((ending) => `${text}${ending}`);

/** `contract ends` and `ending` for End. */
function eventForms(event: string): string[] {
  const rest = event.split(' ');
  const last = rest.pop()!;
  if (!/^(end|start)$/i.test(last)) return [];
  return ['ing', 'ed'].map((ending) => [...rest, last + ending].join(' '));
}

/** A label, without a number before it, and if it has a text in brackets, the text before them and in them. */
function plainForms(label: string): string[] {
  const plain = label.replace(/^\d+ - /, '');
  return [label, plain, ...(/^(.+?) \((.+)\)$/.exec(plain)?.slice(1) ?? [])];
}

/** The label of an option, `Initial` for 1 - Initial, `SaaS` and `Cloud` for Cloud (SaaS), `should be migrated` for Migrate. */
function namesOfOption(label: string): string[] {
  const [, plain = label, head, detail] = plainForms(label);
  const verbs = /^\p{L}+(at|st|e)e?$/u.test(plain) ? [`${plain.replace(/e$/, '')}ed`] : [];
  const asked = verbs.flatMap((verb) => [`should be ${verb}`, `to be ${verb}`, `must be ${verb}`]);
  return [label, plain, ...(head ? [head, detail!, `${detail} ${head}`] : []), ...asked];
}

function isSame(a: Meaning, b: Meaning): boolean {
  if (a.kind !== b.kind) return false;
  if (a.kind === 'type' && b.kind === 'type') return a.type === b.type;
  if (a.kind === 'subtype' && b.kind === 'subtype') return a.subtype === b.subtype;
  if (a.kind === 'field' && b.kind === 'field') return a.path === b.path && a.valueType === b.valueType;
  if (a.kind === 'option' && b.kind === 'option') return a.path === b.path && a.value === b.value;
  if (a.kind === 'counted' && b.kind === 'counted') return a.path === b.path;
  if (a.kind === 'cost' && b.kind === 'cost') return a.cost === b.cost;
  return a.kind === 'phase' && b.kind === 'phase' && a.phase === b.phase;
}

/** The meanings of the longest phrase that begins at a word and is of use, with how many words it has. */
export function lookUp(
  { phrases, longest }: Vocabulary,
  norms: readonly string[],
  at: number,
  useful: (meaning: Meaning) => boolean = () => true,
): { meanings: Meaning[]; length: number } | undefined {
  for (let length = Math.min(longest, norms.length - at); length > 0; length -= 1) {
    const meanings = phrases.get(norms.slice(at, at + length).join(' '))?.filter(useful) ?? [];
    if (meanings.length > 0) return { meanings, length };
  }
  return undefined;
}
