import type { CardType, Metamodel, RelationType } from '../../kernel/metamodel/metamodel.compile.ts';
import { lifecyclePhases } from '../../kernel/metamodel/metamodel.types.ts';

/** The key under which a block's mapping names its card type. */
export const TYPE_COLUMN = '$type';
/** What a column is mapped to that shall be left out. */
export const LEFT_OUT = '';
/** The end of a relation's target that stands for the other direction. */
export const REVERSED = '.reverse';

/** Something that a column can be mapped to. */
export interface TargetOption {
  key: string;
  label: string;
  /** A field's type, or `reference`, `tags`, `people` and `relation` for what is looked up; `card_type` for types. */
  type: string;
  section: string | null;
}

const general: TargetOption[] = [
  { key: 'external_id', label: 'External id', type: 'text', section: null },
  { key: 'name', label: 'Name', type: 'text', section: null },
  { key: 'display_name', label: 'Name with those above it', type: 'text', section: null },
  { key: 'alias', label: 'Alias', type: 'text', section: null },
  { key: 'description', label: 'Description', type: 'text', section: null },
  { key: 'subtype', label: 'Subtype', type: 'single_select', section: null },
  { key: 'status', label: 'Active or archived', type: 'single_select', section: null },
];

/** What columns of a block of cards can be mapped to. */
export function cardTargets(metamodel: Metamodel, type: CardType): TargetOption[] {
  const targets = [...general];
  if (type.has_hierarchy) targets.push({ key: 'parent', label: 'Parent', type: 'reference', section: null });
  for (const phase of lifecyclePhases) {
    targets.push({ key: `lifecycle.${phase}`, label: phase, type: 'date', section: 'Lifecycle' });
  }
  for (const { section, fields } of type.fields_schema) {
    for (const { key } of fields) {
      const field = type.fields.get(key);
      if (!field || field.readonly) continue;
      targets.push({ key: `attributes.${key}`, label: field.label, type: field.type, section });
    }
  }
  targets.push({ key: 'tags', label: 'Tags', type: 'tags', section: 'Tags' });
  for (const { key, label } of type.stakeholderRoles) {
    targets.push({ key: `stakeholders.${key}`, label, type: 'people', section: 'Stakeholders' });
  }
  for (const key of metamodel.visibleRelationTypes) {
    const relation = metamodel.relationTypes.get(key)!;
    const end = (other: string) => metamodel.cardTypes.get(other)?.label ?? other;
    if (relation.source_type_key === type.key) {
      const label = `${relation.label}: ${end(relation.target_type_key)}`;
      targets.push(...relationTargets(relation, `relations.${key}`, label));
    }
    if (relation.target_type_key === type.key) {
      const label = `${relation.reverse_label ?? relation.label}: ${end(relation.source_type_key)}`;
      targets.push(...relationTargets(relation, `relations.${key}${REVERSED}`, label));
    }
  }
  return targets;
}

/** A relation by its other end, and its own values. */
function relationTargets({ fields }: RelationType, base: string, label: string): TargetOption[] {
  const section = 'Relations';
  return [
    { key: base, label, type: 'relation', section },
    { key: `${base}:description`, label: `${label}: Description`, type: 'text', section },
    ...[...fields.values()]
      .filter(({ readonly }) => !readonly)
      .map((field) => ({
        key: `${base}:attributes.${field.key}`,
        label: `${label}: ${field.label}`,
        type: field.type,
        section,
      })),
  ];
}

/** Characters of the name of a tag or of a tag group, at most. */
export const MAX_TAG = 200;

const TAGS_OF = 'tags:';

/** Whether a column holds tags, of any group or of one. */
export const isTags = (target: string): boolean => target === 'tags' || tagGroupOf(target) !== undefined;

/** The tag group that a target names, such as `tags:Region`, or undefined. */
export function tagGroupOf(target: string): string | undefined {
  const group = target.startsWith(TAGS_OF) ? target.slice(TAGS_OF.length).trim() : '';
  return group === '' ? undefined : group;
}

/** The target of a column that holds tags of a group. */
export const tagGroupTarget = (group: string): TargetOption => ({
  key: `${TAGS_OF}${group}`,
  label: `Tags of ${group}`,
  type: 'tags',
  section: 'Tags',
});

/** Targets of cards under which several columns may stand. */
export function takesMany(target: string): boolean {
  return isTags(target) || /^(stakeholders\.|relations\.)/.test(target);
}

/** What a target says of relations. */
export interface RelationTarget {
  type: string;
  /** Whether the row's card is the target. */
  reversed: boolean;
  /** `description` or `attributes.<key>` where the column holds a value of the relation and not its other end. */
  part?: string;
}

/** The relation type of a target, and whether the row's card is its target; undefined for any other. */
export function relationOf(target: string): RelationTarget | undefined {
  if (!target.startsWith('relations.')) return undefined;
  const [base = '', part] = target.split(':');
  const reversed = base.endsWith(REVERSED);
  const type = base.slice('relations.'.length, reversed ? -REVERSED.length : undefined);
  return { type, reversed, ...(part === undefined ? {} : { part }) };
}
