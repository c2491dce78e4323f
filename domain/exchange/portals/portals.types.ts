import type { StoredRow } from '../../kernel/events/row-changes.ts';

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

/** Which active cards of the type a portal shows; members that are absent or empty select all. */
export interface PortalFilters {
  subtypes?: string[];
  /** Cards with one of the tags. */
  tag_ids?: string[];
  /** In the filter language. */
  filter?: string;
}

/** How a portal shows its cards. */
export interface PortalConfig {
  /** `name`, one of the shown fields that have an order, or a shown `attributes.<key>`; the name when absent. */
  sort_by?: string;
  sort_dir?: 'asc' | 'desc';
  /** Whether search engines may list the page; they may not when absent. */
  indexed?: boolean;
}

/** A row of `web_portals` as JSON. */
export interface PortalRow extends StoredRow {
  id: string;
  name: string;
  slug: string;
  description: string | null;
  card_type: string;
  filters: PortalFilters;
  /** Core fields, `attributes.<key>` and `relations.<relation type>`. */
  display_fields: string[];
  card_config: PortalConfig;
  is_published: boolean;
  created_by: string | null;
}

/** The public definition of a portal, cut to what it shows. */
export interface PublicPortal {
  id: string;
  name: string;
  slug: string;
  description: string | null;
  card_type: string;
  /** How cards are chosen may name what is not shown, and is told to nobody. */
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
