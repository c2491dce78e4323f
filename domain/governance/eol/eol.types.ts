/** The facts about a release cycle of a product. Dates are `YYYY-MM-DD`. */
export interface CycleFacts {
  /** As the source names it, such as `22.04` or `2012-R2`. */
  cycle: string;
  codename: string | null;
  release_date: string | null;
  /** Last day of active support; null if there is no such phase or its end is unknown. */
  support_until: string | null;
  /** Whether there is active support, if its end is unknown. */
  is_supported: boolean | null;
  /** First day without any support. */
  eol_from: string | null;
  /** Whether all support has ended, if the day is unknown. */
  is_eol: boolean | null;
  lts_from: string | null;
  is_lts: boolean | null;
  discontinued_from: string | null;
  is_discontinued: boolean | null;
  /** The newest version of the cycle. */
  latest: string | null;
  latest_release_date: string | null;
  /** To the notes of the newest version. */
  link: string | null;
}

/** The facts about a product. */
export interface ProductFacts {
  /** The key under which cards are linked, such as `postgresql`. */
  name: string;
  label: string;
  category: string | null;
  aliases: string[];
  /** To the product's page. */
  link: string | null;
  cycles: CycleFacts[];
}

/** The origin of facts: the public API, a loaded file, or the program. */
export const factSources = ['api', 'file', 'bundled'] as const;
export type FactSource = (typeof factSources)[number];

/** The topic of product facts. */
export const EOL_TOPIC = 'eol';
