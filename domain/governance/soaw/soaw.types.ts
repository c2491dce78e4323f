import type { SignedKind } from '../signatures/signatures.types.ts';

export const soawRights: SignedKind['rights'] = {
  view: 'soaw.view',
  manage: 'soaw.manage',
  sign: 'soaw.sign',
};

/** The type of the cards that a statement may be about. */
export const INITIATIVE = 'Initiative';

/** The first lines of a statement. */
export interface DocumentInfo {
  prepared_by?: string | null;
  /** `YYYY-MM-DD` */
  review_date?: string | null;
  reviewed_by?: string | null;
}

/** A line of the history that its authors keep by hand. */
export interface VersionEntry {
  version?: string | null;
  date?: string | null;
  revised_by?: string | null;
  description?: string | null;
}

/** Phases of TOGAF's development method, from requirements management to H. */
export const togafPhases = ['RM', 'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'] as const;

/** One section of a statement. */
export interface Section {
  /** Stands behind the number in files. */
  title?: string | null;
  /** HTML of a closed list of elements. */
  content?: string;
  /** Left out of what is exported. */
  hidden?: boolean;
  /** Plain texts. */
  table_data?: { columns: string[]; rows: string[][] } | null;
  /** Plain texts by phase. */
  togaf_data?: Partial<Record<(typeof togafPhases)[number], string>> | null;
}

/** What a statement says; sections by their numbers, such as `1.1`. */
export interface SoawContent {
  name: string;
  initiative_id: string | null;
  document_info: DocumentInfo;
  version_history: VersionEntry[];
  sections: Record<string, Section>;
}

export const MAX_NAME = 500;
/** Tags of all sections together. */
export const MAX_TAGS = 20_000;
/** Characters of all that a statement says, as JSON. */
export const MAX_CONTENT = 900_000;
