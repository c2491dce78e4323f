import type { RiskDraft } from './risks.add.ts';
import type { RiskRow } from './risks.model.ts';
import {
  type Impact,
  impacts,
  type LinkedCard,
  type Probability,
  probabilities,
  type RiskCategory,
  type RiskStatus,
  riskCategories,
  riskStatuses,
} from './risks.types.ts';

/** A row of an import as sent. */
export interface ImportRow {
  row_index: number;
  title: string;
  description: string;
  category: string;
  initial_probability: string;
  initial_impact: string;
  residual_probability?: string | null;
  residual_impact?: string | null;
  status: string;
  owner_email?: string | null;
  owner_name?: string | null;
  target_resolution_date?: string | null;
  card_names?: string[];
  reference?: string | null;
}

/** The risks, users and cards that the rows name; names are folded. */
export interface Known {
  /** Ids and references of the risks with such a reference, and with such a title. */
  byReference: ReadonlyMap<string, KnownRisk>;
  byTitle: ReadonlyMap<string, KnownRisk>;
  /** Active users by lower-case address and by name, which several users may have. */
  byEmail: ReadonlyMap<string, string>;
  byName: ReadonlyMap<string, string[]>;
  cards: ReadonlyMap<string, LinkedCard[]>;
}

export interface KnownRisk {
  id: string;
  reference: string;
}

/** The decision about a row. */
export type PlannedRow = { row_index: number; warnings: string[] } & (
  | { status: 'created'; draft: RiskDraft }
  | { status: 'skipped'; known: KnownRisk | null; error: string }
  | { status: 'failed'; error: string }
);

/** Normalises a name for comparison, like `fold` in the database. */
export const foldName = (text: string): string => text.trim().toLowerCase();

/** The acceptance rationale of imported risks, which rows do not have. */
const IMPORTED_RATIONALE = 'Accepted before it was imported.';

/**
 * Decides about every row on its own: a risk that the register has, by reference or else by title, is skipped, as is a row
 * that says the same as one before; what names nobody or nothing is a warning. @param userId who imports.
 */
export function planImport(rows: readonly ImportRow[], known: Known, userId: string | null): PlannedRow[] {
  const references = new Set<string>();
  const titles = new Set<string>();
  return rows.map((row): PlannedRow => {
    const { row_index } = row;
    const warnings: string[] = [];
    const error = faultOf(row);
    if (error !== undefined) return { row_index, status: 'failed', error, warnings };
    const reference = row.reference?.trim() ? row.reference.trim().toUpperCase() : null;
    const title = foldName(row.title);
    const there = (reference !== null && known.byReference.get(reference)) || known.byTitle.get(title);
    if (there) {
      const why = there.reference === reference ? 'reference' : 'title';
      const message = `the register has ${there.reference} of this ${why}`;
      return { row_index, status: 'skipped', known: there, error: message, warnings };
    }
    if (titles.has(title) || (reference !== null && references.has(reference))) {
      const message = 'a row before has the same title or reference';
      return { row_index, status: 'skipped', known: null, error: message, warnings };
    }
    titles.add(title);
    if (reference !== null) {
      references.add(reference);
      warnings.push(`the reference ${row.reference} is not kept: the register gives its own`);
    }
    const values = { ...valuesOf(row), owner_id: ownerOf(row, known, warnings) };
    if (values.status === 'accepted') {
      warnings.push('accepted by whoever imports it, since the row does not say why');
      Object.assign(values, {
        acceptance_rationale: IMPORTED_RATIONALE,
        accepted_by: userId,
        accepted_at: new Date().toISOString(),
      });
    }
    const draft = { values, cards: cardsOf(row, known, warnings) };
    return { row_index, status: 'created', draft, warnings };
  });
}

/** Unknown values of the row. */
function faultOf(row: ImportRow): string | undefined {
  const faults: string[] = [];
  const among = (name: keyof ImportRow, values: readonly string[]) => {
    const value = row[name];
    if (value === undefined || value === null || values.includes(String(value))) return;
    faults.push(`${name}: is none of ${values.join(', ')}`);
  };
  if (row.title.trim() === '') faults.push('title: must not be blank');
  among('category', riskCategories);
  among('initial_probability', probabilities);
  among('initial_impact', impacts);
  among('residual_probability', probabilities);
  among('residual_impact', impacts);
  among('status', riskStatuses);
  return faults.length > 0 ? faults.join('; ') : undefined;
}

const valuesOf = (row: ImportRow): Partial<RiskRow> & { title: string } => ({
  title: row.title.trim(),
  description: row.description,
  category: row.category as RiskCategory,
  initial_probability: row.initial_probability as Probability,
  initial_impact: row.initial_impact as Impact,
  residual_probability: (row.residual_probability ?? null) as Probability | null,
  residual_impact: (row.residual_impact ?? null) as Impact | null,
  status: row.status as RiskStatus,
  target_resolution_date: row.target_resolution_date ?? null,
});

function ownerOf(row: ImportRow, known: Known, warnings: string[]): string | null {
  const email = row.owner_email?.trim();
  const byEmail = email ? known.byEmail.get(email.toLowerCase()) : undefined;
  if (byEmail) return byEmail;
  const name = row.owner_name?.trim();
  const byName = name ? (known.byName.get(foldName(name)) ?? []) : [];
  if (byName.length === 1) return byName[0]!;
  if (byName.length > 1) warnings.push(`several users are called ${name}: nobody owns the risk`);
  else if (email || name) warnings.push(`no active user is ${[email, name].filter(Boolean).join(', ')}`);
  return null;
}

function cardsOf(row: ImportRow, known: Known, warnings: string[]): LinkedCard[] {
  const cards = new Map<string, LinkedCard>();
  for (const name of row.card_names ?? []) {
    const found = known.cards.get(foldName(name)) ?? [];
    if (found.length === 1) cards.set(found[0]!.id, found[0]!);
    else
      warnings.push(
        found.length === 0 ? `no active card is called ${name}` : `several cards are called ${name}`,
      );
  }
  return [...cards.values()];
}
