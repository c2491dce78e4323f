import type { CardType, Metamodel, RelationType } from '../../kernel/metamodel/metamodel.compile.ts';
import { lifecyclePhases } from '../../kernel/metamodel/metamodel.types.ts';
import { fold } from '../../kernel/transfer/columns.ts';
import { REVERSED, relationOf } from './mapping.targets.ts';
import type { SourceBlock, SourceColumn, SourceType } from './source.types.ts';

/** Types of LeanIX that have another name here, folded. */
const renamedTypes: Record<string, string> = {
  process: 'BusinessProcess',
  usergroup: 'Organization',
  project: 'Initiative',
  technicalstack: 'TechCategory',
  technologycategory: 'TechCategory',
  organisation: 'Organization',
};

/** Columns of fields that have another name here, folded. */
const renamedFields: Record<string, string> = {
  lxtimeclassification: 'timeModel',
  timeclassification: 'timeModel',
  lxhostingtype: 'hostingType',
};

const ids = ['id', 'externalid', 'key', 'uuid'];
const parents = ['reltoparent', 'parent', 'parentid', 'parentname', 'parentexternalid'];
const names = ['name', 'display_name', 'description', 'alias', 'subtype', 'status'];

/** The card type with the name of a native type; undefined if there is none. */
export function guessType(metamodel: Metamodel, native: string): string | undefined {
  const wanted = fold(native);
  const types = metamodel.visibleTypes.map((key) => metamodel.cardTypes.get(key)!);
  const byName = (name: string) =>
    types.find((type) => fold(type.key) === name || fold(type.label) === name)?.key;
  const renamed = renamedTypes[wanted] ?? renamedTypes[singular(wanted)];
  return byName(wanted) ?? byName(singular(wanted)) ?? types.find(({ key }) => key === renamed)?.key;
}

const singular = (word: string): string => word.replace(/ies$/, 'y').replace(/(?<!s)s$/, '');

/** A block of cards whose columns are mapped by their names. */
interface Guessing {
  metamodel: Metamodel;
  source: SourceType;
  block: SourceBlock;
  /** The card types of all blocks by native type. */
  types: ReadonlyMap<string, string>;
  type: CardType;
}

/** The columns of an exported sheet that are not mapped to what they are called. */
const ownColumns: Record<string, string> = {
  id: 'source_id',
  parent_id: 'parent',
  parent_external_id: 'parent',
  parent_path: 'parent',
};

/** The target of a column of cards by its name; undefined if no rule knows the name. */
export function guessColumn(guessing: Guessing, column: SourceColumn): string | undefined {
  const { type, source, block } = guessing;
  if (block.own) return ownColumns[column.key] ?? column.key;
  const name = fold(column.key);
  if (source === 'leanix' ? column.key === 'id' : ids.includes(name)) return 'external_id';
  const own = names.find((one) => fold(one) === name);
  if (own) return own;
  if (source === 'leanix' && name === 'category' && type.subtypes.length > 0) return 'subtype';
  if (parents.includes(name)) return type.has_hierarchy ? 'parent' : undefined;
  const phase = lifecyclePhases.find((one) => name === fold(`lifecycle${one}`) || name === fold(one));
  if (phase) return `lifecycle.${phase}`;
  if (/^tags?(:|$)/i.test(column.key.trim())) return 'tags';
  const role = /^(?:subscriptions?|stakeholders?|roles?)\s*[:._]\s*(.+)$/i.exec(column.key)?.[1];
  const roleKey = roleOf(type, role ?? column.key);
  if (roleKey) return `stakeholders.${roleKey}`;
  return fieldOf(type, column) ?? guessRelation(guessing, column.key);
}

/** The stakeholder role with the name, or with one part of a name such as `RESPONSIBLE:Owner`. */
export function roleOf(type: CardType, name: string): string | undefined {
  const [first, ...rest] = name.split(':');
  for (const part of [name, rest.join(':'), first ?? '']) {
    const wanted = fold(part);
    const role = type.stakeholderRoles.find(
      ({ key, label }) => wanted !== '' && (fold(key) === wanted || fold(label) === wanted),
    );
    if (role) return role.key;
  }
  return undefined;
}

