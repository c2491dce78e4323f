/** The parts of a card's page besides the card itself. */
const tabs = ['comments', 'todos', 'people', 'resources', 'graph', 'used', 'history'] as const;
export type Tab = (typeof tabs)[number];

/** What the address of a card says; defaults are left out. */
export interface CardSearch {
  tab?: Tab;
  /** The day that the page shows, `YYYY-MM-DD`; at its end. */
  asOf?: string;
  /** The kind of events that the history shows. */
  kind?: string;
  /** The role for which the tab of people asks for somebody. */
  add?: string;
}

/** Reads the address; what is not understood is left out. */
export function readCardSearch({ tab, asOf, kind, add }: Record<string, unknown>): CardSearch {
  return {
    tab: tabs.find((one) => one === tab),
    asOf: typeof asOf === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(asOf) ? asOf : undefined,
    kind: typeof kind === 'string' && /^[a-z_]+$/.test(kind) ? kind : undefined,
    add: typeof add === 'string' && tab === 'people' ? add : undefined,
  };
}
