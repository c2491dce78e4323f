import Type from 'typebox';
import type { Services } from '../../../../domain/kernel/services.ts';
import { object } from '../../../../domain/kernel/shapes.ts';
import { complete } from '../../../../integrations/analysis/models/models.complete.ts';
import type {
  Completion,
  ModelFailure,
  ModelRequest,
  ModelRetryPolicy,
} from '../../../../integrations/analysis/models/models.types.ts';

const schema = object({
  verdict: Type.Union([Type.Literal('same'), Type.Literal('different')]),
  ids: Type.Array(Type.String(), { maxItems: 3 }),
});
export const prompt = { name: 'pairs', version: 1, system: 'Say whether the cards are the same.' };
export const cards = [
  { id: 'a', name: 'Payroll' },
  { id: 'b', name: 'Pay roll' },
];
/** An answer that conforms to the schema. */
export const fits = { verdict: 'same', ids: ['a'] };
export const hasty: ModelRetryPolicy = { timeoutMs: 5_000, attempts: 2, pauseMs: 5, longestWaitMs: 1_000 };

export type PairsRequest = Partial<ModelRequest<typeof schema>>;

/** Asks whether two cards are the same. */
export const askPairs = (services: Services, more: PairsRequest = {}, retryPolicy = hasty) =>
  complete(
    services,
    { purpose: 'pairs', runId: null, prompt, data: { cards }, schema, ...more },
    retryPolicy,
  );

/** The failure of a request. */
export const failure = async (asking: Promise<Completion<unknown>>): Promise<ModelFailure> =>
  await asking.then(
    ({ answer }) => expect.unreachable(`it was answered: ${JSON.stringify(answer)}`),
    (error) => error,
  );
