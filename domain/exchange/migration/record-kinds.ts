import type { CardType, Metamodel, RelationType } from '../../kernel/metamodel/metamodel.compile.ts';
import { fold } from '../../kernel/transfer/columns.ts';
import { relationTypesBetween } from './mapping.guess.ts';
import { cardTargets, relationOf, type TargetOption, TYPE_COLUMN } from './mapping.targets.ts';
import definitions from './record-kinds.json' with { type: 'json' };
import type { RowKind, SourceBlock, SourceType } from './source.types.ts';

/** The columns of a row that name a card: both ends of a relation, or the card that an attachment belongs to. */
export type CardReference = 'source' | 'target' | 'card';

/** A kind of rows that are no cards, but relate cards or belong to one. */
interface RecordKind {
  kind: 'relation' | 'parent' | 'document' | 'comment' | 'subscription';
  /** Names the kind as the mapping target of a block. */
  key: string;
  label: string;
  /** Folded names of sheets that hold such rows if they also have a column for one of `needs`. */
  sheets: string[];
  needs: string[];
  /** What columns can be mapped to, each with the folded column names that mean it. */
  targets: { key: string; label: string; type: string; heads: string[] }[];
}

const recordKinds = definitions as readonly RecordKind[];
const kindNamed = (kind: string): RecordKind | undefined => recordKinds.find((one) => one.kind === kind);

/** What the rows of a block become. */
export type RowTarget =
  | { kind: 'card'; type: CardType }
  /** Without a type each row names its own. `reversed`: the row's source is the relation's target. */
  | { kind: 'relation'; type: RelationType | null; reversed: boolean }
  /** The row's source has its target as parent. */
  | { kind: 'parent' | 'document' | 'comment' | 'subscription' };
export type RecordTarget = Exclude<RowTarget, { kind: 'card' }>;

/** The mapping target of a block by its key; undefined if there is none. */
export function rowTarget(metamodel: Metamodel, key: string): RowTarget | undefined {
  const named = recordKinds.find((one) => one.key === key);
  if (named?.kind === 'relation') return { kind: 'relation', type: null, reversed: false };
  if (named) return { kind: named.kind };
  if (metamodel.visibleTypes.includes(key)) return { kind: 'card', type: metamodel.cardTypes.get(key)! };
  const relation = relationOf(key);
  if (!relation || relation.part || !metamodel.visibleRelationTypes.includes(relation.type)) return undefined;
  return { kind: 'relation', type: metamodel.relationTypes.get(relation.type)!, reversed: relation.reversed };
}

/** The key and label of a mapping target; `key` is null if the block has none. */
export function describeTarget(target: RowTarget | undefined): { key: string | null; label: string } {
  if (!target) return { key: null, label: '' };
  if (!('type' in target) || !target.type) return kindNamed(target.kind)!;
  const { key, label } = target.type;
  if (target.kind === 'card') return { key, label };
  return { key: `relations.${key}${target.reversed ? '.reverse' : ''}`, label };
}

/** All that the rows of a block can become. */
export function blockOptions(metamodel: Metamodel): TargetOption[] {
  const option = (key: string, label: string, type: string) => ({ key, label, type, section: TYPE_COLUMN });
  return [
    ...metamodel.visibleTypes.map((key) => option(key, metamodel.cardTypes.get(key)!.label, 'card_type')),
    ...recordKinds.map(({ key, label }) => option(key, label, 'rows')),
    ...metamodel.visibleRelationTypes.flatMap((key) => {
      const { label, source_type_key: from, target_type_key: to } = metamodel.relationTypes.get(key)!;
      return [
        option(`relations.${key}`, `${from} ${label} ${to}`, 'relation'),
        option(`relations.${key}.reverse`, `${from} ${label} ${to}, from target to source`, 'relation'),
      ];
    }),
  ];
}

