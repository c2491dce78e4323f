import type { PortalConfig } from './portals.model.ts';

/** Members of a card that a portal may show besides its name, attributes and relations. */
export const coreFields = [
  'subtype',
  'description',
  'lifecycle',
  'approval_status',
  'data_quality',
  'tags',
  'updated_at',
] as const;
export type CoreField = (typeof coreFields)[number];

/** The public definition of a portal, cut to what it shows. */
export interface PublicPortal {
  id: string;
  name: string;
  slug: string;
  description: string | null;
  card_type: string;
  /** Always null: the selection may name what is not shown. */
  filters: null;
  display_fields: string[];
  card_config: Required<PortalConfig>;
  type_info: {
    key: string;
    label: string;
    icon: string;
    color: string;
    fields_schema: ShownSection[];
    subtypes: { key: string; label: string; translations: unknown; hidden_fields: string[] }[];
    translations: unknown;
  };
  relation_types: {
    key: string;
    label: string;
    reverse_label: string | null;
    source_type_key: string;
    target_type_key: string;
    other_type_key: string;
    other_type_label: string;
    translations: unknown;
  }[];
  tag_groups: {
    id: string;
    name: string;
    tags: { id: string; name: string; color: string | null }[];
  }[];
}

export interface ShownSection {
  section: string;
  fields: ShownField[];
  translations?: unknown;
}

export interface ShownField {
  key: string;
  label: string;
  type: string;
  options?: { key: string; label: string; color?: string; translations?: unknown }[];
  translations?: unknown;
}

/** A card as a portal shows it: what is not shown is null or empty. */
export interface PublicCard {
  id: string;
  name: string;
  type: string;
  subtype: string | null;
  description: string | null;
  lifecycle: Record<string, string> | null;
  attributes: Record<string, unknown>;
  approval_status: string | null;
  data_quality: number | null;
  tags: { id: string; name: string; color: string | null; group_name: string }[];
  relations: {
    type: string;
    related_id: string;
    related_name: string;
    related_type: string;
    direction: 'outgoing' | 'incoming';
  }[];
  stakeholders: never[];
  updated_at: string | null;
}
