/** The reference catalogues, with what becomes of their nodes. */
export const catalogueKinds = {
  capability: { type: 'BusinessCapability', subtypes: [], prefix: 'BC' },
  process: { type: 'BusinessProcess', subtypes: ['category', 'group', 'process'], prefix: 'BP' },
  value_stream: { type: 'BusinessContext', subtypes: ['valueStream'], prefix: 'VS' },
} as const satisfies Record<string, { type: string; subtypes: readonly string[]; prefix: string }>;

export type CatalogueKind = keyof typeof catalogueKinds;

/** One entry of a catalogue. Its id, such as `BC-100.10`, is the external id of the card made of it. */
export interface CatalogueNode {
  id: string;
  parent_id: string | null;
  /** Roots lie on level 1. */
  level: number;
  /** By language; English is always there. */
  names: Record<string, string>;
  descriptions: Record<string, string>;
  industry: string;
}

export interface Catalogue {
  kind: CatalogueKind;
  version: string;
  /** When it was written, or loaded. */
  generatedAt: string;
  /** Where it comes from: `bundled`, or what its loader has said. */
  source: string;
  /** Parents before what lies below them. */
  nodes: CatalogueNode[];
}

export const ALL_INDUSTRIES = 'cross-industry';
export const FALLBACK_LANGUAGE = 'en';
/** Entries that a loaded catalogue may have, and how deep it may go. */
export const MAX_NODES = 20_000;
export const MAX_LEVELS = 6;
