import { setImmediate as breathe } from 'node:timers/promises';
import type { AnalysisJob, CarriedRun } from '../../domain/analysis/runs.carry.ts';
import { command } from '../../domain/command.ts';
import type { Services } from '../../domain/services.ts';
import {
  readSaidSuppliers,
  readSupplied,
  type SaidSuppliers,
} from '../../domain/suppliers/suppliers.read.ts';
import type {
  FoundProduct,
  FoundSupplier,
  ResolvedSupplier,
} from '../../domain/suppliers/suppliers.types.ts';
import { storeSuppliers } from '../../domain/suppliers/suppliers.write.ts';
import { plainNameWords } from '../matching/names.ts';
import { createRunModel } from '../models/models.run.ts';
import { categoriseByModel } from './categories.model.ts';
import { addCard, type CardEvidence, categorise, noEvidence } from './categories.ts';
import { productOf } from './products.ts';
import { resolveSuppliers } from './resolve.ts';
import { spellingOf } from './spelling.ts';

/** Cards that are read at once. */
const PAGE = 1_000;

/** What a run looks for besides names. */
export type SupplierPart = 'categories' | 'hierarchy';

/**
 * Carries out a run over the suppliers. A few seconds' work that ends with one transaction: whoever is stopped begins anew, with
 * the same outcome, but for what a model is asked again.
 */
export async function analyseSuppliers(
  services: Services,
  job: AnalysisJob,
  run: CarriedRun,
  part: SupplierPart,
): Promise<void> {
  const { suppliers: found, products } = await findSuppliers(job, part);
  const model = createRunModel(services, run.id, job.signal);
  const { suppliers, byModel } = await categoriseByModel(job.ctx, model, found);
  const stopped = model.stopped();
  const figures = {
    ...figuresOf(suppliers, products),
    ...(byModel > 0 ? { categorised_by_model: byModel } : {}),
    ...(stopped ? { model_stopped: stopped.reason } : {}),
  };
  await command(job.ctx, async (work) => {
    await job.hold(work);
    await storeSuppliers(work.sql, { suppliers, products }, () => job.signal.throwIfAborted());
    await run.finish(work, { results: figures, modelParts: model.parts() });
  });
}

async function findSuppliers(job: AnalysisJob, part: SupplierPart) {
  const { db, metamodel } = job.ctx;
  const said = await db.transaction((sql) => readSaidSuppliers(sql, metamodel), {
    isolationLevel: 'repeatable read',
    readOnly: true,
  });
  job.progress(0.1, 'comparing names');
  const steps = resolveSuppliers(said.named);
  let step = steps.next();
  for (; !step.done; step = steps.next()) {
    job.progress(0.1 + 0.5 * step.value, 'comparing names');
    await breathe();
    job.signal.throwIfAborted();
  }
  const found = withCards(step.value, said);
  job.progress(0.6, part === 'categories' ? 'finding categories' : 'finding products');
  const gathered = gatherer(found, said, part);
  const cards = [...said.supplied.keys()].sort();
  for (let from = 0; from < cards.length; from += PAGE) {
    job.signal.throwIfAborted();
    gathered.add(await readSupplied(db, metamodel, cards.slice(from, from + PAGE)));
    job.progress(0.6 + (0.35 * Math.min(from + PAGE, cards.length)) / cards.length);
    await breathe();
  }
  return gathered.end();
}

/** A supplier with what is needed to tell its cards' words from its own. */
interface Gathered extends FoundSupplier {
  leading: ReadonlySet<string>;
}

/** Puts to each supplier the cards that it is and those that it supplies. */
function withCards(resolved: readonly ResolvedSupplier[], { named, supplied }: SaidSuppliers): Gathered[] {
  const found = resolved.map(
    (supplier): Gathered => ({
      ...supplier,
      cards: supplier.names.flatMap(({ cards }) => cards),
      supplied: [],
      categorised: null,
      placed: false,
      leading: new Set(supplier.names.flatMap(({ name }) => plainNameWords(name))),
    }),
  );
  const byKey = new Map(found.flatMap((supplier, at) => supplier.names.map(({ key }) => [key, at] as const)));
  const places = named.map(({ name }) => byKey.get(spellingOf(name)?.key ?? ''));
  for (const card of [...supplied.keys()].sort()) {
    const by = new Set(supplied.get(card)!.flatMap((at) => places[at] ?? []));
    for (const at of by) found[at]!.supplied.push({ card, sharedBy: by.size });
  }
  return found;
}

/** Gathers what the cards say, page by page. */
function gatherer(found: readonly Gathered[], said: SaidSuppliers, part: SupplierPart) {
  const byCard = new Map<string, { at: number; sharedBy: number }[]>();
  for (const [at, { supplied }] of found.entries()) {
    for (const { card, sharedBy } of supplied) {
      const known = byCard.get(card);
      if (known) known.push({ at, sharedBy });
      else byCard.set(card, [{ at, sharedBy }]);
    }
  }
  const evidence = found.map((): CardEvidence => noEvidence());
  const products = new Map<string, FoundProduct>();
  return {
    add(cards: Awaited<ReturnType<typeof readSupplied>>): void {
      for (const card of cards) {
        for (const { at, sharedBy } of byCard.get(card.id) ?? []) {
          if (part === 'categories') addCard(evidence[at]!, card);
          else addProduct(products, found[at]!, at, card, sharedBy);
        }
      }
    },
    end() {
      const suppliers = found.map(
        (supplier, at): FoundSupplier => ({
          ...supplier,
          categorised: part === 'categories' ? categorised(supplier, said, evidence[at]!) : null,
          placed: part === 'hierarchy',
        }),
      );
      return { suppliers, products: part === 'hierarchy' ? [...products.values()] : null };
    },
  };
}

function categorised({ names, cards }: FoundSupplier, said: SaidSuppliers, evidence: CardEvidence) {
  return categorise(
    names.map(({ name }) => name),
    cards.flatMap((card) => said.descriptions.get(card) ?? []),
    evidence,
  );
}

function addProduct(
  products: Map<string, FoundProduct>,
  { leading }: Gathered,
  at: number,
  card: { id: string; name: string; product: string | null },
  sharedBy: number,
): void {
  const product = productOf(card.product ?? card.name, leading);
  if (!product) return;
  const key = `${at} ${product.key}`;
  const known = products.get(key);
  if (known) known.supplied.push({ card: card.id, sharedBy });
  else products.set(key, { supplier: at, ...product, supplied: [{ card: card.id, sharedBy }] });
}

/** Figures of a run: counts alone, as everybody sees them who sees runs. */
function figuresOf(suppliers: readonly FoundSupplier[], products: readonly FoundProduct[] | null) {
  const names = suppliers.reduce((sum, supplier) => sum + supplier.names.length, 0);
  const counts = {
    suppliers: suppliers.length,
    names,
    subsidiaries: suppliers.filter(({ parent }) => parent !== null).length,
  };
  if (products) return { ...counts, products: products.length };
  const uncategorised = suppliers.filter((one) => one.categorised?.confidence === null).length;
  return { ...counts, categorised: suppliers.length - uncategorised, uncategorised };
}
