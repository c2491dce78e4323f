import type { CalculationFormula } from '../formulas/calculations.model.ts';
import { type CalculationPlan, compileCalculations } from '../formulas/calculations.plan.ts';
import { compileDeprecations, type Deprecations } from './deprecations.ts';
import { eolFieldsOf } from './eol.fields.ts';
import { collectLanguages } from './languages.ts';
import type { CardTypeRow, RelationTypeRow, StakeholderRoleRow, TagGroupRow } from './metamodel.model.ts';
import type { Field, FieldType, RelationAttribute, Translations } from './metamodel.types.ts';

interface StakeholderRole {
  key: string;
  label: string;
  color: string;
  permissions: ReadonlySet<string>;
  translations: Translations;
}

type Undated<R> = Omit<R, 'created_at' | 'updated_at'>;
export type CardTypeColumns = Undated<CardTypeRow>;
export type RelationTypeColumns = Undated<RelationTypeRow>;
type RoleColumns = Omit<Undated<StakeholderRoleRow>, 'id' | 'description' | 'archived_at' | 'archived_by'>;
export type TagGroupColumns = Omit<Undated<TagGroupRow>, 'description'> & { has_tags: boolean };

/** One field with the lookups that checking a value needs. */
export interface CompiledField {
  key: string;
  label: string;
  type: FieldType;
  weight: number;
  required: boolean;
  /** Whether only the service sets it. */
  readonly: boolean;
  /** Whether an active formula computes it; it is readonly then. */
  calculated: boolean;
  options: ReadonlySet<string>;
  /** Labels by option key. */
  optionLabels: ReadonlyMap<string, string>;
  /** Stored colours by option key; options without one are absent. */
  optionColors: ReadonlyMap<string, string>;
}

/** A mandatory side of a relation type for some card type. */
interface MandatoryRelation {
  relationType: string;
  side: 'source' | 'target';
  label: string;
}

export interface CardType extends CardTypeColumns {
  /** The label of several cards. */
  plural: string;
  fields: ReadonlyMap<string, CompiledField>;
  subtypeKeys: ReadonlySet<string>;
  hiddenFields: ReadonlyMap<string, ReadonlySet<string>>;
  /** Keys of the attributes that are costs. */
  costKeys: string[];
  /** The active ones, in order. */
  stakeholderRoles: StakeholderRole[];
  mandatoryRelations: MandatoryRelation[];
  /** Ids of the tag groups from which a card of this type needs a tag. */
  mandatoryTagGroups: { id: string; name: string }[];
}

export interface RelationType extends RelationTypeColumns {
  fields: ReadonlyMap<string, CompiledField>;
  costKeys: string[];
}

/** The whole metamodel at one version, compiled; immutable. */
export interface Metamodel {
  version: number;
  cardTypes: ReadonlyMap<string, CardType>;
  relationTypes: ReadonlyMap<string, RelationType>;
  /** Visible card types, in order. */
  visibleTypes: string[];
  hiddenTypes: string[];
  /** Visible relation types whose end types are visible. */
  visibleRelationTypes: string[];
  /** Languages of the translations. */
  languages: ReadonlySet<string>;
  /** The active formulas. */
  calculations: CalculationPlan;
  /** What is going to be removed, by path. */
  deprecations: Deprecations['deprecations'];
  /** The present keys of renamed fields, by their former paths. */
  aliases: Deprecations['aliases'];
}

/** A declared field in its compiled form. */
export function compileField(field: Field | RelationAttribute, calculated = false): CompiledField {
  const own = field as Partial<Field>;
  return {
    key: field.key,
    label: field.label,
    type: field.type,
    weight: own.weight ?? 1,
    required: own.required ?? false,
    readonly: calculated || (own.readonly ?? false),
    calculated,
    options: new Set((field.options ?? []).map((option) => option.key)),
    optionLabels: new Map((field.options ?? []).map((option) => [option.key, option.label])),
    optionColors: new Map(
      (field.options ?? []).flatMap(({ key, color }) => (color === undefined ? [] : [[key, color]])),
    ),
  };
}

const byOrder = (a: { sort_order: number; key: string }, b: { sort_order: number; key: string }) =>
  a.sort_order - b.sort_order || (a.key < b.key ? -1 : 1);

