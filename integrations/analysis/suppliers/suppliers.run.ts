import { setImmediate as breathe } from 'node:timers/promises';
import type { ActiveRun, AnalysisJob } from '../../../domain/analysis/runs/runs.ts';
import {
  type NamedSuppliers,
  readNamedSuppliers,
  readSupplied,
} from '../../../domain/analysis/suppliers/suppliers.read.ts';
import type {
  FoundProduct,
  FoundSupplier,
  ResolvedSupplier,
} from '../../../domain/analysis/suppliers/suppliers.types.ts';
import { storeSuppliers } from '../../../domain/analysis/suppliers/suppliers.write.ts';
import { command } from '../../../domain/kernel/command.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { inTransaction } from '../../../platform/database.ts';
import { readVocabulary } from '../duplicates/vocabulary.ts';
import { openMatchingThread } from '../matching/matching.thread.ts';
import { plainNameWords } from '../matching/names.ts';
import { createRunModel } from '../models/models.run.ts';
import { runRetryPolicy } from '../models/models.types.ts';
import { type AskedCategories, categoriseByModel } from './categories.model.ts';
import { addCard, type CardEvidence, categorise, noEvidence } from './categories.ts';
import { productOf } from './products.ts';
import type { ResolveRequest, ResolveResponse } from './resolve.worker.ts';
import { spellingOf } from './spelling.ts';

/** Cards per page. */
const PAGE = 1_000;

/** What a run computes in addition to names. */
export type SupplierPart = 'categories' | 'hierarchy';

interface FoundSuppliers {
  suppliers: FoundSupplier[];
  products: FoundProduct[] | null;
}

/**
 * Executes a run over the suppliers: names, evidence, and answers of a model. After a worker's death suppliers are found
 * again, but answered requests to a model are not repeated. The final result is one transaction.
 */
export async function analyseSuppliers(
  services: Services,
  job: AnalysisJob,
  run: ActiveRun,
  part: SupplierPart,
): Promise<void> {
  const found = await findSuppliers(job, part);
  const before = (job.resume as AskedCategories | null) ?? undefined;
  const model = createRunModel(services, run.id, job.signal, runRetryPolicy, before?.model);
  const { suppliers, byModel } = await categoriseByModel(
    job.ctx,
    model,
    found.suppliers,
    before,
    (asked, share) =>
      inTransaction(job.ctx.db, (sql) =>
        job.checkpoint(
          { sql },
          { progress: 0.9 + 0.09 * share, message: 'asking the language model', checkpoint: asked },
        ),
      ),
  );
  const { products } = found;
  const stopped = model.stopped();
  const figures = {
    ...figuresOf(suppliers, products),
    ...(byModel > 0 ? { categorised_by_model: byModel } : {}),
    ...(stopped ? { model_stopped: stopped.reason } : {}),
  };
  await command(job.ctx, async (work) => {
    await job.lock(work);
    await storeSuppliers(work.sql, { suppliers, products }, () => job.signal.throwIfAborted());
    await run.finish(work, { results: figures, modelParts: model.parts() });
  });
}

async function findSuppliers(job: AnalysisJob, part: SupplierPart): Promise<FoundSuppliers> {
  const { db, metamodel } = job.ctx;
  const { said, resolved } = await findNames(job);
  job.progress(0.6, part === 'categories' ? 'finding categories' : 'finding products');
  const gathered = gatherer(withCards(resolved, said), said, part);
  const cards = [...said.supplied.keys()].sort();
  for (let from = 0; from < cards.length; from += PAGE) {
    job.signal.throwIfAborted();
    gathered.add(await readSupplied(db, metamodel, cards.slice(from, from + PAGE)));
    job.progress(0.6 + (0.3 * Math.min(from + PAGE, cards.length)) / cards.length);
    await breathe();
  }
  return gathered.end();
}

async function findNames(job: AnalysisJob): Promise<{ said: NamedSuppliers; resolved: ResolvedSupplier[] }> {
  const { db, metamodel } = job.ctx;
  const said = await inTransaction(db, (sql) => readNamedSuppliers(sql, metamodel), {
    isolationLevel: 'repeatable read',
    readOnly: true,
  });
  job.progress(0.1, 'comparing names');
  const module = new URL('./resolve.worker.ts', import.meta.url);
  const advice = 'Archive cards of suppliers that supply nothing.';
  const thread = openMatchingThread<ResolveRequest, ResolveResponse>(module, job.signal, advice);
  try {
    await thread.send({ named: said.named, vocabulary: await readVocabulary(db) });
    for (;;) {
      const response = await thread.send('advance');
      if ('resolved' in response) return { said, resolved: response.resolved };
      job.progress(0.1 + 0.5 * response.progress, 'comparing names');
    }
  } finally {
    thread.close();
  }
}

/** A supplier with the data to distinguish words of its cards from those of its name. */
interface Gathered extends FoundSupplier {
  leading: ReadonlySet<string>;
}

/** Assigns to each supplier its own cards and the supplied cards. */
function withCards(resolved: readonly ResolvedSupplier[], { named, supplied }: NamedSuppliers): Gathered[] {
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

/** Aggregates the evidence of the cards, page by page. */
function gatherer(found: readonly Gathered[], said: NamedSuppliers, part: SupplierPart) {
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
    end(): FoundSuppliers {
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

function categorised({ names, cards }: FoundSupplier, said: NamedSuppliers, evidence: CardEvidence) {
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

/** Figures of a run: only counts, since everybody who can read runs sees them. */
function figuresOf(suppliers: readonly FoundSupplier[], products: readonly FoundProduct[] | null) {
  const names = suppliers.reduce((sum, supplier) => sum + supplier.names.length, 0);
  const subsidiaries = suppliers.filter(({ parent }) => parent !== null).length;
  const counts = { suppliers: suppliers.length, names, subsidiaries };
  if (products) return { ...counts, products: products.length };
  const uncategorised = suppliers.filter((one) => one.categorised?.confidence === null).length;
  return { ...counts, categorised: suppliers.length - uncategorised, uncategorised };
}
