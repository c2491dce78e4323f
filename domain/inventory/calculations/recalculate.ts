import { query } from '../../../platform/database.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { Formula } from '../../kernel/formulas/calculations.plan.ts';
import { loadCards, lockCards, type StoredCard, typeOf } from '../cards/cards.load.ts';
import { rescored, writeCards } from '../cards/cards.rows.ts';
import type { Changes } from '../cards/rules/diff.ts';
import { withHiddenTypes } from '../metamodel/metamodel.hidden.ts';
import { collectDependents, type Runs, type Seeds, seed, withValue } from './calculations.follow.ts';
import { noRelatedValues, readSurroundings } from './calculations.inputs.ts';

/** A card that was just written. Without `before` it was created, without `after` it was deleted. */
interface WrittenCard {
  before: StoredCard | null;
  after: StoredCard | null;
  changes: Changes;
}

/** A card whose computed values have changed. */
export interface Recalculated {
  before: StoredCard;
  after: StoredCard;
}

/** Cards computed in one batch. */
const CHUNK = 500;
/** After this computing time, in milliseconds, the next card is preceded by a statement. */
const PAUSE_MS = 50;

/**
 * Computes all values that depend on cards that were just written and on `seeds`, in sets, until no more values change:
 * formulas of the cards themselves, of related cards and of parents. It writes rows and emits no events.
 * @returns the changed cards, each with its state after the given write.
 */
export async function recalculate(
  work: Work,
  ctx: Ctx,
  written: WrittenCard[],
  seeds: Seeds,
  runs: Runs,
): Promise<Map<string, Recalculated>> {
  if (work.metamodel.calculations.formulas.length === 0) return new Map();
  const run = new Recalculation(work, ctx, seeds, runs);
  return await run.settle(written);
}

class Recalculation {
  // Values are also computed for hidden types.
  private readonly work: Work;
  private readonly ctx: Ctx;
  private readonly pending: Seeds;
  private readonly runs: Runs;
  private readonly originals = new Map<string, StoredCard>();
  private readonly cards = new Map<string, StoredCard>();
  /** Cards whose rows are not written yet. */
  private readonly unwritten = new Set<string>();

  constructor(work: Work, ctx: Ctx, pending: Seeds, runs: Runs) {
    this.work = { ...work, metamodel: withHiddenTypes(work.metamodel) };
    this.ctx = ctx;
    this.pending = new Map([...pending].map(([formula, ids]) => [formula, new Set(ids)]));
    this.runs = runs;
  }

  async settle(written: WrittenCard[]): Promise<Map<string, Recalculated>> {
    for (const { after } of written) if (after) this.keep(after);
    await collectDependents(
      this.work,
      this.pending,
      written.map(({ before, after, changes }) => {
        const { id, type } = (after ?? before)!;
        const parents = [before?.parent_id, after?.parent_id].filter((parent) => parent != null);
        const counted = !before || !after || 'status' in changes;
        return { id, type, parents, counted, created: !before, keys: new Set(Object.keys(changes)) };
      }),
    );
    for (const { before, after } of written) if (before && !after) this.forget(before.id);
    const { formulas } = this.work.metamodel.calculations;
    for (;;) {
      const formula = formulas.find((candidate) => this.pending.has(candidate));
      if (!formula) break;
      const ids = [...this.pending.get(formula)!];
      this.pending.delete(formula);
      for (let from = 0; from < ids.length; from += CHUNK) {
        await this.step(formula, ids.slice(from, from + CHUNK));
      }
    }
    await this.flush();
    const changed = new Map(
      [...this.cards].flatMap(([id, after]) => {
        const before = this.originals.get(id)!;
        return after === before ? [] : [[id, { before, after }] as const];
      }),
    );
    this.runs.updated += changed.size;
    return changed;
  }

  private keep(card: StoredCard): void {
    this.originals.set(card.id, card);
    this.cards.set(card.id, card);
  }

  private forget(id: string): void {
    for (const ids of this.pending.values()) ids.delete(id);
  }

  private async step(formula: Formula, ids: string[]): Promise<void> {
    const { work, ctx } = this;
    const unknown = ids.filter((id) => !this.cards.has(id));
    if (unknown.length > 0) {
      await lockCards(work, unknown);
      for (const card of (await loadCards(work, ctx, unknown)).values()) this.keep(card);
    }
    const cards = ids.flatMap((id) => {
      const card = this.cards.get(id);
      return card?.type === formula.type ? [card] : [];
    });
    if (cards.length === 0) return;
    if (!formula.local) await this.flush();
    const around = formula.local
      ? noRelatedValues
      : await readSurroundings(
          work.sql,
          work.metamodel,
          formula,
          cards.map(({ id }) => id),
        );
    const type = typeOf(work.metamodel, cards[0]!);
    const keys = new Set([`attributes.${formula.field}`]);
    const touched = [];
    let paused = performance.now();
    for (const card of cards) {
      if (performance.now() - paused > PAUSE_MS) {
        // Other requests are served meanwhile, and PostgreSQL does not end the transaction as idle.
        await query(work.sql).run`select 1`;
        paused = performance.now();
      }
      const after = withValue(formula, type, card, around, this.runs);
      if (after === card) continue;
      this.cards.set(card.id, rescored(type, after));
      this.unwritten.add(card.id);
      const parents = card.parent_id === null ? [] : [card.parent_id];
      touched.push({
        id: card.id,
        type: card.type,
        keys,
        counted: false,
        created: false,
        parents,
        by: formula,
      });
    }
    if (touched.length > 0) await collectDependents(work, this.pending, touched);
  }

  private async flush(): Promise<void> {
    if (this.unwritten.size === 0) return;
    const cards = [...this.unwritten].map((id) => this.cards.get(id)!);
    this.unwritten.clear();
    for (let from = 0; from < cards.length; from += 5_000) {
      await writeCards(this.work.sql, this.ctx, cards.slice(from, from + 5_000));
    }
  }
}

/** All formulas of a type, for the given cards. */
export function seedsOfType({ metamodel }: Pick<Work, 'metamodel'>, type: string, ids: string[]): Seeds {
  const seeds: Seeds = new Map();
  for (const formula of metamodel.calculations.byType.get(type) ?? []) seed(seeds, formula, ids);
  return seeds;
}

/**
 * Stores the latest results of formulas. Rows that another command has locked are skipped, so that nobody waits; rows
 * of which only the time would change are not written.
 */
export async function recordRuns({ sql }: Pick<Work, 'sql'>, { last }: Runs): Promise<void> {
  if (last.size === 0) return;
  await query(sql).rows`with v as (
       select * from unnest(${[...last.keys()]}::uuid[], ${[...last.values()]}::text[]) as v(id, error)
     ), held as (
       select r.calculation_id, v.error from calculation_runs r join v on v.id = r.calculation_id
       where r.last_run_at is null or r.last_error is distinct from v.error
         or r.last_run_at < now() - interval '1 minute'
       for no key update of r skip locked
     )
     update calculation_runs r set last_error = held.error, last_run_at = clock_timestamp()
     from held where r.calculation_id = held.calculation_id`;
}
