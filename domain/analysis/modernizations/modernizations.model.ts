import Type from 'typebox';
import { Internal, rowModel } from '../../kernel/resources/rows.ts';
import { arrayOf, Choice, Nullable, Timestamp, Uuid } from '../../kernel/shapes.ts';
import { levels, modernizationStatuses, modernizationTypes } from './modernizations.types.ts';

const Score = Type.Number({ minimum: 0, maximum: 100 });
const ModernizationType = Choice(modernizationTypes, 'What to do');

/** A proposal of a run to modernise a card. */
export class Modernization extends rowModel('modernizations', {
  id: Uuid,
  run_id: Internal(Uuid),
  is_current: Internal(Type.Boolean()),
  target_type: Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'The type of the cards',
    examples: ['Application'],
  }),
  card_id: Uuid,
  modernization_type: ModernizationType,
  current_tech: Type.String({ examples: ['PostgreSQL 12'] }),
  recommendation: Type.String(),
  effort: Choice(levels, 'By the number of cards that depend on it, and by its criticality'),
  score: Score,
  score_without_costs: Internal(Score),
  reasons: arrayOf(
    { factor: Type.String({ examples: ['lifecycle'] }), points: Score, reason: Type.String() },
    { description: 'The parts of the score, the largest first; the part of costs only with costs.view' },
  ),
  dependants: Type.Integer({ minimum: 0, description: 'The number of cards that depend on it' }),
  status: Choice(modernizationStatuses, 'The decision'),
  analysed_at: Timestamp,
}) {}

/** A decision about a type of modernization of a card, which applies to the proposals of all runs. */
export class ModernizationDecision extends rowModel('modernization_decisions', {
  id: Uuid,
  card_id: Uuid,
  modernization_type: ModernizationType,
  status: Choice(['accepted', 'dismissed']),
  decided_by: Nullable(Uuid),
  decided_at: Timestamp,
}) {}