function fieldOf(type: CardType, { key, label }: SourceColumn): string | undefined {
  for (const name of [key, label ?? '']) {
    const wanted = fold(name);
    const renamed = renamedFields[wanted];
    for (const field of type.fields.values()) {
      if (field.readonly || wanted === '') continue;
      if (fold(field.key) === wanted || fold(field.label) === wanted || field.key === renamed) {
        return `attributes.${field.key}`;
      }
    }
  }
  return undefined;
}

/** The relation type of a column such as `relApplicationToITComponent`, if only one relates the two types. */
function guessRelation(guessing: Guessing, column: string): string | undefined {
  const { metamodel, block, types, type } = guessing;
  const own = metamodel.visibleRelationTypes.find((key) => key === column);
  if (own) return sideOf(metamodel, own, type);
  if (!/^rel/i.test(column)) return undefined;
  if (column.includes(':')) return guessPart(guessing, column);
  if (/^relTo(Successor|Predecessor)$/i.test(column)) {
    const key = metamodel.visibleRelationTypes.find(
      (one) => /successor$/i.test(one) && metamodel.relationTypes.get(one)!.source_type_key === type.key,
    );
    // the successor is the source
    return key && `relations.${key}${/successor/i.test(column) ? REVERSED : ''}`;
  }
  const other = otherEnd(metamodel, column.slice(3), block.native_type, types);
  if (!other) return undefined;
  const joining = relationTypesBetween(metamodel, type.key, other);
  return joining.length === 1 ? sideOf(metamodel, joining[0]!.key, type) : undefined;
}

/** A column such as `relApplicationToITComponent:costTotalAnnual`: a value of that relation, or its other end. */
function guessPart(guessing: Guessing, column: string): string | undefined {
  const at = column.indexOf(':');
  const base = guessRelation(guessing, column.slice(0, at));
  const relation = base === undefined ? undefined : relationOf(base);
  if (!relation) return undefined;
  const wanted = fold(column.slice(at + 1));
  if (['id', 'name', 'displayname'].includes(wanted)) return base;
  if (wanted === 'description') return `${base}:description`;
  const fields = guessing.metamodel.relationTypes.get(relation.type)!.fields;
  const field = [...fields.values()].find(({ key, label }) => fold(key) === wanted || fold(label) === wanted);
  return field && !field.readonly ? `${base}:attributes.${field.key}` : undefined;
}

function sideOf(metamodel: Metamodel, key: string, type: CardType): string | undefined {
  const relation = metamodel.relationTypes.get(key)!;
  if (relation.source_type_key === type.key) return `relations.${key}`;
  return relation.target_type_key === type.key ? `relations.${key}${REVERSED}` : undefined;
}

/** The card type at the other end: of `ProviderApplicationToInterface` on applications, that of interfaces. */
function otherEnd(
  metamodel: Metamodel,
  name: string,
  native: string,
  types: ReadonlyMap<string, string>,
): string | undefined {
  const longestFirst = [...types].sort(([a], [b]) => b.length - a.length);
  for (const cut of name.matchAll(/To/g)) {
    const [left, right] = [name.slice(0, cut.index), name.slice(cut.index + 2)];
    const found =
      (left.endsWith(native) &&
        (longestFirst.find(([key]) => right.startsWith(key))?.[1] ?? guessType(metamodel, right))) ||
      (right.startsWith(native) &&
        (longestFirst.find(([key]) => left.endsWith(key))?.[1] ?? guessType(metamodel, left)));
    if (found) return found;
  }
  return undefined;
}

/** The card type of a native type: the one that a block of the file is mapped to, else the one with its name. */
export const cardTypeFinder =
  (metamodel: Metamodel, types: ReadonlyMap<string, string>) =>
  (native: string): string | undefined =>
    types.get(native) ?? guessType(metamodel, native);

/** The visible relation types that relate two card types, in either direction. */
export function relationTypesBetween(metamodel: Metamodel, one: string, other: string): RelationType[] {
  return metamodel.visibleRelationTypes
    .map((key) => metamodel.relationTypes.get(key)!)
    .filter(
      ({ source_type_key: from, target_type_key: to }) =>
        (from === one && to === other) || (from === other && to === one),
    );
}
