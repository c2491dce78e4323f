import type { CardType, Metamodel, RelationType } from '../../kernel/metamodel/metamodel.compile.ts';
import { fold } from './fold.ts';
import { guessType } from './mapping.guess.ts';
import { relationOf, type TargetOption, TYPE_COLUMN } from './mapping.targets.ts';
import { type OtherKind, otherTarget } from './source.kinds.ts';
import type { SourceBlock, SourceType } from './source.types.ts';

/** What the rows of a block become. */
export type Stands =
  | { kind: 'card'; type: CardType }
  /** Without a type each row names its own. `reversed`: the row's source is the relation's target. */
  | { kind: 'relation'; type: RelationType | null; reversed: boolean }
  /** The row's source has its target as parent. */
  | { kind: 'parent' }
  | { kind: 'document' }
  | { kind: 'comment' }
  | { kind: 'subscription' };

/** What a block's mapping names besides card types and relation types. */
const named: Record<string, { stands: Stands; label: string }> = {
  $relations: {
    stands: { kind: 'relation', type: null, reversed: false },
    label: 'Relations of the type that each row names',
  },
  $parents: { stands: { kind: 'parent' }, label: 'Places of cards below others' },
  $documents: { stands: { kind: 'document' }, label: 'Links of cards' },
  $comments: { stands: { kind: 'comment' }, label: 'Comments on cards' },
  $subscriptions: { stands: { kind: 'subscription' }, label: 'People on cards' },
};

/** What a key of {@link blockOptions} stands for; undefined for none. */
export function standsFor(metamodel: Metamodel, key: string): Stands | undefined {
  if (Object.hasOwn(named, key)) return named[key]!.stands;
  if (metamodel.visibleTypes.includes(key)) return { kind: 'card', type: metamodel.cardTypes.get(key)! };
  const relation = relationOf(key);
  if (!relation || relation.part || !metamodel.visibleRelationTypes.includes(relation.type)) return undefined;
  return {
    kind: 'relation',
    type: metamodel.relationTypes.get(relation.type)!,
    reversed: relation.reversed,
  };
}

/** The key under which the mapping of a block names what it stands for; null for nothing. */
export function keyOf(stands: Stands | undefined): string | null {
  if (!stands) return null;
  if (stands.kind === 'card') return stands.type.key;
  if (stands.kind === 'relation' && stands.type) {
    return `relations.${stands.type.key}${stands.reversed ? '.reverse' : ''}`;
  }
  return Object.entries(named).find(([, one]) => one.stands.kind === stands.kind)![0];
}

/** What it stands for, in words. */
export function labelOf(stands: Stands | undefined): string {
  if (!stands) return '';
  if (stands.kind === 'card') return stands.type.label;
  if (stands.kind === 'relation' && stands.type) return stands.type.label;
  return named[keyOf(stands)!]!.label;
}

/** All that the rows of a block can become. */
export function blockOptions(metamodel: Metamodel): TargetOption[] {
  const option = (key: string, label: string, type: string): TargetOption => ({
    key,
    label,
    type,
    section: TYPE_COLUMN,
  });
  return [
    ...metamodel.visibleTypes.map((key) => option(key, metamodel.cardTypes.get(key)!.label, 'card_type')),
    ...Object.entries(named).map(([key, { label }]) => option(key, label, 'rows')),
    ...metamodel.visibleRelationTypes.flatMap((key) => {
      const { label, source_type_key: from, target_type_key: to } = metamodel.relationTypes.get(key)!;
      return [
        option(`relations.${key}`, `${from} ${label} ${to}`, 'relation'),
        option(`relations.${key}.reverse`, `${from} ${label} ${to}, told from its target`, 'relation'),
      ];
    }),
  ];
}

const text = (key: string, label: string, type = 'text'): TargetOption => ({
  key,
  label,
  type,
  section: null,
});
const ends = [
  text('source', 'Id or name of the one end', 'reference'),
  text('source_type', 'Kind of the one end'),
  text('target', 'Id or name of the other end', 'reference'),
  text('target_type', 'Kind of the other end'),
  text('status', 'Active or archived', 'single_select'),
];
const onCard = [text('card', 'Id or name of the card', 'reference'), text('card_type', 'Kind of the card')];
const ofComment = [
  text('content', 'Text'),
  text('author', 'E-mail address of the author', 'people'),
  text('created_at', 'When it was written', 'date'),
];

