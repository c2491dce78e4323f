import { approvalStatuses } from '../../../domain/inventory/cards/cards.model.ts';
import type { CompiledField, Metamodel } from '../../../domain/kernel/metamodel/metamodel.compile.ts';
import { type LifecyclePhase, lifecyclePhases } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import { queryRows, type Sql } from '../../../platform/database.ts';
import { phaseLabel } from '../../kernel/charts/charts.labels.ts';
import grammar from './question.grammar.json' with { type: 'json' };
import { phraseOf } from './question.words.ts';

/** The value type of a field, for questions. */
type FieldKind = 'text' | 'number' | 'date' | 'timestamp' | 'boolean' | 'options' | 'key';

/** A possible meaning of a phrase. */
export type Meaning =
  | { kind: 'type'; type: string; label: string }
  | { kind: 'subtype'; types: string[]; subtype: string; label: string }
  | { kind: 'field'; path: string; valueType: FieldKind; unit?: 'cost'; types: string[]; label: string }
  | { kind: 'option'; path: string; value: string; types: string[]; label: string }
  | { kind: 'phase'; phase: LifecyclePhase; label: string };

/** All names for questions, by phrase. */
export interface Vocabulary {
  metamodel: Metamodel;
  /** By the words of a phrase, joined by blanks. */
  phrases: ReadonlyMap<string, Meaning[]>;
  /** Words of the longest phrase. */
  longest: number;
}

/** More tags than that are not looked for in questions. */
const MOST_TAGS = 5_000;

export interface NamedTag {
  group: string;
  tag: string;
}

/** The names of tags, for the vocabulary. */
export async function readTagNames(db: Sql): Promise<NamedTag[]> {
  return await queryRows(
    db,
    `select g.name as "group", t.name as tag from tags t join tag_groups g on g.id = t.tag_group_id
     order by g.name, t.name, t.id limit ${MOST_TAGS}`,
  );
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

/** Fields that every card has. */
const commonFields = grammar.fields as { path: string; kind: FieldKind; names: string[] }[];

/** A key or name as a part of a path in the filter language. */
const part = (name: string): string =>
  /^[A-Za-z_][\w-]*$/.test(name) && !grammar.filterWords.includes(name.toLowerCase()) ? name : quoted(name);

/** A text of the filter language. */
export const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;

/** The vocabulary of the visible part of the metamodel, and of the tags. */
export function createVocabulary(metamodel: Metamodel, tags: readonly NamedTag[]): Vocabulary {
  const phrases = new Map<string, Meaning[]>();
  let longest = 1;
  const add = (name: string, meaning: Meaning) => {
    const words = phraseOf(name);
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
      add(name, { kind: 'field', path, valueType, types: visibleTypes, label: names[0]! });
  }
  for (const value of approvalStatuses) {
    const path = 'approval_status';
    add(value, { kind: 'option', path, value, types: visibleTypes, label: `approval status ${value}` });
  }
  for (const phase of lifecyclePhases) {
    for (const name of grammar.phases[phase])
      add(name, { kind: 'phase', phase, label: phaseLabel(phase).toLowerCase() });
  }
  for (const key of visibleTypes) addType(metamodel, key, add);
  for (const { group, tag } of tags) {
    const path = `tags.${part(group)}`;
    add(group, { kind: 'field', path, valueType: 'options', types: visibleTypes, label: group });
    for (const name of [tag, `${group} ${tag}`]) {
      add(name, {
        kind: 'option',
        path,
        value: quoted(tag),
        types: visibleTypes,
        label: `tag ${group}/${tag}`,
      });
    }
  }
  return { metamodel, phrases, longest };
}

function addType(metamodel: Metamodel, key: string, add: (name: string, meaning: Meaning) => void): void {
  const type = metamodel.cardTypes.get(key)!;
  for (const name of [type.label, key]) add(name, { kind: 'type', type: key, label: type.label });
  for (const subtype of type.subtypes) {
    for (const name of [subtype.label, subtype.key]) {
      add(name, { kind: 'subtype', types: [key], subtype: subtype.key, label: subtype.label });
    }
  }
  for (const role of type.stakeholderRoles) {
    const path = `stakeholder.${part(role.key)}`;
    add(role.label, { kind: 'field', path, valueType: 'key', types: [key], label: role.label });
  }
  for (const field of type.fields.values()) {
    const path = `attributes.${part(field.key)}`;
    const valueType = fieldKinds[field.type];
    const unit = field.type === 'cost' ? { unit: 'cost' as const } : {};
    const meaning: Meaning = { kind: 'field', path, valueType, ...unit, types: [key], label: field.label };
    for (const name of [field.label, field.key]) add(name, meaning);
    if (unit.unit) add('cost', meaning);
    for (const option of field.options) {
      const label = field.optionLabels.get(option) ?? option;
      for (const name of [label, option]) {
        const value = part(option);
        add(name, { kind: 'option', path, value, types: [key], label: `${field.label} ${label}` });
      }
    }
  }
}

function isSame(a: Meaning, b: Meaning): boolean {
  if (a.kind !== b.kind) return false;
  if (a.kind === 'type' && b.kind === 'type') return a.type === b.type;
  if (a.kind === 'subtype' && b.kind === 'subtype') return a.subtype === b.subtype;
  if (a.kind === 'field' && b.kind === 'field') return a.path === b.path && a.valueType === b.valueType;
  if (a.kind === 'option' && b.kind === 'option') return a.path === b.path && a.value === b.value;
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
    const known = phrases.get(norms.slice(at, at + length).join(' '));
    const meanings = known?.filter(useful) ?? [];
    if (meanings.length > 0) return { meanings, length };
  }
  return undefined;
}
