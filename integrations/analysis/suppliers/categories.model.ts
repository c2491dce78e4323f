import Type, { type Static } from 'typebox';
import { type OutgoingCard, readOutgoingCards } from '../../../domain/analysis/ai/ai.outgoing.ts';
import type { RunModelState } from '../../../domain/analysis/runs/runs.types.ts';
import type { FoundSupplier } from '../../../domain/analysis/suppliers/suppliers.types.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { readSetting } from '../../../domain/kernel/settings/settings.read.ts';
import { Nullable, object } from '../../../domain/kernel/shapes.ts';
import { promptNamed, shortenCard } from '../models/models.data.ts';
import { askBySplitting, type RunModel } from '../models/models.run.ts';
import { lexicon } from './suppliers.lexicon.ts';

/** Suppliers per request. */
const AT_ONCE = 40;
/** Maximum confidence, since the model only gets the name and little more. */
const MOST_SURE = 0.6;

const byName = new Map(lexicon.map((sub) => [sub.name, sub]));

const CategorySchema = object({
  id: Type.String({ maxLength: 40 }),
  sub_category: Nullable(Type.Union(lexicon.map(({ name }) => Type.Literal(name)))),
  confidence: Type.Number({ minimum: 0, maximum: 1 }),
});
const schema = object({ suppliers: Type.Array(CategorySchema, { maxItems: AT_ONCE }) });

/** Progress and answers of the model. */
export interface AskedCategories {
  /** Suppliers are processed by the ids of their first cards; the last one that is done. */
  last: string;
  answers: Static<typeof CategorySchema>[];
  model: RunModelState;
}

/**
 * Categorises by a model the suppliers without evidence in the lexicon, if they have a card whose name may be sent. The answer
 * is a category of the lexicon or nothing.
 * @param before state of an earlier worker of the same run.
 * @param store called after each request with the state so far.
 * @returns the suppliers, in their order, and how many have a category by the model.
 */
export async function categoriseByModel(
  ctx: Ctx,
  model: RunModel,
  suppliers: readonly FoundSupplier[],
  before: AskedCategories | undefined,
  store: (asked: AskedCategories, share: number) => Promise<void>,
): Promise<{ suppliers: FoundSupplier[]; byModel: number }> {
  const open = new Map<string, number>();
  for (const [at, { categorised, cards }] of suppliers.entries()) {
    if (categorised?.confidence === null && cards.length > 0) open.set(cards.toSorted()[0]!, at);
  }
  const ai = await readSetting(ctx.db, 'ai');
  const answers = [...(before?.answers ?? [])];
  const ids = [...open.keys()].sort();
  const first = before ? ids.filter((id) => id <= before.last).length : 0;
  for (let from = first; from < ids.length && !model.stopped(); from += AT_ONCE) {
    const some = ids.slice(from, from + AT_ONCE);
    const cards = await readOutgoingCards(ctx, ai, some);
    const named = cards.filter(({ name }) => name !== undefined);
    if (named.length === 0) continue;
    answers.push(
      ...(await askBySplitting(model, named.map(shortenCard), (half, isPart) => ask(model, half, isPart))),
    );
    // without a model there is no state
    if (model.parts().length === 0) continue;
    await store({ last: some.at(-1)!, answers, model: model.state() }, (from + some.length) / ids.length);
  }
  const result = [...suppliers];
  let byModel = 0;
  for (const { id, sub_category, confidence } of answers) {
    const at = open.get(id);
    if (at === undefined || sub_category === null) continue;
    byModel += 1;
    result[at] = {
      ...suppliers[at]!,
      categorised: {
        category: byName.get(sub_category)!.category,
        sub_category,
        confidence: Number(Math.min(confidence, MOST_SURE).toFixed(3)),
        reasoning: 'Derived from its name by a language model; the inventory has no evidence.',
      },
    };
  }
  return { suppliers: result, byModel };
}

async function ask(model: RunModel, suppliers: readonly OutgoingCard[], isPart: boolean) {
  const known = new Set(suppliers.map(({ id }) => id));
  const answer = await model.ask(
    'vendor categories',
    {
      purpose: 'vendor_category',
      prompt: promptNamed('vendor-category'),
      data: { suppliers, categories: lexicon.map(({ category, name }) => ({ category, name })) },
      schema,
      check: ({ suppliers: answered }) => {
        const strange = answered.filter(({ id }) => !known.has(id));
        const twice = answered.length - new Set(answered.map(({ id }) => id)).size;
        return [
          ...strange.map(({ id }) => `${id} is not an id in the data.`),
          ...(twice > 0 ? ['A supplier has several answers.'] : []),
        ];
      },
      maxOutputTokens: 4_000,
    },
    isPart,
  );
  return answer?.suppliers;
}