/** What columns of a block that is no card's can be mapped to. */
export function otherTargets(
  metamodel: Metamodel,
  stands: Exclude<Stands, { kind: 'card' }>,
): TargetOption[] {
  switch (stands.kind) {
    case 'parent':
      return ends;
    case 'relation': {
      const types = stands.type
        ? [stands.type]
        : metamodel.visibleRelationTypes.map((key) => metamodel.relationTypes.get(key)!);
      const fields = new Map(types.flatMap((type) => [...type.fields.values()]).map((one) => [one.key, one]));
      return [
        ...ends,
        ...(stands.type ? [] : [text('relation_type', 'Relation type')]),
        text('description', 'Description'),
        ...[...fields.values()]
          .filter(({ readonly }) => !readonly)
          .map(({ key, label, type }) => ({ key: `attributes.${key}`, label, type, section: 'Attributes' })),
      ];
    }
    case 'document':
      return [
        ...onCard,
        text('name', 'Name'),
        text('url', 'Address', 'url'),
        text('document_type', 'Link type', 'single_select'),
      ];
    case 'comment':
      return [
        ...onCard,
        ...ofComment,
        text('status', 'Active or archived', 'single_select'),
        ...ofComment.map(({ key, label, type }) => text(`reply.${key}`, `Reply: ${label}`, type)),
      ];
    case 'subscription':
      return [
        ...onCard,
        text('person', 'E-mail addresses of users', 'people'),
        text('role', 'Role on the card'),
        text('role_type', 'Kind of the role, where no role is called as the role is'),
        text('status', 'Active or archived', 'single_select'),
      ];
  }
}

/** What a block that is no card's stands for by its head; `typeOf` tells the card type of a native one. */
export function guessStands(
  metamodel: Metamodel,
  { native_type, kind, ends: joined, columns }: SourceBlock,
  typeOf: (native: string) => string | undefined,
): Stands | undefined {
  if (kind === 'document' || kind === 'comment' || kind === 'subscription') return { kind };
  if (kind !== 'relation') return undefined;
  if (/^childparent/.test(fold(native_type))) return { kind: 'parent' };
  const [from, to] = [joined && typeOf(joined.source), joined && typeOf(joined.target)];
  if (from && to) {
    const succession = /successor/i.test(native_type);
    const joining = metamodel.visibleRelationTypes
      .map((key) => metamodel.relationTypes.get(key)!)
      .filter(({ key, source_type_key, target_type_key }) => {
        if (from === to && /successor$/i.test(key) !== succession) return false;
        return (
          (source_type_key === from && target_type_key === to) ||
          (source_type_key === to && target_type_key === from)
        );
      });
    const [type] = joining;
    // there the older comes first, here the successor succeeds
    if (type && joining.length === 1) {
      return { kind: 'relation', type, reversed: from === to ? succession : type.source_type_key !== from };
    }
  }
  const typed = columns.some(({ key }) => otherTarget('relation', key) === 'relation_type');
  return typed ? { kind: 'relation', type: null, reversed: false } : undefined;
}

/** What a column of a block that is no card's means by its head, among the others. */
export function guessOther(
  source: SourceType,
  stands: Exclude<Stands, { kind: 'card' }>,
  column: string,
  targets: readonly TargetOption[],
  heads: readonly string[] = [],
): string | undefined {
  const wanted = fold(column);
  const kind: OtherKind = stands.kind === 'parent' ? 'relation' : stands.kind;
  const known = (target: string | undefined) =>
    targets.some(({ key }) => key === target) ? target : undefined;
  if (wanted === 'type' && kind === 'subscription') {
    const others = heads.map((head) => otherTarget(kind, head));
    return known(others.includes('role') && !others.includes('card_type') ? 'card_type' : 'role_type');
  }
  if (wanted === 'type' && kind !== 'relation') {
    return known(source === 'sheet' && kind === 'document' ? 'document_type' : 'card_type');
  }
  return (
    known(otherTarget(kind, column)) ??
    targets.find(
      ({ key, label }) =>
        key.startsWith('attributes.') &&
        (fold(key.slice('attributes.'.length)) === wanted || fold(label) === wanted),
    )?.key
  );
}

/** The card type that a native one stands for: as the blocks of the file are mapped, else by its name. */
export function nativeTypes(
  metamodel: Metamodel,
  types: ReadonlyMap<string, string>,
): (native: string) => string | undefined {
  return (native) => types.get(native) ?? guessType(metamodel, native);
}
