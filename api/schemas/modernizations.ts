import Type from 'typebox';
import {
  modernizationStatuses,
  modernizationTypes,
} from '../../domain/analysis/modernizations/modernizations.types.ts';
import { closed, Nullable, Timestamp, Uuid } from '../../domain/kernel/shapes.ts';
import { listQuery } from './common.ts';

const literals = (values: readonly string[], description: string) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    { description },
  );
const levels = ['low', 'medium', 'high'];
const TargetType = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'The type of the cards',
  examples: ['Application'],
});
const ModernizationType = literals(modernizationTypes, 'What to do');
const Effort = literals(levels, 'By how many cards rely on it, and how critical it is');
const Priority = literals(levels, 'High from a score of 60 on, medium from 35');
const Status = literals(modernizationStatuses, 'What was decided');
const Score = Type.Number({ minimum: 0, maximum: 100 });

export const ModernizationSchema = Type.Partial(
  Type.Object({
    id: Uuid,
    target_type: TargetType,
    cluster_id: Nullable(Uuid),
    card_id: Uuid,
    card_name: Type.String(),
    current_tech: Type.String({ examples: ['PostgreSQL 12'] }),
    modernization_type: ModernizationType,
    recommendation: Type.String(),
    effort: Effort,
    priority: Priority,
    score: Score,
    reasons: Type.Array(
      Type.Object(
        {
          factor: Type.String({ examples: ['lifecycle'] }),
          points: Score,
          reason: Type.String(),
        },
        closed,
      ),
      { description: 'What the score is made of, the most first; that of costs with costs.view alone' },
    ),
    dependants: Type.Integer({ minimum: 0, description: 'How many cards rely on it' }),
    status: Status,
    decided_by: Nullable(Uuid),
    decided_at: Nullable(Timestamp),
    analysed_at: Timestamp,
  }),
  { $id: 'Modernization', ...closed },
);

export const ModernizationsBody = Type.Object(
  {
    target_type: Type.Optional(TargetType),
    modernization_type: Type.Optional(
      literals(['general', ...modernizationTypes], '`general`: whatever fits a card; else only this'),
    ),
  },
  closed,
);

export const ModernizationStatusBody = Type.Object({ status: Status }, closed);

export const ModernizationsQuery = listQuery(['score', 'card_name', 'dependants'], 'score', {
  target_type: Type.Optional(TargetType),
  modernization_type: Type.Optional(ModernizationType),
  priority: Type.Optional(Priority),
  effort: Type.Optional(Effort),
  status: Type.Optional(Status),
  card_id: Type.Optional(Type.String({ ...Uuid, description: 'Only what is proposed for this card' })),
});
