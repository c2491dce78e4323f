import Type, { type Static } from 'typebox';
import { isFieldAllowed, readOutgoingCards } from '../../../domain/analysis/ai/ai.outgoing.ts';
import { requireAi } from '../../../domain/analysis/ai/ai.provider.ts';
import type { ArchitecturePlan } from '../../../domain/analysis/architect/architect.phases.ts';
import { APPLICATION, CAPABILITY } from '../../../domain/analysis/architect/architect.words.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { WorkspaceSettings } from '../../../domain/kernel/settings/settings.read.ts';
import { object } from '../../../domain/kernel/shapes.ts';
import { completeNow, toClientError } from './models.complete.ts';
import type { ModelServices } from './models.types.ts';

/** Maximum number of cards and gaps in the request. */
const MOST_SENT = 60;

const WordingMembers = object({
  title: Type.String({ minLength: 1, maxLength: 200 }),
  summary: Type.String({ minLength: 1, maxLength: 4_000 }),
  steps: Type.Array(Type.String({ minLength: 1, maxLength: 500 }), { minItems: 1, maxItems: 12 }),
});

/** A model's texts for a proposal; the proposal itself is computed by rules. */
export const WordingSchema = object(
  {
    ...WordingMembers.properties,
    model: Type.String(),
    prompt: Type.String({ description: 'Name and version of the instructions' }),
  },
  { description: 'The texts of a language model, with `wording=model`' },
);
type Wording = Static<typeof WordingSchema>;

/**
 * Writes texts for a target architecture by a model. It gets the fields of cards that may be sent, and no costs.
 * @throws EstateError `ai_not_configured`, `ai_budget_spent`, `upstream_failed`.
 */
export async function rewordArchitecture(
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
  const ids = [...new Set(stored.map(({ id }) => id).filter(isStored))];
  const outgoing = new Map((await readOutgoingCards(ctx, ai, ids)).map((card) => [card.id, card]));
  // names of new cards contain names of capabilities and products
  const named = [APPLICATION, CAPABILITY].every((key) => {
    const type = ctx.metamodel.cardTypes.get(key);
    return type !== undefined && isFieldAllowed(ai, type, 'name');
  });
  const cardOf = ({ id, type, name }: { id: string; type: string; name: string }) => {
    if (isStored(id))
      return { id, type, ...(outgoing.get(id)?.name ? { name: outgoing.get(id)!.name } : {}) };
    return { id, type, ...(named ? { name } : {}) };
  };
  try {
    const { answer, model, prompt } = await completeNow(services, 'architecture', {
      data: {
        requirement,
        option: architecture.option,
        gaps: sent.map(({ kind, severity, card }) => ({ kind, severity, card: cardOf(card) })),
        cards: cards.map((card) => ({ ...cardOf(card), change: card.change })),
      },
      schema: WordingMembers,
    });
    return { ...answer, model, prompt };
  } catch (error) {
    throw toClientError(error);
  }
}

const isStored = (id: string): boolean => /^[0-9a-f-]{36}$/.test(id);
