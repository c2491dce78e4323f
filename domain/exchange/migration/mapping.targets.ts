import { LEVEL_FIELD } from '../../inventory/cards/rules/capability.ts';
import type { CardType, Metamodel, RelationType } from '../../kernel/metamodel/metamodel.compile.ts';
import { lifecyclePhases } from '../../kernel/metamodel/metamodel.types.ts';

/** The key under which the mapping of a block names what its rows become. */
export const TYPE_COLUMN = '$type';
/** The mapping target of a column that is left out. */
export const LEFT_OUT = '';
/** The suffix of a relation target whose row is the target of the relation. */
export const REVERSED = '.reverse';

/** Something that a column can be mapped to. */
export interface TargetOption {
  key: string;
  label: string;
  /** A field's type, or `reference`, `tags`, `people` and `relation` for what is looked up; `card_type` for types. */
  type: string;
  section: string | null;
}

const option = (key: string, label: string, type: string, section: string | null = null): TargetOption => ({
  key,
  label,
  type,
  section,
});

const general = [
  option('external_id', 'External id', 'text'),
  option('source_id', 'Id in the file, which other rows refer to', 'text'),
  option('name', 'Name', 'text'),
  option('display_name', 'Name with the names of all parents', 'text'),
  option('alias', 'Alias', 'text'),
  option('description', 'Description', 'text'),
  option('subtype', 'Subtype', 'single_select'),
  option('status', 'Active or archived', 'single_select'),
  option('approval_status', 'Approval', 'single_select'),
];

/** What columns of a block of cards can be mapped to. */
export function cardTargets(metamodel: Metamodel, type: CardType): TargetOption[] {
  const sides = metamodel.visibleRelationTypes.flatMap((key) => {
    const relation = metamodel.relationTypes.get(key)!;
    const { label, reverse_label, source_type_key: source, target_type_key: target } = relation;
    const side = (suffix: string, own: string, other: string) =>
      relationTargets(
        relation,
        `relations.${key}${suffix}`,
        `${own}: ${metamodel.cardTypes.get(other)?.label ?? other}`,
      );
    return [
      ...(source === type.key ? side('', label, target) : []),
      ...(target === type.key ? side(REVERSED, reverse_label ?? label, source) : []),
    ];
  });
  return [
    ...general,
    ...(type.has_hierarchy ? [option('parent', 'Parent', 'reference')] : []),
    ...lifecyclePhases.map((phase) => option(`lifecycle.${phase}`, phase, 'date', 'Lifecycle')),
    ...type.fields_schema.flatMap(({ section, fields }) =>
      fields.flatMap(({ key }) => {
        const field = type.fields.get(key);
        // of a capability, whether it is a Macro follows from its level alone
        const isSet = field && (!field.readonly || key === LEVEL_FIELD);
        return isSet ? option(`attributes.${key}`, field.label, field.type, section) : [];
      }),
    ),
    option('tags', 'Tags', 'tags', 'Tags'),
    option('stakeholders', 'People as role:address', 'people', 'Stakeholders'),
    ...type.stakeholderRoles.map(({ key, label }) =>
      option(`stakeholders.${key}`, label, 'people', 'Stakeholders'),
    ),
    ...sides,
  ];
}

/** A relation by its other end, and its own values. */
function relationTargets({ fields }: RelationType, base: string, label: string): TargetOption[] {
  return [
    option(base, label, 'relation', 'Relations'),
    option(`${base}:description`, `${label}: Description`, 'text', 'Relations'),
    ...[...fields.values()]
      .filter(({ readonly }) => !readonly)
      .map((one) => option(`${base}:attributes.${one.key}`, `${label}: ${one.label}`, one.type, 'Relations')),
  ];
}

const TAGS_OF = 'tags:';

/** Whether a column holds tags, of any group or of one. */
export const isTags = (target: string): boolean => target === 'tags' || tagGroupOf(target) !== undefined;

/** The tag group that a target such as `tags:Region` names, or undefined. */
export function tagGroupOf(target: string): string | undefined {
  return (target.startsWith(TAGS_OF) && target.slice(TAGS_OF.length).trim()) || undefined;
}

/** The target of a column that holds tags of a group. */
export const tagGroupTarget = (group: string): TargetOption =>
  option(`${TAGS_OF}${group}`, `Tags of ${group}`, 'tags', 'Tags');

/** What names a card: the first column that is not empty counts. */
const references = ['parent', 'source', 'target'];

/** Whether several columns can be mapped to the target. */
export function allowsSeveralColumns(target: string): boolean {
  return isTags(target) || references.includes(target) || /^(stakeholders(\.|$)|relations\.)/.test(target);
}

/** A mapping target that is a relation, or a value of one. */
export interface RelationTarget {
  type: string;
  /** Whether the row's card is the target. */
  reversed: boolean;
  /** `description` or `attributes.<key>` if the column holds a value of the relation instead of its other end. */
  part?: string;
}

/** Parses a target such as `relations.relAppToITC.reverse:description`; undefined if it is no relation. */
export function relationOf(target: string): RelationTarget | undefined {
  if (!target.startsWith('relations.')) return undefined;
  const [base = '', part] = target.split(':');
  const reversed = base.endsWith(REVERSED);
  const type = base.slice('relations.'.length, reversed ? -REVERSED.length : undefined);
  return { type, reversed, ...(part !== undefined && { part }) };
}
