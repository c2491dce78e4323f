/** What is known of one release cycle of a product. Dates are `YYYY-MM-DD`. */
export interface CycleFacts {
  /** As the source names it, such as `22.04` or `2012-R2`. */
  cycle: string;
  codename: string | null;
  release_date: string | null;
  /** Last day of active support; null where there is no such phase, or its end is not known. */
  support_until: string | null;
  /** Whether active support goes on, where its end is not known. */
  is_supported: boolean | null;
  /** First day without any support. */
  eol_from: string | null;
  /** Whether all support has ended, where the day is not known. */
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

/** What is known of one product. */
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

/** Where facts come from: the public service, a file that was loaded, or this program. */
export type FactSource = 'api' | 'file' | 'bundled';

/** The topic that every change of facts raises. */
export const EOL_TOPIC = 'eol';