const costKeys = (fields: ReadonlyMap<string, CompiledField>) =>
  [...fields.values()].filter((field) => field.type === 'cost').map((field) => field.key);

/** Compiles the stored rows. */
export function compileMetamodel(rows: {
  version: number;
  cardTypes: CardTypeColumns[];
  relationTypes: RelationTypeColumns[];
  roles: RoleColumns[];
  tagGroups: TagGroupColumns[];
  /** The active ones. */
  calculations?: CalculationFormula[];
}): Metamodel {
  const relationTypes = new Map<string, RelationType>();
  const hidden = new Set(rows.cardTypes.filter((type) => type.is_hidden).map((type) => type.key));
  const shown = (type: RelationTypeColumns) =>
    !type.is_hidden && !hidden.has(type.source_type_key) && !hidden.has(type.target_type_key);

  for (const row of [...rows.relationTypes].sort(byOrder)) {
    const fields = new Map(row.attributes_schema.map((field) => [field.key, compileField(field)]));
    relationTypes.set(row.key, { ...row, fields, costKeys: costKeys(fields) });
  }

  const calculations = rows.calculations ?? [];
  const computed = new Set(calculations.map((row) => `${row.target_type_key} ${row.target_field_key}`));
  const cardTypes = new Map<string, CardType>();
  for (const row of [...rows.cardTypes].sort(byOrder)) {
    const fields = new Map(
      // A declared field of the same name comes later and takes precedence.
      [...eolFieldsOf(row.key), ...row.fields_schema.flatMap((section) => section.fields)].map((field) => [
        field.key,
        compileField(field, computed.has(`${row.key} ${field.key}`)),
      ]),
    );
    const mandatoryRelations: MandatoryRelation[] = [];
    for (const type of relationTypes.values()) {
      if (!shown(type)) continue;
      if (type.source_type_key === row.key && type.source_visible && type.source_mandatory) {
        mandatoryRelations.push({ relationType: type.key, side: 'source', label: type.label });
      }
      if (type.target_type_key === row.key && type.target_visible && type.target_mandatory) {
        const label = type.reverse_label ?? type.label;
        mandatoryRelations.push({ relationType: type.key, side: 'target', label });
      }
    }
    cardTypes.set(row.key, {
      ...row,
      plural: (row.translations.plural as Record<string, string> | undefined)?.en ?? row.label,
      fields,
      subtypeKeys: new Set(row.subtypes.map((subtype) => subtype.key)),
      hiddenFields: new Map(
        row.subtypes.map((subtype) => [subtype.key, new Set(subtype.hidden_fields ?? [])]),
      ),
      costKeys: costKeys(fields),
      stakeholderRoles: rows.roles
        .filter((role) => role.card_type_key === row.key && !role.is_archived)
        .sort(byOrder)
        .map((role) => ({
          key: role.key,
          label: role.label,
          color: role.color,
          translations: role.translations,
          permissions: new Set(Object.keys(role.permissions).filter((key) => role.permissions[key])),
        })),
      mandatoryRelations,
      mandatoryTagGroups: rows.tagGroups
        .filter((group) => group.mandatory && group.has_tags)
        .filter((group) => !group.restrict_to_types || group.restrict_to_types.includes(row.key))
        .map(({ id, name }) => ({ id, name })),
    });
  }

  return {
    version: rows.version,
    cardTypes,
    relationTypes,
    visibleTypes: [...cardTypes.values()].filter((type) => !type.is_hidden).map((type) => type.key),
    hiddenTypes: [...hidden],
    visibleRelationTypes: [...relationTypes.values()].filter(shown).map((type) => type.key),
    languages: languagesOf([rows.cardTypes, rows.relationTypes, rows.roles]),
    calculations: compileCalculations(calculations, { cardTypes, relationTypes }),
    ...compileDeprecations(rows.cardTypes, rows.relationTypes),
  };
}

/** All languages in members named `translations`, at any depth. */
function languagesOf(value: unknown, found = new Set<string>()): Set<string> {
  if (typeof value !== 'object' || value === null) return found;
  for (const [key, member] of Object.entries(value)) {
    if (key === 'translations') collectLanguages(member, found);
    else languagesOf(member, found);
  }
  return found;
}
