import Type from 'typebox';
import { type OutgoingCard, readOutgoingCards } from '../../../domain/analysis/ai/ai.outgoing.ts';
import type { FoundSupplier } from '../../../domain/analysis/suppliers/suppliers.types.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { readSetting } from '../../../domain/kernel/settings/settings.read.ts';
import { shortenCard } from '../models/models.data.ts';
import { promptNamed } from '../models/models.prompts.ts';
import { askInHalves, type RunModel, type RunModelState } from '../models/models.run.ts';
import { lexicon } from './suppliers.lexicon.ts';

/** Suppliers per request. */
const AT_ONCE = 40;
/** Maximum confidence, since the model only gets the name and little more. */
const MOST_SURE = 0.6;

const byName = new Map(lexicon.map((sub) => [sub.name, sub]));

const schema = Type.Object(
  {
    suppliers: Type.Array(
      Type.Object(
        {
          id: Type.String({ maxLength: 40 }),
          sub_category: Type.Union([...lexicon.map(({ name }) => Type.Literal(name)), Type.Null()]),
          confidence: Type.Number({ minimum: 0, maximum: 1 }),
        },
        { additionalProperties: false },
      ),
      { maxItems: AT_ONCE },
    ),
  },
  { additionalProperties: false },
);

/** A model's answer about a supplier. */
interface Said {
  /** Index of the supplier. */
  at: number;
  sub_category: string;
  confidence: number;
}

/** Progress and answers of the model. */
export interface AskedCategories {
  /** Number of processed suppliers, of those that can be sent. */
  done: number;
  said: Said[];
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
  const said = [...(before?.said ?? [])];
  const ids = [...open.keys()].sort();
  for (let from = before?.done ?? 0; from < ids.length && !model.stopped(); from += AT_ONCE) {
    const cards = await readOutgoingCards(ctx, ai, ids.slice(from, from + AT_ONCE));
    const named = cards.filter(({ name }) => name !== undefined);
    if (named.length === 0) continue;
    const answers = await askInHalves(model, named.map(shortenCard), (some, isPart) =>
      ask(model, some, isPart),
    );
    for (const { id, sub_category, confidence } of answers) {
      const at = open.get(id);
      if (sub_category !== null && at !== undefined) said.push({ at, sub_category, confidence });
    }
    // without a model there is no state
    if (model.parts().length === 0) continue;
    const done = Math.min(from + AT_ONCE, ids.length);
    await store({ done, said, model: model.state() }, done / ids.length);
  }
  const placed = [...suppliers];
  for (const { at, sub_category, confidence } of said) {
    const { category, name } = byName.get(sub_category)!;
    placed[at] = {
      ...suppliers[at]!,
      categorised: {
        category,
        sub_category: name,
        confidence: Number(Math.min(confidence, MOST_SURE).toFixed(3)),
        reasoning: 'Derived from its name by a language model; the inventory has no evidence.',
      },
    };
  }
  return { suppliers: placed, byModel: said.length };
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
