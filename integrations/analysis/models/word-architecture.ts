import Type, { type Static } from 'typebox';
import { isFieldAllowed, readOutgoingCards } from '../../../domain/analysis/ai/ai.outgoing.ts';
import { type AiSettings, requireAi } from '../../../domain/analysis/ai/ai.provider.ts';
import type { ArchitecturePlan } from '../../../domain/analysis/architect/architect.phases.ts';
import { APPLICATION, CAPABILITY } from '../../../domain/analysis/architect/architect.words.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { WorkspaceSettings } from '../../../domain/kernel/settings/settings.read.ts';
import { complete, toClientError } from './models.complete.ts';
import { promptNamed } from './models.prompts.ts';
import { type ModelServices, requestRetryPolicy } from './models.types.ts';

/** Maximum number of cards and gaps in the request. */
const MOST_SENT = 60;

const wordingSchema = Type.Object(
  {
    title: Type.String({ minLength: 1, maxLength: 200 }),
    summary: Type.String({ minLength: 1, maxLength: 4_000 }),
    steps: Type.Array(Type.String({ minLength: 1, maxLength: 500 }), { minItems: 1, maxItems: 12 }),
  },
  { additionalProperties: false },
);

/** A model's texts for a proposal; the proposal itself is computed by rules. */
export interface Wording extends Static<typeof wordingSchema> {
  model: string;
  /** Such as `architecture.v1`. */
  prompt: string;
}

/**
 * Writes texts for a target architecture by a model. It gets the fields of cards that may be sent, and no costs.
 * @throws EstateError `ai_not_configured`, `ai_budget_spent`, `upstream_failed`.
 */
export async function wordArchitecture(
  ctx: Ctx,
  services: ModelServices,
  settings: WorkspaceSettings,
  requirement: string | null,
  { architecture, gaps }: ArchitecturePlan,
): Promise<Wording> {
  requireAi(settings);
  const { ai } = settings.values;
  const cards = architecture.cards.slice(0, MOST_SENT);
  const sent = gaps.slice(0, MOST_SENT);
  const stored = [...cards.filter(({ change }) => change !== 'new'), ...sent.map(({ card }) => card)];
  const outgoing = new Map(
    (await readOutgoingCards(ctx, ai, [...new Set(stored.map(({ id }) => id).filter(isStored))])).map(
      (card) => [card.id, card],
    ),
  );
  const named = canSendNames(ctx, ai);
  const cardOf = ({ id, type, name }: { id: string; type: string; name: string }) => {
    if (isStored(id))
      return { id, type, ...(outgoing.get(id)?.name ? { name: outgoing.get(id)!.name } : {}) };
    return { id, type, ...(named ? { name } : {}) };
  };
  try {
    const { answer, model, prompt } = await complete(
      services,
      {
        purpose: 'architecture',
        runId: null,
        prompt: promptNamed('architecture'),
        data: {
          requirement,
          option: architecture.option,
          gaps: sent.map(({ kind, severity, card }) => ({ kind, severity, card: cardOf(card) })),
          cards: cards.map((card) => ({ ...cardOf(card), change: card.change })),
        },
        schema: wordingSchema,
      },
      requestRetryPolicy,
    );
    return { ...answer, model, prompt };
  } catch (error) {
    throw toClientError(error);
  }
}

const isStored = (id: string): boolean => /^[0-9a-f-]{36}$/.test(id);

/** Whether names of new cards, which contain names of capabilities and products, may be sent. */
function canSendNames(ctx: Ctx, ai: AiSettings): boolean {
  return [APPLICATION, CAPABILITY].every((key) => {
    const type = ctx.metamodel.cardTypes.get(key);
    return type !== undefined && isFieldAllowed(ai, type, 'name');
  });
}