/** What the columns of a block can be mapped to. */
export function columnTargets(metamodel: Metamodel, target: RowTarget | undefined): TargetOption[] {
  if (!target) return [];
  if (target.kind === 'card') return cardTargets(metamodel, target.type);
  const own = kindNamed(target.kind)!.targets.map(({ key, label, type }) => ({
    key,
    label,
    type,
    section: null,
  }));
  if (target.kind !== 'relation') return own;
  const types = target.type
    ? [target.type]
    : metamodel.visibleRelationTypes.map((key) => metamodel.relationTypes.get(key)!);
  const fields = new Map(types.flatMap((type) => [...type.fields.values()]).map((one) => [one.key, one]));
  return [
    ...own.filter(({ key }) => !target.type || key !== 'relation_type'),
    ...[...fields.values()]
      .filter(({ readonly }) => !readonly)
      .map(({ key, label, type }) => ({ key: `attributes.${key}`, label, type, section: 'Attributes' })),
  ];
}

/** What a column of rows of a kind means by its name; undefined if no rule knows the name. */
export function targetOfHead(kind: RecordKind['kind'], head: string): string | undefined {
  const name = fold(head);
  return kindNamed(kind)!.targets.find(({ heads }) => heads.includes(name))?.key;
}

/** Sheets of a snapshot that describe the other workspace. Their content is not imported. */
const workspaceSheets = ['taggroups', 'tags', 'types', 'user', 'users'];

/** What the rows of a sheet are, by its name and its columns. */
export function kindOfSheet(sheet: string, heads: readonly string[], source: SourceType): RowKind {
  const name = fold(sheet);
  if (source === 'leanix' && workspaceSheets.includes(name)) return 'about';
  const has = (kind: RecordKind['kind'], target: string) =>
    heads.some((head) => targetOfHead(kind, head) === target);
  // rows with a name are things of their own: an interface may well have a source and a target
  const isNamed = heads.some((head) => ['name', 'displayname'].includes(fold(head)));
  if (!isNamed && has('relation', 'source') && has('relation', 'target')) return 'relation';
  const found = recordKinds.find(
    ({ kind, sheets, needs }) =>
      sheets.includes(name) && has(kind, 'card') && needs.some((target) => has(kind, target)),
  );
  return (found?.kind as RowKind | undefined) ?? 'card';
}

/**
 * The mapping target of a block without cards, by its sheet and columns.
 * @param cardTypeOf the card type of a native type.
 */
export function guessRowTarget(
  metamodel: Metamodel,
  { native_type, kind, ends, columns }: SourceBlock,
  cardTypeOf: (native: string) => string | undefined,
): RowTarget | undefined {
  if (kind === 'document' || kind === 'comment' || kind === 'subscription') return { kind };
  if (kind !== 'relation') return undefined;
  if (/^childparent/.test(fold(native_type))) return { kind: 'parent' };
  const [from, to] = [ends && cardTypeOf(ends.source), ends && cardTypeOf(ends.target)];
  if (from && to) {
    const isSuccession = /successor/i.test(native_type);
    const joining = relationTypesBetween(metamodel, from, to).filter(
      ({ key }) => from !== to || /successor$/i.test(key) === isSuccession,
    );
    const [type] = joining;
    // there the predecessor is the source, here the successor
    if (type && joining.length === 1) {
      return { kind: 'relation', type, reversed: from === to ? isSuccession : type.source_type_key !== from };
    }
  }
  const isTyped = columns.some(({ key }) => targetOfHead('relation', key) === 'relation_type');
  return isTyped ? { kind: 'relation', type: null, reversed: false } : undefined;
}

/** What a column of a block without cards means by its name, given the names of all its columns. */
export function guessRecordColumn(
  source: SourceType,
  { kind }: RecordTarget,
  column: string,
  targets: readonly TargetOption[],
  heads: readonly string[] = [],
): string | undefined {
  const wanted = fold(column);
  const known = (target: string | undefined) =>
    targets.some(({ key }) => key === target) ? target : undefined;
  if (wanted === 'type' && kind === 'subscription') {
    const others = heads.map((head) => targetOfHead(kind, head));
    return known(others.includes('role') && !others.includes('card_type') ? 'card_type' : 'role_type');
  }
  if (wanted === 'type' && (kind === 'document' || kind === 'comment')) {
    return known(source === 'sheet' && kind === 'document' ? 'document_type' : 'card_type');
  }
  return (
    known(targetOfHead(kind, column)) ??
    known(column.startsWith('attributes.') ? column : undefined) ??
    targets.find(
      ({ key, label }) =>
        key.startsWith('attributes.') &&
        [fold(key.slice('attributes.'.length)), fold(label)].includes(wanted),
    )?.key
  );
}
