import type { CardType, Metamodel } from '../metamodel/metamodel.compile.ts';
import { lifecyclePhases } from '../metamodel/metamodel.types.ts';

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

/** What columns of a block can be mapped to, with its card type; its types alone where it has none. */
export function targetsOf(metamodel: Metamodel, type: CardType | undefined): TargetOption[] {
  const types = metamodel.visibleTypes.map((key) => ({
    key,
    label: metamodel.cardTypes.get(key)!.label,
    type: 'card_type',
    section: TYPE_COLUMN,
  }));
  if (!type) return types;
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
      targets.push({ key: `relations.${key}`, label, type: 'relation', section: 'Relations' });
    }
    if (relation.target_type_key === type.key) {
      const label = `${relation.reverse_label ?? relation.label}: ${end(relation.source_type_key)}`;
      targets.push({ key: `relations.${key}${REVERSED}`, label, type: 'relation', section: 'Relations' });
    }
  }
  return [...targets, ...types];
}

/** Targets under which several columns may stand. */
export function takesMany(target: string): boolean {
  return /^(tags|stakeholders\.|relations\.)/.test(target);
}

/** The relation type of a target, and whether the row's card is its target; undefined for any other. */
export function relationOf(target: string): { type: string; reversed: boolean } | undefined {
  if (!target.startsWith('relations.')) return undefined;
  const reversed = target.endsWith(REVERSED);
  const type = target.slice('relations.'.length, reversed ? -REVERSED.length : undefined);
  return { type, reversed };
}
