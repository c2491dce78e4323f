/** The field types that a card type or relation type may declare. */
export const fieldTypes = [
  'text',
  'multiline_text',
  'number',
  'cost',
  'boolean',
  'date',
  'url',
  'single_select',
  'multiple_select',
] as const;

export type FieldType = (typeof fieldTypes)[number];

export const lifecyclePhases = ['plan', 'phaseIn', 'active', 'phaseOut', 'endOfLife'] as const;
export type LifecyclePhase = (typeof lifecyclePhases)[number];

export type Translations = Record<string, unknown>;

export interface FieldOption {
  key: string;
  label: string;
  color?: string;
  translations?: Translations;
}

export interface Field {
  key: string;
  label: string;
  type: FieldType;
  /** Share in the data quality; 0 does not count. */
  weight: number;
  required?: boolean;
  readonly?: boolean;
  options?: FieldOption[];
  translations?: Translations;
}

export interface Section {
  section: string;
  fields: Field[];
  translations?: Translations;
  columns?: number;
  groups?: string[];
}

export interface Subtype {
  key: string;
  label: string;
  translations?: Translations;
  hidden_fields?: string[];
}

export interface RelationAttribute {
  key: string;
  label: string;
  type: FieldType;
  options?: (FieldOption & { built_in?: boolean; is_hidden?: boolean })[];
  built_in?: boolean;
  translations?: Translations;
}

export type Cardinality = '1:1' | '1:n' | 'n:m';

export interface CardTypeSeed {
  key: string;
  label: string;
  description: string;
  category: string;
  color: string;
  icon: string;
  sort_order: number;
  has_hierarchy: boolean;
  has_successors: boolean;
  subtypes: { key: string; label: string }[];
  fields_schema: Section[];
  stakeholder_roles: { key: string; label: string }[];
}

export interface RelationTypeSeed {
  key: string;
  source_type_key: string;
  target_type_key: string;
  cardinality: Cardinality;
  label: string;
  reverse_label: string;
  sort_order: number;
  attributes_schema: RelationAttribute[];
}
